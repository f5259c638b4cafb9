// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDigestChangesWithWhatIsBuilt(t *testing.T) {
	m := module{name: "m", dir: "build/m", programs: []program{{"p", "."}}}
	cases := map[string]struct {
		file, content string
		change        func(*module)
		differs       bool
	}{
		"nothing changes":         {},
		"a dependency's version":  {file: "go.mod", content: "module m // v2", differs: true},
		"a dependency's checksum": {file: "go.sum", content: "h1:other", differs: true},
		"a source file":           {file: "main.go", content: "package main // new", differs: true},
		"a new source file":       {file: "sub/b.go", content: "package sub", differs: true},
		"a test":                  {file: "main_test.go", content: "package main"},
		"a text":                  {file: "README.md", content: "words"},
		"the flags of the build":  {change: func(m *module) { m.flags = []string{"-tags=x"} }, differs: true},
		"the use of C":            {change: func(m *module) { m.cgo = true }, differs: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			source := t.TempDir()
			dir := filepath.Join(source, m.dir)
			write(t, dir, "go.mod", "module m")
			write(t, dir, "go.sum", "h1:first")
			write(t, dir, "main.go", "package main")
			changed := m
			before := digestOf(t, changed, source)
			if tc.file != "" {
				write(t, dir, tc.file, tc.content)
			}
			if tc.change != nil {
				tc.change(&changed)
			}
			if after := digestOf(t, changed, source); (before != after) != tc.differs {
				t.Errorf("digests %s and %s; want them to differ: %t", before, after, tc.differs)
			}
		})
	}
}

func digestOf(t *testing.T, m module, source string) string {
	t.Helper()
	d, err := m.digest(source)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryProgramHasAPlaceOfItsOwn(t *testing.T) {
	source, err := DefaultSource()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := New(source, "/cache", quiet())
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for _, name := range Programs() {
		path := tools.Path(name)
		if filepath.Base(path) != name || paths[path] != "" {
			t.Errorf("%s is at %q, where %q is", name, path, paths[path])
		}
		paths[path] = name
	}
	for _, name := range ControlPlanePrograms() {
		if !slices.Contains(Programs(), name) {
			t.Errorf("the control plane needs %s, which nobody builds", name)
		}
	}
	assets := filepath.Dir(tools.Path("etcd"))
	for _, name := range AssetPrograms {
		if dir := filepath.Dir(tools.Path(name)); dir != assets {
			t.Errorf("%s is in %s, want it beside etcd in %s", name, dir, assets)
		}
	}
}

func TestMissingProgramsAreTheOnlyOnesBuilt(t *testing.T) {
	source, err := DefaultSource()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := New(source, t.TempDir(), quiet())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(tools.Path("etcd")), "etcd", "")
	jobs, err := tools.missing(AssetPrograms)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, j := range jobs {
		names = append(names, j.program.name)
	}
	if diff := cmp.Diff([]string{"kube-apiserver", "kubectl", "kube-controller-manager"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestPackagesThatAreNotInstalledAreMissing(t *testing.T) {
	listing := "gcc installed\nmariadb-server config-files\nnftables not-installed\n"
	got := without([]string{"gcc", "mariadb-server", "nftables", "unknown"}, listing)
	if diff := cmp.Diff([]string{"mariadb-server", "nftables", "unknown"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	lines := strings.Split(tail(strings.Repeat("line\n", 3*tailLines)+"the cause\n"), "\n")
	if len(lines) != tailLines || lines[tailLines-1] != "the cause" {
		t.Errorf("tail has %d lines and ends with %q", len(lines), lines[len(lines)-1])
	}
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
