// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

func (s *stand) restoreArgs(target *realparts.MariaDB, more ...string) []string {
	return slices.Concat([]string{agent.CommandRestore}, s.place(), s.at(target), more)
}

func TestRestoreTakesTheBackupThatIsMeant(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	m.SQL(t, "CREATE DATABASE small; CREATE TABLE small.t (id INT PRIMARY KEY)")
	backupUser(t, m)
	s := newStand(t, m)
	for i, time := range []string{"2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z"} {
		m.SQL(t, "INSERT INTO small.t SELECT COUNT(*) FROM small.t")
		uid := []string{otherUID, testUID, testUID}[i]
		s.good(s.backupArgs(at(time), "--uid="+uid)...)
	}
	if err := os.Truncate(filepath.Join(s.folder(), "20270103T000000Z.sql.zst"), 100); err != nil {
		t.Fatal(err)
	}
	m.SQL(t, "GRANT ALL ON *.* TO backup@'%'")
	cases := map[string]struct {
		flags []string
		rows  string
		says  string
	}{
		"the latest that is whole":         {[]string{"--latest"}, "2", ""},
		"before a time, to the second":     {[]string{"--before=2027-01-01T00:00:00Z"}, "1", ""},
		"before a time in another zone":    {[]string{"--before=2027-01-02T00:59:59+01:00"}, "1", ""},
		"before a time, of this object":    {[]string{"--before=2027-01-01T12:00:00Z", "--uid=" + testUID}, "", "no complete backup at or before 2027-01-01T12:00:00Z"},
		"before the first":                 {[]string{"--before=2026-12-31T23:59:59Z"}, "", "no complete backup at or before 2026-12-31T23:59:59Z"},
		"the latest of another kind":       {[]string{"--latest", "--kind=MySQLBackup"}, "", "no complete backup in"},
		"a file":                           {[]string{"--file=20270101T000000Z.sql.zst"}, "1", ""},
		"a file of another object's UID":   {[]string{"--file=20270101T000000Z.sql.zst", "--uid=" + testUID}, "1", ""},
		"a damaged file":                   {[]string{"--file=20270103T000000Z.sql.zst"}, "", "is damaged: its file has not the"},
		"a file that is no backup":         {[]string{"--file=../nightly/20270101T000000Z.sql.zst"}, "", "there is no backup"},
		"a time that is none":              {[]string{"--before=yesterday"}, "", "invalid argument"},
		"nothing said":                     {nil, "", "at least one of the flags in the group [file latest before] is required"},
		"too much said":                    {[]string{"--latest", "--file=x"}, "", "none of the others can be"},
		"an object that has no backups":    {[]string{"--latest", "--name=other"}, "", "open the folder of the backups"},
		"a password that does not fit":     {[]string{"--latest", "--password-file=" + os.DevNull}, "", "Access denied"},
		"a target that nobody listens on":  {[]string{"--latest", "--port=1"}, "", "log in to 127.0.0.1:1"},
		"a target without a host's answer": {[]string{"--latest", "--host=no-such-host.invalid"}, "", "Unknown server host"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m.SQL(t, "DROP DATABASE IF EXISTS small")
			s := &stand{t: t, root: s.root, work: s.work, credentials: s.credentials, termination: s.termination, server: m}
			if tc.says != "" {
				s.bad(tc.says, s.restoreArgs(m, tc.flags...)...)
				return
			}
			s.good(s.restoreArgs(m, tc.flags...)...)
			if got := m.SQL(t, "SELECT COUNT(*) FROM small.t"); got != tc.rows {
				t.Errorf("got %s rows, want %s", got, tc.rows)
			}
			s.workEmpty()
		})
	}
}

