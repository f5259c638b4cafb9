// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"archive/zip"
	"io"
	"log"
	"os"
	"path/filepath"
	"testing"
)

// TestFilesAreCopiedFromAModuleThatWasNeverFetched is the first build on a fresh machine.
func TestFilesAreCopiedFromAModuleThatWasNeverFetched(t *testing.T) {
	const shipped = "example.com/shipped"
	t.Setenv("GOPROXY", "file://"+proxyOf(t, shipped, map[string]string{"deploy/a.yaml": "a: 1\n"}))
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw -mod=mod")
	t.Setenv("GONOSUMDB", "*")
	source, to := t.TempDir(), t.TempDir()
	m := module{name: "m", dir: "build/m"}
	write(t, filepath.Join(source, m.dir), "go.mod", "module m\n\ngo 1.26\n\nrequire "+shipped+" v1.0.0\n")

	toolchain := &Toolchain{source: source, out: log.New(io.Discard, "", 0)}
	copied := copies{module: shipped, from: "deploy", to: "crds", files: []string{"a.yaml"}}
	if err := toolchain.copyFiles(t.Context(), m, copied, to); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(to, "crds", "a.yaml"))
	if err != nil || string(content) != "a: 1\n" {
		t.Errorf("copied %q, %v", content, err)
	}
}

// proxyOf makes a module proxy that knows one module in version v1.0.0.
func proxyOf(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	proxy := t.TempDir()
	versions := filepath.Join(proxy, name, "@v")
	write(t, versions, "list", "v1.0.0\n")
	write(t, versions, "v1.0.0.info", `{"Version":"v1.0.0"}`)
	write(t, versions, "v1.0.0.mod", "module "+name+"\n")
	archive, err := os.Create(filepath.Join(versions, "v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close() //nolint:errcheck // closing the writer below has written all of it
	w := zip.NewWriter(archive)
	files["go.mod"] = "module " + name + "\n"
	for path, content := range files {
		entry, err := w.Create(name + "@v1.0.0/" + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return proxy
}
