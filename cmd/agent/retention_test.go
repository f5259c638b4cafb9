// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

// read is a file on the volume.
func (s *stand) read(location string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.root, location))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// smallStand has a small database and a backup user.
func smallStand(t *testing.T) *stand {
	t.Helper()
	m := realparts.SharedMariaDB(t)
	smallData(t, m)
	return newStand(t, m)
}

func smallData(t *testing.T, m *realparts.MariaDB) {
	t.Helper()
	m.SQL(t, "CREATE DATABASE small; CREATE TABLE small.t (id INT PRIMARY KEY); INSERT INTO small.t VALUES (1)")
	backupUser(t, m)
}

func at(time string) string { return "--scheduled-time=" + time }

func TestASecondAttemptOfTheSameRunDumpsNothingAgain(t *testing.T) {
	m := realparts.StartMariaDB(t)
	smallData(t, m)
	s := newStand(t, m)
	first := s.good(s.backupArgs()...)
	m.Kill() // a second dump would not even be possible
	s.env = []string{"POD_UID=pod-2"}
	second := s.good(s.backupArgs()...)
	if diff := cmp.Diff(first.result, second.result); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(second.stderr, "nothing is dumped again") {
		t.Errorf("it is not said:\n%s", second.stderr)
	}
}

func TestASecondAttemptReplacesADamagedBackupOfTheSameRun(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"a flipped bit": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(path, data, 0o600)
		},
		"cut off": func(path string) error { return os.Truncate(path, 100) },
		"missing": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			s := smallStand(t)
			o := s.good(s.backupArgs()...)
			if err := damage(filepath.Join(s.root, o.result.Location)); err != nil {
				t.Fatal(err)
			}
			if o := s.run(slices.Concat([]string{agent.CommandVerify}, s.place(), []string{"--file=" + testBase + ".sql.zst"})...); o.code != 1 ||
				!strings.Contains(o.result.Error, "is damaged") {
				t.Errorf("the damage is not seen: %d %s", o.code, o.result.Error)
			}
			// Also when the compression is another one by now.
			s.good(s.backupArgs("--compression=Gzip")...)
			if diff := cmp.Diff([]string{testBase + ".json", testBase + ".sql.gz"}, s.files()); diff != "" {
				t.Error(diff)
			}
			s.good(slices.Concat([]string{agent.CommandVerify}, s.place(), []string{"--latest"})...)
		})
	}
}

