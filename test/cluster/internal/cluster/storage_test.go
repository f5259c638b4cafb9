// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEmptyGivesAVolumeItsFirstStateBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "volume")
	if err := makeVolume(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, ".hidden", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "dump.sql"), []byte("x"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o750|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	if err := empty(path); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) != 0 {
		t.Errorf("left: %v (%v)", entries, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode() &^ os.ModeDir; got != volumeMode {
		t.Errorf("mode %v, want %v", got, volumeMode)
	}
}
