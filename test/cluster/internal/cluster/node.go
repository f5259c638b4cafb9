// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"strings"
	"time"
)

const (
	kubeletHealthPort   = 10248
	kubeProxyHealthPort = 10256
	kubeRouterPort      = 20244
)

func containerd(l Layout, c Config) component {
	path := strings.Join(append(c.Folders, os.Getenv("PATH")), string(os.PathListSeparator))
	return component{
		name:  "containerd",
		args:  []string{c.Programs["containerd"], "--config=" + l.etc("containerd.toml")},
		env:   []string{"PATH=" + path},
		probe: probe{socket: l.containerdSocket()},
		grace: 5 * time.Second,
	}
}

func kubelet(l Layout, c Config) component {
	return component{
		name: "kubelet",
		args: []string{
			c.Programs["kubelet"],
			"--config=" + l.etc("kubelet.yaml"),
			"--kubeconfig=" + l.kubeconfigOf("kubelet"),
			"--hostname-override=" + nodeName,
			"--node-ip=" + nodeIP,
			"--root-dir=" + l.data("kubelet"),
			"--cert-dir=" + l.data("kubelet-pki"),
		},
		after: []string{"kube-apiserver", "containerd"},
		probe: probe{url: "http://" + hostPort(loopback, kubeletHealthPort) + "/healthz"},
		grace: 5 * time.Second,
	}
}

func kubeProxy(l Layout, c Config) component {
	return component{
		name: "kube-proxy",
		args: []string{c.Programs["kube-proxy"], "--config=" + l.etc("kube-proxy.yaml")},
		// It gives up if its node is unknown when it starts.
		after: []string{"kubelet"},
		probe: probe{url: "http://" + hostPort(loopback, kubeProxyHealthPort) + "/healthz"},
		grace: 5 * time.Second,
	}
}

// kubeRouter enforces NetworkPolicies.
func kubeRouter(l Layout, c Config) component {
	health := hostPort(loopback, kubeRouterPort)
	return component{
		name: "kube-router",
		args: []string{
			c.Programs["kube-router"],
			"--kubeconfig=" + l.kubeconfigOf("kube-router"),
			"--node=" + nodeName,
			"--service-range=" + serviceRange,
			"--health-address=" + health,
		},
		after: []string{"kubelet"},
		probe: probe{url: "http://" + health + "/readyz"},
		grace: 5 * time.Second,
	}
}
