// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package realparts

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// shared is the server that the tests of a package use one after the other.
var shared *MariaDB

// SharedMariaDB is a server that is as empty as a new one and outlives the
// test. Tests that kill or configure a server start one of their own, and
// tests that run in parallel must not use it.
func SharedMariaDB(t *testing.T) *MariaDB {
	t.Helper()
	if shared == nil {
		shared = launch(t, nil)
		return shared
	}
	statements := shared.SQL(t, `
		SELECT CONCAT('DROP DATABASE ', sys.quote_identifier(schema_name)) FROM information_schema.schemata
			WHERE schema_name NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema');
		SELECT CONCAT('DROP USER ', sys.quote_identifier(user), '@', sys.quote_identifier(host)) FROM mysql.global_priv
			WHERE user NOT IN ('root', 'mysql', 'mariadb.sys', 'PUBLIC') AND JSON_VALUE(priv, '$.is_role') IS NULL;
		SELECT CONCAT('DROP ROLE ', sys.quote_identifier(user)) FROM mysql.global_priv WHERE JSON_VALUE(priv, '$.is_role')`)
	if statements != "" {
		shared.SQL(t, strings.ReplaceAll(statements, "\n", ";\n"))
	}
	return shared
}

// StopShared ends the shared server, after the last test.
func StopShared() {
	if shared != nil {
		shared.remove()
	}
}

// inMemory is a folder in memory, if there is one with room for servers: they
// write a lot that is thrown away. Empty means the usual place.
func inMemory() string {
	const dir, enough = "/dev/shm", 2 << 30
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Type != unix.TMPFS_MAGIC || s.Bavail*uint64(s.Bsize) < enough {
		return ""
	}
	return dir
}