func TestRetentionRemovesOnlyOldBackupsOfThisObject(t *testing.T) {
	s := smallStand(t)
	for _, time := range []string{"2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"} {
		s.good(s.backupArgs(at(time))...)
		s.good(s.backupArgs(at(time), "--uid="+otherUID, "--kind=MySQLBackup")...)
	}
	if err := os.WriteFile(filepath.Join(s.folder(), "by-hand.sql"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := s.good(s.backupArgs(at("2020-01-03T00:00:00Z"), "--retention-days=1", "--min-backups=2")...)
	if o.result.Pruned != 1 || o.result.PruneError != "" {
		t.Errorf("pruned %d (%s), want 1", o.result.Pruned, o.result.PruneError)
	}
	want := []string{
		// The other object's second backup of that second has its own name.
		"20200101T000000Z-22222222.json", "20200101T000000Z-22222222.sql.zst",
		"20200102T000000Z-22222222.json", "20200102T000000Z-22222222.sql.zst",
		"20200102T000000Z.json", "20200102T000000Z.sql.zst",
		"20200103T000000Z.json", "20200103T000000Z.sql.zst",
		"by-hand.sql",
	}
	if diff := cmp.Diff(want, s.files()); diff != "" {
		t.Error(diff)
	}

	o = s.good(slices.Concat([]string{agent.CommandPrune}, s.place(), []string{"--uid=" + testUID, "--retention-days=1"})...)
	if o.result.Pruned != 1 {
		t.Errorf("pruned %d, want 1", o.result.Pruned)
	}
	o = s.good(slices.Concat([]string{agent.CommandPurge}, s.place(), []string{"--uid=" + testUID})...)
	if diff := cmp.Diff(append(want[:4:4], "by-hand.sql"), s.files()); diff != "" || o.result.Pruned != 1 {
		t.Errorf("purged %d: %s", o.result.Pruned, diff)
	}
	for range 2 { // a clean-up may be repeated
		s.good(slices.Concat([]string{agent.CommandPurge}, s.place(), []string{"--uid=" + otherUID})...)
	}
	if diff := cmp.Diff([]string{"by-hand.sql"}, s.files()); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(filepath.Join(s.folder(), "by-hand.sql")); err != nil {
		t.Fatal(err)
	}
	s.good(slices.Concat([]string{agent.CommandPurge}, s.place(), []string{"--uid=" + otherUID})...)
	if entries, err := os.ReadDir(s.root); err != nil || len(entries) != 0 {
		t.Errorf("the empty folders stay: %v, %v", entries, err)
	}
	s.good(slices.Concat([]string{agent.CommandPurge}, s.place(), []string{"--uid=" + otherUID})...)
}

func TestAFailedBackupPrunesNothing(t *testing.T) {
	s := smallStand(t)
	for _, time := range []string{"2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"} {
		s.good(s.backupArgs(at(time))...)
	}
	before := s.files()
	s.login("backup", "wrong")
	s.bad("Access denied", s.backupArgs("--retention-days=1")...)
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Error(diff)
	}
}

func TestAFailureToPruneIsToldApartAndFailsNothing(t *testing.T) {
	s := smallStand(t)
	for _, time := range []string{"2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z", "2020-01-03T00:00:00Z"} {
		s.good(s.backupArgs(at(time))...)
	}
	// A folder that is not empty in the place of a dump cannot be removed,
	// not even by root.
	stuck := filepath.Join(s.folder(), "20200102T000000Z.sql.zst")
	if err := os.Remove(stuck); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(stuck, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := s.good(s.backupArgs("--retention-days=1")...)
	if o.result.Pruned != 2 || !strings.Contains(o.result.PruneError, "1 of 3 old backups could not be removed, first: remove shop/nightly/20200102T000000Z.sql.zst") {
		t.Errorf("pruned %d, error %q", o.result.Pruned, o.result.PruneError)
	}
	if o.result.Location == "" || o.result.CompletionTime == nil {
		t.Errorf("the backup is not reported: %+v", o.result)
	}
	o = s.bad("could not be removed", slices.Concat([]string{agent.CommandPrune}, s.place(), []string{"--uid=" + testUID, "--retention-days=1"})...)
	if o.result.PruneError == "" {
		t.Error("prune does not report its own error")
	}
}

func TestAReadOnlyVolume(t *testing.T) {
	realparts.Root(t)
	s := smallStand(t)
	if err := syscall.Mount("tmpfs", s.root, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(s.root, 0) })
	for _, time := range []string{"2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"} {
		s.good(s.backupArgs(at(time))...)
	}
	if err := syscall.Mount("", s.root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	before := s.files()
	o := s.bad("the volume is mounted read-only", slices.Concat([]string{agent.CommandPrune}, s.place(), []string{"--uid=" + testUID, "--retention-days=1"})...)
	if !strings.Contains(o.result.PruneError, "1 of 1 old backups could not be removed") {
		t.Errorf("the prune error is %q", o.result.PruneError)
	}
	s.bad("the volume is mounted read-only: check the claim's access modes", s.backupArgs()...)
	// Reading needs no right to write.
	s.good(slices.Concat([]string{agent.CommandVerify}, s.place(), []string{"--latest"})...)
	s.good(slices.Concat([]string{agent.CommandList}, s.place())...)
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Error(diff)
	}
}

func TestListOfNothingIsEmptyLists(t *testing.T) {
	s := newStand(t, nil)
	empty := s.good(slices.Concat([]string{agent.CommandList}, s.place(), []string{"-o", "json"})...)
	if want := `{"backups":[],"unfinished":[],"unknown":[]}`; compact(t, empty.stdout) != want {
		t.Errorf("got %s, want %s", empty.stdout, want)
	}
}

// listedStand has backups of two objects, one cut off, and odd files.
func listedStand(t *testing.T) *stand {
	t.Helper()
	s := smallStand(t)
	s.good(s.backupArgs(at("2027-01-01T00:00:00Z"))...)
	s.good(s.backupArgs(at("2027-01-02T00:00:00Z"))...)
	s.good(s.backupArgs(at("2027-01-02T00:00:00Z"), "--uid="+otherUID, "--kind=MySQLBackup")...)
	if err := os.Truncate(filepath.Join(s.folder(), "20270101T000000Z.sql.zst"), 10); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"notes.json": "{}", "stray.sql.zst": "x", ".tmp-" + testUID + "-20270103T000000Z-pod.sql": "x",
		"tomorrow.json": `{"formatVersion": 99}`,
	} {
		if err := os.WriteFile(filepath.Join(s.folder(), name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestListShowsWhatIsThere(t *testing.T) {
	s := listedStand(t)
	all := s.good(slices.Concat([]string{agent.CommandList}, s.place(), []string{"--output=json"})...)
	var got struct {
		Backups []struct {
			Location, State, SHA256 string
			Object                  struct{ UID string }
			Databases               []string
		}
		Unfinished, Unknown []string
	}
	if err := json.Unmarshal([]byte(all.stdout), &got); err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, b := range got.Backups {
		states = append(states, b.Location+" "+b.State+" "+b.Object.UID[:8]+" "+strings.Join(b.Databases, ","))
		if len(b.SHA256) != 64 {
			t.Errorf("incomplete: %+v", b)
		}
	}
	if diff := cmp.Diff([]string{
		"shop/nightly/20270101T000000Z.sql.zst WrongSize 11111111 small",
		"shop/nightly/20270102T000000Z-22222222.sql.zst Complete 22222222 small",
		"shop/nightly/20270102T000000Z.sql.zst Complete 11111111 small",
	}, states); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"notes.json: the file is not a backup's manifest: it has no formatVersion",
		"stray.sql.zst: no manifest names this file",
		"tomorrow.json: the manifest has format 99, written by a newer agent; this one reads up to 1",
	}, got.Unknown); diff != "" || len(got.Unfinished) != 1 {
		t.Error(diff, got.Unfinished)
	}

	table := s.good(slices.Concat([]string{agent.CommandList}, s.place(), []string{"--uid=" + testUID})...)
	for _, want := range []string{"SCHEDULED", "2027-01-02T00:00:00Z", "WrongSize", "1 backups of other objects of this name are not shown", "unfinished:", "not a backup:"} {
		if !strings.Contains(table.stdout, want) {
			t.Errorf("the table lacks %q:\n%s", want, table.stdout)
		}
	}
	s.bad(`the output "xml" is not known`, slices.Concat([]string{agent.CommandList}, s.place(), []string{"-o", "xml"})...)
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
