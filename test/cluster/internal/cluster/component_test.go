// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"
	"testing"
)

func TestCommandLinesFollowTheConfiguration(t *testing.T) {
	l, full := testLayout(t), testConfig(t)
	alone := full
	alone.Node, alone.Host = false, loopback
	alone.Ports = Ports{API: 1, Etcd: 2, EtcdPeer: 3, ControllerManager: 4, Scheduler: 5, CertManager: 6}
	cases := map[string]struct {
		component component
		has       []string
		hasNot    []string
	}{
		"API server with a node": {
			component: apiServer(l, full),
			has: []string{
				"--bind-address=10.88.0.1", "--advertise-address=10.88.0.1", "--secure-port=6443",
				"--kubelet-preferred-address-types=InternalIP", "--audit-log-path=" + l.log("audit"),
				"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
			},
			hasNot: []string{"--endpoint-reconciler-type=none"},
		},
		"API server alone": {
			component: apiServer(l, alone),
			has:       []string{"--bind-address=127.0.0.1", "--secure-port=1", "--etcd-servers=http://127.0.0.1:2", "--endpoint-reconciler-type=none"},
			hasNot:    []string{"--advertise-address=127.0.0.1", "--kubelet-preferred-address-types=InternalIP"},
		},
		"etcd alone": {
			component: etcd(l, alone),
			has:       []string{"--listen-client-urls=http://127.0.0.1:2", "--listen-peer-urls=http://127.0.0.1:3", "--data-dir=" + l.data("etcd")},
		},
		"controller-manager alone": {
			component: controllerManager(l, alone),
			has:       []string{"--secure-port=4", "--leader-elect=false", "--use-service-account-credentials=true"},
		},
		"cert-manager alone": {
			component: certManager(l, alone),
			has:       []string{"--health-address=127.0.0.1:6", "--cluster-kubeconfig=" + l.kubeconfigOf("cert-manager")},
		},
		"kubelet": {
			component: kubelet(l, full),
			has:       []string{"--hostname-override=n1", "--node-ip=10.88.0.1", "--root-dir=" + l.data("kubelet")},
		},
		"kube-router": {
			component: kubeRouter(l, full),
			has:       []string{"--node=n1", "--service-range=10.96.0.0/16", "--kubeconfig=" + l.kubeconfigOf("kube-router")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, arg := range tc.has {
				if !slices.Contains(tc.component.args, arg) {
					t.Errorf("no %s in %q", arg, tc.component.args)
				}
			}
			for _, arg := range tc.hasNot {
				if slices.Contains(tc.component.args, arg) {
					t.Errorf("%s in %q", arg, tc.component.args)
				}
			}
		})
	}
}

func TestContainerdFindsRuncAndItsShim(t *testing.T) {
	env := containerd(testLayout(t), testConfig(t)).env
	if len(env) != 1 || !strings.HasPrefix(env[0], "PATH=/bin/a:/bin/b:") {
		t.Errorf("environment %q", env)
	}
}

func TestEveryComponentIsStartedAndStopped(t *testing.T) {
	l, c := testLayout(t), testConfig(t)
	known := []string{imagesImported, manifestsApplied, nodeReady}
	for _, p := range components(l, c) {
		known = append(known, p.name)
	}
	for _, p := range components(l, c) {
		if !slices.ContainsFunc(stopOrder, func(group []string) bool { return slices.Contains(group, p.name) }) {
			t.Errorf("nobody stops %s", p.name)
		}
		if p.args[0] == "" || p.grace == 0 || p.probe == (probe{}) {
			t.Errorf("%s is not complete: %+v", p.name, p)
		}
		for _, other := range p.after {
			if !slices.Contains(known, other) {
				t.Errorf("%s waits for %s, which nobody reaches", p.name, other)
			}
		}
	}
}
