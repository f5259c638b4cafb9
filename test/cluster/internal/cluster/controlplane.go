// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"time"
)

func etcd(l Layout, c Config) component {
	client := "http://" + hostPort(loopback, c.Ports.Etcd)
	peer := "http://" + hostPort(loopback, c.Ports.EtcdPeer)
	return component{
		name: "etcd",
		args: []string{
			c.Programs["etcd"],
			"--name=" + l.Name,
			"--data-dir=" + l.data("etcd"),
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=" + l.Name + "=" + peer,
			// Nothing here outlives the machine, so no write waits for the disk.
			"--unsafe-no-fsync",
			"--quota-backend-bytes=4294967296",
		},
		probe: probe{url: client + "/health"},
		grace: 5 * time.Second,
	}
}

func apiServer(l Layout, c Config) component {
	args := []string{
		c.Programs["kube-apiserver"],
		"--etcd-servers=http://" + hostPort(loopback, c.Ports.Etcd),
		"--bind-address=" + c.Host,
		fmt.Sprintf("--secure-port=%d", c.Ports.API),
		"--service-cluster-ip-range=" + serviceRange,
		"--tls-cert-file=" + l.pki("apiserver.crt"),
		"--tls-private-key-file=" + l.pki("apiserver.key"),
		"--client-ca-file=" + l.pki("ca.crt"),
		"--requestheader-client-ca-file=" + l.pki("ca.crt"),
		"--requestheader-allowed-names=" + frontProxy,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + l.pki(frontProxy+".crt"),
		"--proxy-client-key-file=" + l.pki(frontProxy+".key"),
		"--service-account-key-file=" + l.pki("sa.pub"),
		"--service-account-signing-key-file=" + l.pki("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
		"--allow-privileged=true",
		// Without it a watch of any Pod holds up the stop for a minute.
		"--shutdown-watch-termination-grace-period=1s",
		"--audit-policy-file=" + l.etc("audit.yaml"),
		"--audit-log-path=" + l.log("audit"),
	}
	if c.Node {
		args = append(args,
			"--advertise-address="+c.Host,
			"--kubelet-client-certificate="+l.pki("kubelet-client.crt"),
			"--kubelet-client-key="+l.pki("kubelet-client.key"),
			"--kubelet-certificate-authority="+l.pki("ca.crt"),
			// The node's name resolves nowhere.
			"--kubelet-preferred-address-types=InternalIP",
		)
	} else {
		// A loopback address may not be an endpoint of the Service "kubernetes".
		args = append(args, "--endpoint-reconciler-type=none")
	}
	return component{
		name:  "kube-apiserver",
		args:  args,
		after: []string{"etcd"},
		probe: probe{url: "https://" + hostPort(c.Host, c.Ports.API) + "/readyz"},
		grace: 10 * time.Second,
	}
}

func controllerManager(l Layout, c Config) component {
	return component{
		name: "kube-controller-manager",
		args: []string{
			c.Programs["kube-controller-manager"],
			"--kubeconfig=" + l.kubeconfigOf("kube-controller-manager"),
			"--authentication-kubeconfig=" + l.kubeconfigOf("kube-controller-manager"),
			"--authorization-kubeconfig=" + l.kubeconfigOf("kube-controller-manager"),
			"--bind-address=" + loopback,
			fmt.Sprintf("--secure-port=%d", c.Ports.ControllerManager),
			"--tls-cert-file=" + l.pki("loopback.crt"),
			"--tls-private-key-file=" + l.pki("loopback.key"),
			"--service-account-private-key-file=" + l.pki("sa.key"),
			"--root-ca-file=" + l.pki("ca.crt"),
			"--cluster-signing-cert-file=" + l.pki("ca.crt"),
			"--cluster-signing-key-file=" + l.pki("ca.key"),
			"--use-service-account-credentials=true",
			// It would make its own folder, outside of ours.
			"--flex-volume-plugin-dir=" + l.data("volume-plugins"),
			"--leader-elect=false",
			// With its default of 20 requests per second it takes seconds to start.
			"--kube-api-qps=100",
			"--kube-api-burst=200",
			// A new node waits for one such look before it gets Pods.
			"--node-monitor-period=1s",
		},
		after: []string{"kube-apiserver"},
		probe: probe{url: "https://" + hostPort(loopback, c.Ports.ControllerManager) + "/healthz"},
		grace: 5 * time.Second,
	}
}

func scheduler(l Layout, c Config) component {
	return component{
		name: "kube-scheduler",
		args: []string{
			c.Programs["kube-scheduler"],
			"--kubeconfig=" + l.kubeconfigOf("kube-scheduler"),
			"--authentication-kubeconfig=" + l.kubeconfigOf("kube-scheduler"),
			"--authorization-kubeconfig=" + l.kubeconfigOf("kube-scheduler"),
			"--bind-address=" + loopback,
			fmt.Sprintf("--secure-port=%d", c.Ports.Scheduler),
			"--tls-cert-file=" + l.pki("loopback.crt"),
			"--tls-private-key-file=" + l.pki("loopback.key"),
			"--leader-elect=false",
		},
		after: []string{"kube-apiserver"},
		probe: probe{url: "https://" + hostPort(loopback, c.Ports.Scheduler) + "/healthz"},
		grace: 5 * time.Second,
	}
}

// certManager is cert-manager's controllers and its cainjector in one process.
func certManager(l Layout, c Config) component {
	health := hostPort(loopback, c.Ports.CertManager)
	return component{
		name: "cert-manager",
		args: []string{
			c.Programs["cert-manager"],
			"--cluster-kubeconfig=" + l.kubeconfigOf("cert-manager"),
			"--health-address=" + health,
		},
		after: []string{manifestsApplied},
		probe: probe{url: "http://" + health + "/readyz"},
		grace: 5 * time.Second,
	}
}
