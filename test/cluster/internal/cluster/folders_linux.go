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

	"golang.org/x/sys/unix"

	"example.com/backupjob-operator/test/cluster/internal/filelock"
)

// sharedFolders are places that programs insist on. Each cluster mounts its own
// folder there, which nobody else sees; only the place itself is shared.
var sharedFolders = []string{"/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"}

// makeFolders makes those that are missing, and notes for whoever is the last
// to clean up which they were.
func makeFolders(l Layout) (err error) {
	note, err := os.OpenFile(l.madeFolders(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, note.Close()) }()
	for _, dir := range append(sharedFolders, namespaceFolder) {
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := note.WriteString(dir + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// removeFolders removes the places that clusters made, unless another cluster
// runs: the kernel would take its mounts away with the places.
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
	for dir := range strings.FieldsSeq(string(made)) {
		if err := removeFolder(dir); err != nil {
			return err
		}
	}
	return ignoreMissing(os.Remove(l.madeFolders()))
}

// removeFolder leaves a folder that others have put something into.
func removeFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return ignoreMissing(err)
	}
	if dir == namespaceFolder {
		// It fails where nothing is mounted, which is as good.
		_ = unix.Unmount(dir, 0)
	}
	return ignoreMissing(os.Remove(dir))
}
