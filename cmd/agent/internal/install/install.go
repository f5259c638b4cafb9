// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package install copies the running binary to where another container finds
// it.
package install

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// mode lets every user run the copy and nobody change it.
const mode = 0o555

// Copy copies the running binary to path. The path never names half a
// binary: it is renamed to when the copy is whole.
func Copy(path string) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running binary: %w", err)
	}
	in, err := os.Open(self)
	if err != nil {
		return fmt.Errorf("open the running binary: %w", err)
	}
	defer func() { _ = in.Close() }()
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder to install into: %w", err)
	}
	out, err := os.CreateTemp(dir, ".agent-*")
	if err != nil {
		return fmt.Errorf("install into %s: %w", dir, err)
	}
	defer func() {
		if err != nil {
			_ = out.Close()
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy the binary to %s: %w", path, err)
	}
	if err := out.Chmod(mode); err != nil {
		return fmt.Errorf("make %s a program: %w", path, err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("copy the binary to %s: %w", path, err)
	}
	if err := os.Rename(out.Name(), path); err != nil {
		return fmt.Errorf("install %s: %w", path, err)
	}
	return nil
}
