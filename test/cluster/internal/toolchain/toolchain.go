// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package toolchain builds and installs what a cluster is made of: programs
// from pinned Go modules, and a few Debian packages. What it has built it keeps
// in a cache outside the source tree, under a digest of what went in.
package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"example.com/backupjob-operator/test/cluster/internal/filelock"
)

// Toolchain knows where programs come from and where they go.
type Toolchain struct {
	source  string
	cache   string
	out     *log.Logger
	digests map[string]string // by module
}

// New returns the toolchain whose modules are under source and which keeps its
// programs under cache. Progress goes to out.
func New(source, cache string, out *log.Logger) (*Toolchain, error) {
	t := &Toolchain{source: source, cache: cache, out: out, digests: map[string]string{}}
	for _, m := range modules {
		d, err := m.digest(source)
		if err != nil {
			return nil, err
		}
		t.digests[m.name] = d
	}
	return t, nil
}

// DefaultSource is the folder of the module that this command was built from.
func DefaultSource() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	source := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if _, err := os.Stat(filepath.Join(source, modules[0].dir, "go.mod")); err != nil {
		return "", fmt.Errorf("find the modules to build: %w; build this command from its checkout and without -trimpath", err)
	}
	return source, nil
}

// DefaultCache is the folder in the user's cache that belongs to this project.
func DefaultCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(dir, "backupjob-operator"), nil
}

// Programs names all that a cluster with a node needs.
func Programs() []string {
	var names []string
	for _, m := range modules {
		for _, p := range m.programs {
			names = append(names, p.name)
		}
	}
	return names
}

// ControlPlanePrograms names what a cluster without a node needs.
func ControlPlanePrograms() []string {
	return slices.Concat(AssetPrograms, controlPlanePrograms)
}

// Path is where a program is, or will be once it is built.
func (t *Toolchain) Path(name string) string {
	for _, m := range modules {
		if slices.ContainsFunc(m.programs, func(p program) bool { return p.name == name }) {
			return filepath.Join(t.dir(m), name)
		}
	}
	return ""
}

// Paths maps each of the named programs to its place.
func (t *Toolchain) Paths(names []string) map[string]string {
	paths := make(map[string]string, len(names))
	for _, name := range names {
		paths[name] = t.Path(name)
	}
	return paths
}

// Folders are the folders of all programs, for a PATH.
func (t *Toolchain) Folders() []string {
	var dirs []string
	for _, m := range modules {
		dirs = append(dirs, t.dir(m))
	}
	return dirs
}

// CRDs is the folder with cert-manager's CustomResourceDefinitions.
func (t *Toolchain) CRDs() string {
	return filepath.Join(filepath.Dir(t.Path("cert-manager")), "crds")
}

// Digest tells apart the builds of one program.
func (t *Toolchain) Digest(name string) string {
	return filepath.Base(filepath.Dir(t.Path(name)))
}

func (t *Toolchain) dir(m module) string {
	return filepath.Join(t.cache, "bin", m.name+"-"+t.digests[m.name])
}

// Build builds those of the named programs that are not there yet. Two calls,
// also of two processes, never build at the same time.
func (t *Toolchain) Build(ctx context.Context, names []string) error {
	if missing, err := t.missing(names); err != nil || len(missing) == 0 {
		return err
	}
	lock, err := filelock.Acquire(ctx, filepath.Join(t.cache, "bin", ".lock"), func(pid int) {
		t.out.Printf("Waiting for another build to end (process %d).", pid)
	})
	if err != nil {
		return err
	}
	// Whoever held the lock may have built them meanwhile.
	missing, err := t.missing(names)
	if err == nil {
		err = t.buildAll(ctx, missing)
	}
	return errors.Join(err, lock.Release())
}

func (t *Toolchain) missing(names []string) ([]job, error) {
	var jobs []job
	for _, m := range modules {
		for _, p := range m.programs {
			if !slices.Contains(names, p.name) {
				continue
			}
			_, err := os.Stat(filepath.Join(t.dir(m), p.name))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				jobs = append(jobs, job{module: m, program: p})
			case err != nil:
				return nil, err
			}
		}
	}
	return jobs, nil
}
