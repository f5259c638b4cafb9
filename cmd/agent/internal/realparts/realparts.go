// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package realparts starts the real programs that the agent's tests run
// against. Only tests import it.
package realparts

import (
	"os"
	"os/exec"
	"testing"
)

// Tool demands a program. Without it the test is skipped on a developer's
// machine and fails in CI, where nothing may be skipped.
func Tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is not installed (Debian: mariadb-server, mariadb-client, zstd)")
	}
	return path
}

// Root demands the rights of root, for tests that mount file systems or
// change users.
func Root(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		missing(t, "this test needs root")
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("MISSING: " + what)
	}
	t.Skip("SKIPPED: " + what)
}
