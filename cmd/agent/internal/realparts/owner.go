// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package realparts

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// Credential are the ids of a user of this machine.
func Credential(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		missing(t, "there is no user "+name)
	}
	uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
	if errUID != nil || errGID != nil {
		t.Fatal(errUID, errGID)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// own gives a folder to a user.
func own(t *testing.T, dir, name string) {
	t.Helper()
	c := Credential(t, name)
	if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
		t.Fatal(err)
	}
}
