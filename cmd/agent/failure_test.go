// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

// stallData makes a database in which a dump has written a good deal when it
// comes to its last table, and stops there while somebody holds that table.
func stallData(t *testing.T, m *realparts.MariaDB) {
	t.Helper()
	m.SQL(t, "CREATE DATABASE stall; USE stall; CREATE TABLE a (id INT PRIMARY KEY, b BLOB); "+
		"INSERT INTO a SELECT seq, REPEAT(UNHEX(SHA2(seq, 512)), 64) FROM seq_1_to_4000; "+
		"CREATE TABLE z (id INT PRIMARY KEY); CREATE DATABASE quick; CREATE TABLE quick.t (id INT PRIMARY KEY)")
}

// hold takes the table at which a dump then stops.
func hold(t *testing.T, m *realparts.MariaDB) *realparts.Session {
	t.Helper()
	holder := m.Session(t)
	if err := holder.Do("LOCK TABLES stall.z WRITE"); err != nil {
		t.Fatal(err)
	}
	return holder
}

// stalled waits until the dump stands at the held table, and returns the
// name of its temporary file.
func (s *stand) stalled() string {
	s.t.Helper()
	deadline := time.NewTimer(2 * time.Minute)
	defer deadline.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		waiting := s.server.SQL(s.t, "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'")
		for _, name := range s.files() {
			info, err := os.Stat(filepath.Join(s.folder(), name))
			if waiting != "0" && strings.HasPrefix(name, ".tmp-") && err == nil && info.Size() > 0 {
				return name
			}
		}
		select {
		case <-deadline.C:
			s.t.Fatalf("no dump came to the held table: %v", s.files())
		case <-ticker.C:
		}
	}
}

func TestAFailedBackupSaysWhyAndLeavesNothing(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	stallData(t, m)
	backupUser(t, m)
	m.SQL(t, "CREATE USER weak@'%' IDENTIFIED BY 'weak-password'; GRANT SELECT ON stall.* TO weak@'%'; "+
		"CREATE USER blind@'%' IDENTIFIED BY 'blind-password'")
	cases := map[string]struct {
		prepare func(s *stand)
		flags   []string
		says    string
	}{
		"a wrong password": {
			func(s *stand) { s.login("backup", "wrong"+testPassword) }, nil,
			"Access denied for user 'backup'",
		},
		"a wrong password, and what to do": {
			func(s *stand) { s.login("backup", "wrong") }, nil, "spec.source.credentialsSecretRef",
		},
		"an unknown host": {
			nil, []string{"--host=no-such-host.invalid"}, "Unknown server host 'no-such-host.invalid'",
		},
		"nobody at the port": {
			nil, []string{"--port=1"}, "check spec.source.host and port",
		},
		"a database that is not there": {
			nil, []string{"--database=stall", "--database=nowhere"}, "the server has no database 'nowhere'",
		},
		"a database name that is an option": {
			nil, []string{"--database=--result-file=/tmp/x"}, "must not begin with '-'",
		},
		"a table to ignore without its database": {
			nil, []string{"--ignore-table=t"}, "must be written as database.table",
		},
		"no grants but SELECT": {
			func(s *stand) { s.login("weak", "weak-password") }, []string{"--database=stall"},
			"GRANT SHOW VIEW, TRIGGER, EVENT ON `stall`.*; GRANT SELECT ON `mysql`.`proc` TO the user",
		},
		"nothing to see": {
			func(s *stand) { s.login("blind", "blind-password") }, nil, "there is nothing to back up",
		},
		"encryption demanded from a server that has none": {
			nil, []string{"--tls-mode=Required"}, "set spec.source.tls.mode to Preferred",
		},
		"an unknown TLS mode": {
			nil, []string{"--tls-mode=Maybe"}, `the TLS mode "Maybe" is not known`,
		},
		"an unknown compression": {
			nil, []string{"--compression=Lzma"}, `the compression "Lzma" is not known`,
		},
		"a retention that would remove everything": {
			nil, []string{"--retention-days=0", "--min-backups=0"}, "must be between 1 and 3650; the number of backups",
		},
		"GTIDs of MySQL from MariaDB": {
			nil, []string{"--set-gtid-purged=On"}, "needs a client and a server of MySQL",
		},
		"an image without a client": {
			func(s *stand) { s.env = []string{"PATH=" + s.work} }, nil, "set spec.podTemplate.image",
		},
		"no volume": {
			func(s *stand) { s.root += "/not-mounted" }, nil, "the backups' volume is not mounted at ",
		},
		"a name that leads elsewhere": {
			nil, []string{"--name=../../x"}, "cannot be the name of a folder",
		},
		"a flag of a newer controller": {
			nil, []string{"--flag-of-tomorrow=1"}, "unknown flag: --flag-of-tomorrow",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, m)
			if tc.prepare != nil {
				tc.prepare(s)
			}
			s.bad(tc.says, s.backupArgs(tc.flags...)...)
			if left := s.files(); len(left) != 0 {
				t.Errorf("left on the volume: %v", left)
			}
			s.workEmpty()
		})
	}
}

