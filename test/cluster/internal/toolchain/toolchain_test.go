// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"io"
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
		change  func(t *testing.T, dir string, m *module)
		differs bool
	}{
		"nothing changes":         {func(*testing.T, string, *module) {}, false},
		"a dependency's version":  {func(t *testing.T, dir string, _ *module) { write(t, dir, "go.mod", "module m // v2") }, true},
		"a dependency's checksum": {func(t *testing.T, dir string, _ *module) { write(t, dir, "go.sum", "h1:other") }, true},
		"a source file":           {func(t *testing.T, dir string, _ *module) { write(t, dir, "main.go", "package main // new") }, true},
		"a new source file":       {func(t *testing.T, dir string, _ *module) { write(t, dir, "sub/b.go", "package sub") }, true},
		"a test":                  {func(t *testing.T, dir string, _ *module) { write(t, dir, "main_test.go", "package main") }, false},
		"a text":                  {func(t *testing.T, dir string, _ *module) { write(t, dir, "README.md", "words") }, false},
		"the flags of the build":  {func(_ *testing.T, _ string, m *module) { m.flags = []string{"-tags=x"} }, true},
		"the use of C":            {func(_ *testing.T, _ string, m *module) { m.cgo = true }, true},
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
			tc.change(t, dir, &changed)
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
	tools, err := New(source, "/cache", io.Discard)
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
	tools, err := New(source, t.TempDir(), io.Discard)
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
	if diff := cmp.Diff([]string{"kube-apiserver", "kubectl"}, names); diff != "" {
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
