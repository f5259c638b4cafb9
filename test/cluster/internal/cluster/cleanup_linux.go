// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const cgroupRoot = "/sys/fs/cgroup"

// cleanUp removes what a cluster leaves outside of its folder. It may be called
// for a cluster that was killed, and more than once.
func cleanUp(ctx context.Context, l Layout, c Config) error {
	if !c.Node {
		return errors.Join(killStrays(ctx, l, c), os.RemoveAll(l.Run))
	}
	return errors.Join(
		removeNamespace(ctx, l),
		eventually(ctx, func() error { return removeCgroups(l.cgroup()) }),
		removeFolders(ctx, l),
		os.RemoveAll(l.Run),
	)
}

// removeCgroups finds the group in the one tree of version 2, or in each of
// the trees of version 1.
func removeCgroups(name string) error {
	roots, err := filepath.Glob(filepath.Join(cgroupRoot, "*", name))
	if err != nil {
		return err
	}
	for _, root := range append(roots, filepath.Join(cgroupRoot, name)) {
		if err := removeTree(root); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes folders only: the files of a control group go with it.
func removeTree(root string) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
