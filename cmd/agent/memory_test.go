// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"syscall"
	"testing"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

// maxMemory is the most that the agent and its client may take, in KiB,
// however large the database is. The race detector takes several times more.
const maxMemory = 96 << 10

func TestMemoryDoesNotGrowWithTheDatabase(t *testing.T) {
	if raceDetector {
		t.Log("the race detector's own memory is not counted against the limit")
	}
	m := realparts.SharedMariaDB(t)
	m.SQL(t, "CREATE DATABASE large; USE large; CREATE TABLE t (id INT PRIMARY KEY, b BLOB); "+
		"INSERT INTO t SELECT seq, REPEAT(UNHEX(SHA2(seq, 512)), 900) FROM seq_1_to_3000")
	backupUser(t, m)
	s := newStand(t, m)
	for _, kind := range []string{agent.CompressionZstd, agent.CompressionGzip} {
		t.Run(kind, func(t *testing.T) {
			memory(t, s, s.backupArgs("--compression="+kind, "--name="+"m"+kind)...)
			verify := slices.Concat([]string{agent.CommandVerify}, s.place(), []string{"--name=m" + kind, "--latest"})
			memory(t, s, verify...)
		})
	}
}

// memory runs the agent and looks at the most that it ever took.
func memory(t *testing.T, s *stand, args ...string) {
	t.Helper()
	r := s.begin(args...)
	if o := s.finish(r); o.code != 0 {
		t.Fatal(o.stderr)
	}
	usage, ok := r.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("this system does not tell the memory")
	}
	t.Logf("%s took %d MiB at most", args[0], usage.Maxrss>>10)
	if !raceDetector && usage.Maxrss > maxMemory {
		t.Errorf("%s took %d KiB, want at most %d", args[0], usage.Maxrss, maxMemory)
	}
}