func TestRestoreRefusesATargetThatIsNotEmpty(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	m.SQL(t, "CREATE DATABASE `täble`; CREATE TABLE `täble`.t (id INT PRIMARY KEY); INSERT INTO `täble`.t VALUES (1)")
	backupUser(t, m)
	s := newStand(t, m)
	s.good(s.backupArgs()...)
	m.SQL(t, "GRANT ALL ON *.* TO backup@'%'; INSERT INTO `täble`.t VALUES (2); CREATE TABLE `täble`.mine (id INT)")

	s.bad("it has tables in 'täble'", s.restoreArgs(m, "--latest")...)
	if got := m.SQL(t, "SELECT COUNT(*) FROM `täble`.t"); got != "2" {
		t.Errorf("the refused target was touched: %s rows", got)
	}
	s.good(s.restoreArgs(m, "--latest", "--force")...)
	if got := m.SQL(t, "SELECT COUNT(*) FROM `täble`.t; SHOW TABLES FROM `täble`"); got != "1\nmine\nt" {
		t.Errorf("with --force: %q", got)
	}
	// A name that the server takes for the same, and that is another one.
	m.SQL(t, "DROP DATABASE `täble`; CREATE DATABASE `table`; CREATE TABLE `table`.t (id INT)")
	s.good(s.restoreArgs(m, "--latest")...)
	// A database without tables is as good as none.
	m.SQL(t, "DROP DATABASE `täble`; CREATE DATABASE `täble`")
	s.good(s.restoreArgs(m, "--latest")...)
}

func TestARestoreThatTheServerRefusesFails(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	m.SQL(t, "CREATE DATABASE small; CREATE TABLE small.t (id INT PRIMARY KEY, b LONGBLOB); INSERT INTO small.t VALUES (1, REPEAT('x', 3000000))")
	backupUser(t, m)
	s := newStand(t, m)
	s.good(s.backupArgs()...)
	target := realparts.StartMariaDB(t, "--max-allowed-packet=1M")
	target.SQL(t, "CREATE USER backup@'%' IDENTIFIED BY "+literal(testPassword)+"; GRANT ALL ON *.* TO backup@'%'")
	o := s.bad("half restored now: drop them and start again", s.restoreArgs(target, "--latest")...)
	if o.result.CompletionTime != nil {
		t.Errorf("a failed restore has an end: %+v", o.result)
	}
}

// The backups in testdata/v1 were written by the first version of the agent.
// Every later version must restore them; they are never made anew.
func TestBackupsOfTheFirstVersionRestore(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	m.SQL(t, "CREATE USER backup@'%' IDENTIFIED BY "+literal(testPassword)+"; GRANT ALL ON *.* TO backup@'%'")
	s := newStand(t, m)
	s.root = "testdata/v1"
	for _, file := range []string{"20270101T000000Z.sql.zst", "20270102T000000Z.sql.gz", "20270103T000000Z.sql"} {
		t.Run(file, func(t *testing.T) {
			m.SQL(t, "DROP DATABASE IF EXISTS `first-böat`")
			s.good(slices.Concat([]string{agent.CommandVerify}, s.place(), []string{"--file=" + file})...)
			s.good(s.restoreArgs(m, "--file="+file)...)
			got := m.SQL(t, "SELECT id, HEX(b), w FROM `first-böat`.t; SELECT * FROM `first-böat`.v; CALL `first-böat`.p()")
			want := "1\t00FF\t🐬\n2\tNULL\t\n1\n2\n7"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInstallCopiesTheWholeAgent(t *testing.T) {
	s := newStand(t, nil)
	to := filepath.Join(s.root, "bin", "agent")
	for range 2 { // also over an older one
		s.good(agent.CommandInstall, "--to="+to, "--termination-log="+s.termination)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, errWant := os.ReadFile(self)
	got, errGot := os.ReadFile(to)
	if errWant != nil || errGot != nil || string(got) != string(want) {
		t.Errorf("the copy differs: %d and %d bytes, %v, %v", len(got), len(want), errWant, errGot)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(to))
	if err != nil || len(entries) != 1 {
		t.Errorf("left beside it: %v, %v", entries, err)
	}
	s.bad("make the folder to install into", agent.CommandInstall, "--to="+to+"/below/agent", "--termination-log="+s.termination)
}

func TestHelpExplainsTheAgent(t *testing.T) {
	s := newStand(t, nil)
	for _, args := range [][]string{{"--help"}, {}, {"help"}} {
		o := s.run(args...)
		for _, want := range []string{"agent verify --namespace=shop", ".tmp-", "exit code is 0", "restore"} {
			if o.code != 0 || !strings.Contains(o.stdout, want) {
				t.Errorf("%v: code %d, no %q in the help", args, o.code, want)
			}
		}
	}
	o := s.run("frobnicate")
	if o.code != 1 || !strings.Contains(o.stderr, `Failed: unknown command "frobnicate"`) {
		t.Errorf("code %d: %s", o.code, o.stderr)
	}
}
