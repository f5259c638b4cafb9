// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

func TestFilesAreCompleteAndParse(t *testing.T) {
	l, c := testLayout(t), testConfig(t)
	if err := writePKI(l, c, at); err != nil {
		t.Fatal(err)
	}
	if err := writeFiles(l, c); err != nil {
		t.Fatal(err)
	}
	checkYAML(t, l.etc("*.yaml"))
	checkYAML(t, filepath.Join(l.manifests(), "*.yaml"))
	if !json.Valid([]byte(read(t, l.etc("cni/pods.conflist")))) {
		t.Error("the network configuration is no JSON")
	}
	if got := strings.Count(read(t, filepath.Join(l.manifests(), "storage.yaml")), "kind: PersistentVolume\n"); got != volumeCount {
		t.Errorf("%d volumes, want %d", got, volumeCount)
	}
}

func checkYAML(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, file := range files {
		for document := range strings.SplitSeq(read(t, file), "\n---\n") {
			var object map[string]any
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil || object["kind"] == nil {
				t.Errorf("%s: %v\n%s", file, err, document)
			}
		}
	}
}

func TestControlPlaneAloneHasNoPods(t *testing.T) {
	l, c := testLayout(t), testConfig(t)
	c.Node = false
	if err := writePKI(l, c, at); err != nil {
		t.Fatal(err)
	}
	if err := writeFiles(l, c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dns.yaml", "storage.yaml"} {
		if _, err := os.Stat(filepath.Join(l.manifests(), name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

func TestKubeconfigIsUsableAndPrivate(t *testing.T) {
	l, c := testLayout(t), testConfig(t)
	if err := writePKI(l, c, at); err != nil {
		t.Fatal(err)
	}
	if err := writeFiles(l, c); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://10.88.0.1:6443" || len(config.CAData) == 0 || len(config.KeyData) == 0 {
		t.Errorf("client configuration %s", config)
	}
	info, err := os.Stat(l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestConfigurationSurvivesTheFile(t *testing.T) {
	l, want := testLayout(t), testConfig(t)
	if err := want.write(l); err != nil {
		t.Fatal(err)
	}
	got, err := readConfig(l)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFreePortsDiffer(t *testing.T) {
	p, err := freePorts()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{0: true}
	for _, port := range []int{p.API, p.Etcd, p.EtcdPeer, p.ControllerManager, p.Scheduler, p.CertManager} {
		if seen[port] {
			t.Errorf("port %d is there twice, or missing: %+v", port, p)
		}
		seen[port] = true
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