func TestAServerThatDiesDuringTheDumpFailsTheBackup(t *testing.T) {
	m := realparts.StartMariaDB(t)
	stallData(t, m)
	backupUser(t, m)
	hold(t, m)
	s := newStand(t, m)
	r := s.begin(s.backupArgs("--database=stall")...)
	s.stalled()
	m.Kill()
	s.failed(s.finish(r), "Lost connection to server during query")
	if left := s.files(); len(left) != 0 {
		t.Errorf("left on the volume: %v", left)
	}
	s.workEmpty()
}

func TestAFullVolumeFailsTheBackupAndIsFreedAgain(t *testing.T) {
	realparts.Root(t)
	m := realparts.SharedMariaDB(t)
	stallData(t, m)
	backupUser(t, m)
	s := newStand(t, m)
	if err := syscall.Mount("tmpfs", s.root, "tmpfs", 0, "size=128k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(s.root, 0) })
	// A good backup that is long overdue: it must not be pruned to make room.
	s.good(s.backupArgs("--database=quick", "--scheduled-time=2020-01-01T00:00:00Z")...)
	before := s.files()

	m.SQL(t, "USE stall; CREATE TABLE noise (id INT PRIMARY KEY, b BLOB); "+
		"INSERT INTO noise SELECT seq, CONCAT(UNHEX(SHA2(seq, 512)), UNHEX(SHA2(-seq, 512))) FROM seq_1_to_20000")
	o := s.run(s.backupArgs("--retention-days=1")...)
	s.failed(o, "no space left on device: the volume is full (0 of 0 MiB free): make the claim larger")
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Error(diff)
	}
	m.SQL(t, "DROP TABLE stall.noise, stall.a")
	s.good(s.backupArgs()...)
}

func TestAKilledAgentLeavesNoBackupAndTheNextAttemptClearsUp(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	stallData(t, m)
	backupUser(t, m)
	s := newStand(t, m)
	holder := hold(t, m)
	r := s.begin(s.backupArgs("--database=stall")...)
	temp := s.stalled()
	if !strings.Contains(temp, testUID) || !strings.Contains(temp, "pod-1") {
		t.Errorf("the temporary file %s does not say whose it is", temp)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait()
	if diff := cmp.Diff([]string{temp}, s.files()); diff != "" {
		t.Fatal(diff)
	}
	o := s.good(slices.Concat([]string{agent.CommandList}, s.place())...)
	if strings.Contains(o.stdout, "Complete") || !strings.Contains(o.stdout, "unfinished:") {
		t.Errorf("half a dump is listed as a backup:\n%s", o.stdout)
	}
	s.bad("there is no complete backup", slices.Concat([]string{agent.CommandVerify}, s.place(), []string{"--latest"})...)

	holder.Close()
	s.env = []string{"POD_UID=pod-2"}
	s.good(s.backupArgs("--database=stall")...)
	if diff := cmp.Diff([]string{testBase + ".json", testBase + ".sql.zst"}, s.files()); diff != "" {
		t.Error(diff)
	}
	s.good(slices.Concat([]string{agent.CommandVerify}, s.place(), []string{"--latest"})...)
}

func TestASignalEndsTheAgentAtOnceAndCleanly(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	stallData(t, m)
	backupUser(t, m)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			s := newStand(t, m)
			holder := hold(t, m)
			defer holder.Close()
			r := s.begin(s.backupArgs("--database=stall")...)
			s.stalled()
			start := time.Now()
			if err := r.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.failed(s.finish(r), "was stopped: "+sig.String()+" signal received")
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("took %s to end", took)
			}
			if left := s.files(); len(left) != 0 {
				t.Errorf("left on the volume: %v", left)
			}
			s.workEmpty()
		})
	}
}

func TestALivingAttemptIsLeftInPeace(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	stallData(t, m)
	backupUser(t, m)
	s := newStand(t, m)
	holder := hold(t, m)
	first := s.begin(s.backupArgs("--database=stall")...)
	temp := s.stalled()

	// Another run of the same object, as concurrencyPolicy Allow has it.
	s.env = []string{"POD_UID=pod-2"}
	s.good(s.backupArgs("--database=quick", "--scheduled-time=2027-03-28T03:00:00Z")...)
	if !slices.Contains(s.files(), temp) {
		t.Fatalf("the living attempt's file is gone: %v", s.files())
	}
	holder.Close()
	if o := s.finish(first); o.code != 0 {
		t.Fatalf("the first run failed: %s", o.stderr)
	}
	want := []string{testBase + ".json", testBase + ".sql.zst", "20270328T030000Z.json", "20270328T030000Z.sql.zst"}
	if diff := cmp.Diff(want, s.files()); diff != "" {
		t.Error(diff)
	}
}
