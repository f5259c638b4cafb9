// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// at is when certificates of these tests are made.
var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// testLayout is that of a cluster called "unit" in a temporary folder.
func testLayout(t *testing.T) Layout {
	t.Helper()
	l, err := NewLayout(t.TempDir(), "unit")
	if err != nil {
		t.Fatal(err)
	}
	l.Run = filepath.Join(l.Dir, "run")
	for _, dir := range []string{l.pki(""), l.Logs(), l.Run, l.etc("")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// testConfig is that of a cluster with a node.
func testConfig(t *testing.T) Config {
	t.Helper()
	crds := t.TempDir()
	if err := os.WriteFile(filepath.Join(crds, "crd.yaml"), []byte("kind: CustomResourceDefinition\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := Config{Node: true, Host: nodeIP, Ports: nodePorts, CRDs: crds, Folders: []string{"/bin/a", "/bin/b"}, Snapshotter: "overlayfs"}
	c.Programs = map[string]string{}
	for _, name := range []string{
		"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
		"kubelet", "kube-proxy", "kube-router", "containerd", "cert-manager", "kubectl", "ctr",
	} {
		c.Programs[name] = "/bin/" + name
	}
	return c
}
