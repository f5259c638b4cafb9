// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatusOfAProcessNamesItsNamespaces(t *testing.T) {
	cases := map[string]struct {
		content            string
		pid, parent, inner int
	}{
		"outside":     {"Name:\tx\nPid:\t7\nPPid:\t3\nNSpid:\t7\n", 7, 3, 0},
		"inside":      {"Name:\tx\nPid:\t70\nPPid:\t7\nNSpid:\t70\t1\n", 70, 7, 1},
		"a container": {"Name:\tx\nPid:\t700\nPPid:\t70\nNSpid:\t700\t12\t1\n", 700, 70, 12},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if pid, parent, inner := parseStatus(tc.content); pid != tc.pid || parent != tc.parent || inner != tc.inner {
				t.Errorf("pid %d, parent %d, inner %d", pid, parent, inner)
			}
		})
	}
}

func TestDescendantsAreFoundAtAnyDepth(t *testing.T) {
	parents := map[int]int{2: 1, 3: 2, 4: 3, 9: 1}
	for pid, want := range map[int]bool{3: true, 4: true, 2: false, 9: false, 77: false} {
		if got := descends(parents, pid, 2); got != want {
			t.Errorf("%d descends from 2: %t, want %t", pid, got, want)
		}
	}
}

func TestBothVersionsOfControlGroupsAreFound(t *testing.T) {
	cases := map[string]struct {
		mounts string
		want   []string
	}{
		"version 1 with an empty version 2": {
			"tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
			[]string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"},
		},
		"version 2": {"proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", []string{"/sys/fs/cgroup"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, parseCgroupRoots(tc.mounts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRemoveTreeRemovesFoldersOnly(t *testing.T) {
	root := filepath.Join(t.TempDir(), "group")
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := removeTree(root); err != nil {
		t.Fatal(err)
	}
	if err := removeTree(root); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := removeTree(root); err == nil {
		t.Error("a file is gone")
	}
}
