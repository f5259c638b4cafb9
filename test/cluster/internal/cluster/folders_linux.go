// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/backupjob-operator/test/cluster/internal/filelock"
)

// sharedFolders are places that programs insist on. Each cluster mounts its own
// folder there, which nobody else sees; only the place itself is shared.
var sharedFolders = []string{"/run/containerd", "/var/lib/cni", "/var/log/containers"}

// makeFolders makes those that are missing and notes which they were.
func makeFolders(l Layout) error {
	var made []string
	for _, dir := range sharedFolders {
		err := os.Mkdir(dir, 0o755)
		switch {
		case err == nil:
			made = append(made, dir)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return os.WriteFile(l.madeFolders(), []byte(strings.Join(made, "\n")), 0o644)
}

// removeFolders removes the places that this cluster made, unless another
// cluster runs: the kernel would take its mounts away with the places.
func removeFolders(ctx context.Context, l Layout) (err error) {
	machine, err := filelock.Acquire(ctx, l.machineLock(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Release()) }()
	others, err := filepath.Glob(filepath.Join(filepath.Dir(l.Dir), "*.keeper"))
	if err != nil {
		return err
	}
	for _, lock := range others {
		// To look at its own lock would mean to lose it.
		if lock != l.keeperLock() && filelock.Holder(lock) != 0 {
			return nil
		}
	}
	made, err := os.ReadFile(l.madeFolders())
	if err != nil {
		return ignoreMissing(err)
	}
	for dir := range strings.Lines(string(made)) {
		// Whatever was put there by others keeps it.
		if err := os.Remove(strings.TrimSpace(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) && !notEmpty(dir) {
			return err
		}
	}
	return ignoreMissing(os.Remove(l.madeFolders()))
}

func notEmpty(dir string) bool {
	entries, err := os.ReadDir(strings.TrimSpace(dir))
	return err == nil && len(entries) > 0
}
