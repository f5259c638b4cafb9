// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/cmd/agent/internal/hash"
)

const (
	ownUID   = "11111111-aaaa-4aaa-8aaa-111111111111"
	otherUID = "22222222-bbbb-4bbb-8bbb-222222222222"
	base     = "20270328T020000Z"
)

var scheduled = time.Date(2027, 3, 28, 2, 0, 0, 0, time.UTC)

func run(uid, attempt string) Run {
	return Run{
		Owner:     Owner{Kind: "BackupJob", Namespace: "shop", Name: "nightly", UID: uid},
		Scheduled: scheduled, Attempt: attempt,
	}
}

func newFolder(t *testing.T) *Folder {
	t.Helper()
	f, err := MakeFolder(t.TempDir(), run(ownUID, "").Owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// pending writes a dump up to the moment before its commit.
func pending(t *testing.T, f *Folder, r Run, dump string) (*Pending, Manifest) {
	t.Helper()
	p, err := f.Create(r)
	if err != nil {
		t.Fatal(err)
	}
	w := hash.NewWriter(p)
	if _, err := w.Write([]byte(dump)); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context(), w.Sum()); err != nil {
		t.Fatal(err)
	}
	return p, Manifest{SizeBytes: w.Sum().Bytes, SHA256: w.Sum().SHA256, Databases: []string{"täble"}}
}

func stored(t *testing.T, f *Folder, r Run, dump string) Backup {
	t.Helper()
	p, m := pending(t, f, r, dump)
	b, err := p.Commit(m, ".zst")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Abort(); err != nil { // as the caller's defer does
		t.Fatal(err)
	}
	return b
}

func names(t *testing.T, f *Folder) []string {
	t.Helper()
	entries, err := os.ReadDir(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func list(t *testing.T, f *Folder) Listing {
	t.Helper()
	l, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCommitMakesABackup(t *testing.T) {
	f := newFolder(t)
	b := stored(t, f, run(ownUID, "pod-1"), "dump")
	if diff := cmp.Diff([]string{base + ".json", base + ".sql.zst"}, names(t, f)); diff != "" {
		t.Error(diff)
	}
	if b.State != StateComplete || f.Location(b.File) != "shop/nightly/"+base+".sql.zst" || !b.ScheduledTime.Equal(scheduled) {
		t.Errorf("got %+v", b)
	}
	l := list(t, f)
	if diff := cmp.Diff([]Backup{b}, l.Backups, cmp.AllowUnexported(Backup{})); diff != "" {
		t.Error(diff)
	}
	if got, found := l.Find(run(ownUID, "pod-2")); !found || got.File != b.File {
		t.Errorf("found %+v, %v", got, found)
	}
	if _, found := l.Find(run(otherUID, "pod-2")); found {
		t.Error("another object's run finds the backup")
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	f := newFolder(t)
	p, _ := pending(t, f, run(ownUID, "pod-1"), "dump")
	if got := names(t, f); !cmp.Equal(got, []string{".tmp-" + ownUID + "-" + base + "-pod-1.sql"}) {
		t.Errorf("while it is written: %v", got)
	}
	if err := errors.Join(p.Abort(), p.Abort()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, f); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestFlushComparesWhatTheVolumeGivesBack(t *testing.T) {
	f := newFolder(t)
	p, m := pending(t, f, run(ownUID, "pod-1"), "dump")
	want := m.Sum()
	want.SHA256 = strings.Repeat("0", 64)
	if err := p.Flush(t.Context(), want); err == nil || !strings.Contains(err.Error(), "other content than was written") {
		t.Errorf("got %v", err)
	}
}

// commitSteps are what Commit does, one after the other. A kill can come
// after each.
var commitSteps = []struct {
	name string
	do   func(p *Pending, m Manifest) error
}{
	{"the dump is written", func(*Pending, Manifest) error { return nil }},
	{"the manifest is written", func(p *Pending, m Manifest) error {
		info, err := p.writeManifest(m)
		if err != nil {
			return err
		}
		return info.Close() // a kill gives up the lock
	}},
	{"the dump has its second name", func(p *Pending, m Manifest) error { return p.folder.root.Link(p.temp, m.File) }},
	{"the dump has its final name", func(p *Pending, _ Manifest) error { return p.folder.remove(p.temp) }},
	{"the manifest has its second name", func(p *Pending, _ Manifest) error {
		return p.folder.root.Link(p.tempInfo, base+manifestSuffix)
	}},
}

// dumpIsNamed is the first step after which the backup survives a kill.
const dumpIsNamed = 2

func TestAKillAtAnyStepLeavesNoBackupOrAWholeOne(t *testing.T) {
	for last := range commitSteps {
		t.Run("killed when "+commitSteps[last].name, func(t *testing.T) {
			f, r := newFolder(t), run(ownUID, "pod-1")
			commitUpTo(t, f, r, last)
			onlyWhole(t, f)
			done, err := f.Recover(t.Context(), run(ownUID, "pod-2"), scheduled)
			if err != nil {
				t.Fatal(err)
			}
			_, found := list(t, f).Find(r)
			if found != (last >= dumpIsNamed) {
				t.Errorf("a backup is there: %v (%+v)", found, done)
			}
			// Whatever was left, the next attempt ends in the same two files.
			if !found {
				stored(t, f, run(ownUID, "pod-2"), "dump")
			}
			if diff := cmp.Diff([]string{base + ".json", base + ".sql.zst"}, names(t, f)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// onlyWhole demands that no half backup is listed.
func onlyWhole(t *testing.T, f *Folder) {
	t.Helper()
	for _, b := range list(t, f).Backups {
		if b.State != StateComplete {
			t.Errorf("half a backup is listed: %+v", b)
		}
	}
}

// commitUpTo does the steps of a commit up to the last one before a kill.
func commitUpTo(t *testing.T, f *Folder, r Run, last int) {
	t.Helper()
	p, m := pending(t, f, r, "dump")
	m.FormatVersion, m.Object, m.ScheduledTime, m.File = ManifestVersion, r.Owner, r.Scheduled, base+".sql.zst"
	for _, step := range commitSteps[:last+1] {
		if err := step.do(p, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRecoverTouchesOnlyDeadFilesOfThisObject(t *testing.T) {
	f := newFolder(t)
	living, _ := pending(t, f, run(ownUID, "pod-living"), "dump")
	defer func() { _ = living.Abort() }()
	for _, name := range []string{
		ownerTempPrefix(otherUID) + base + "-pod.sql",
		ownerTempPrefix(ownUID) + base + "-pod-dead.sql",
		ownerTempPrefix(ownUID) + "20270327T020000Z-pod-dead.sql",
		ownerTempPrefix(ownUID) + "20270327T020000Z-pod-dead.json", // half a manifest
		"by-hand.sql", ".snapshot",
	} {
		if err := os.WriteFile(filepath.Join(f.Path(), name), []byte(`{"formatVer`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done, err := f.Recover(t.Context(), run(ownUID, "pod-2"), scheduled)
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Removed) != 3 || len(done.Finished) != 0 {
		t.Errorf("got %+v", done)
	}
	want := []string{
		".snapshot",
		ownerTempPrefix(ownUID) + base + "-pod-living.sql",
		ownerTempPrefix(otherUID) + base + "-pod.sql",
		"by-hand.sql",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, names(t, f)); diff != "" {
		t.Error(diff)
	}
}

func TestRecoverDoesNotNameADumpThatIsNotWhole(t *testing.T) {
	f := newFolder(t)
	r := run(ownUID, "pod-1")
	p, m := pending(t, f, r, "dump")
	m.FormatVersion, m.Object, m.ScheduledTime, m.File = ManifestVersion, r.Owner, r.Scheduled, base+".sql"
	info, err := p.writeManifest(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(info.Close(), p.file.Close(), os.WriteFile(filepath.Join(f.Path(), m.File), []byte("pmud"), 0o600)); err != nil {
		t.Fatal(err)
	}
	done, err := f.Recover(t.Context(), run(ownUID, "pod-2"), scheduled)
	if err != nil || len(done.Finished) != 0 {
		t.Errorf("got %+v, %v", done, err)
	}
	if l := list(t, f); len(l.Backups) != 0 || len(l.Unknown) != 1 {
		t.Errorf("got %+v", l)
	}
}

func TestTwoObjectsOfOneNameDoNotTouchEachOther(t *testing.T) {
	f := newFolder(t)
	first := stored(t, f, run(ownUID, "pod-1"), "first")
	second := stored(t, f, run(otherUID, "pod-2"), "second")
	if first.File == second.File || second.File != base+"-22222222.sql.zst" {
		t.Errorf("got %s and %s", first.File, second.File)
	}
	// Each one's second attempt replaces its own.
	stored(t, f, run(otherUID, "pod-3"), "third")
	if diff := cmp.Diff([]string{base + "-22222222.json", base + "-22222222.sql.zst", base + ".json", base + ".sql.zst"}, names(t, f)); diff != "" {
		t.Error(diff)
	}
	l := list(t, f)
	if len(l.Of(ownUID)) != 1 || len(l.Of(otherUID)) != 1 || l.Of(otherUID)[0].SizeBytes != int64(len("third")) {
		t.Errorf("got %+v", l.Backups)
	}
}

func TestANameThatIsTakenThisVeryMomentIsNotOverwritten(t *testing.T) {
	f := newFolder(t)
	p, m := pending(t, f, run(ownUID, "pod-1"), "dump")
	defer func() { _ = p.Abort() }()
	m.File = base + ".sql"
	if err := os.WriteFile(filepath.Join(f.Path(), m.File), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.place(p.temp, m.File, false); err == nil || !strings.Contains(err.Error(), "another object has just stored") {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(f.Path(), m.File)); err != nil || string(data) != "theirs" {
		t.Errorf("it holds %q, %v", data, err)
	}
}

func TestRemoveTakesTheDumpFirst(t *testing.T) {
	f := newFolder(t)
	b := stored(t, f, run(ownUID, "pod-1"), "dump")
	if err := f.remove(b.File); err != nil { // killed here
		t.Fatal(err)
	}
	l := list(t, f)
	if len(l.Backups) != 1 || l.Backups[0].State != StateMissing {
		t.Fatalf("got %+v", l)
	}
	if err := f.Remove(l.Backups[0]); err != nil {
		t.Fatal(err)
	}
	if got := names(t, f); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestNothingLeadsOutOfTheFolder(t *testing.T) {
	root := t.TempDir()
	secret := filepath.Join(root, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []Owner{
		{Namespace: "", Name: "x"}, {Namespace: "x", Name: ""}, {Namespace: "..", Name: "x"}, {Namespace: "x", Name: ".."},
		{Namespace: "x", Name: "a/b"}, {Namespace: "a\\b", Name: "x"}, {Namespace: "x", Name: "a\x00"}, {Namespace: ".", Name: "x"},
	} {
		if _, err := MakeFolder(root, owner); err == nil {
			t.Errorf("%+v became a folder", owner)
		}
	}
	f, err := MakeFolder(root, Owner{Namespace: "shop", Name: "nightly"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := os.Symlink(secret, filepath.Join(f.Path(), "link.sql")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../secret", secret, "link.sql", ".tmp-x", "", "a\\b", ".."} {
		if r, err := f.Open(file); err == nil {
			_ = r.Close()
			t.Errorf("%q was opened", file)
		}
	}
}

func TestOpeningAFolderThatIsNotThereIsNotExist(t *testing.T) {
	if _, err := OpenFolder(t.TempDir(), Owner{Namespace: "shop", Name: "nightly"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for _, open := range []func(string, Owner) (*Folder, error){OpenFolder, MakeFolder} {
		_, err := open(filepath.Join(t.TempDir(), "not-mounted"), Owner{Namespace: "shop", Name: "nightly"})
		if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "the backups' volume is not mounted") {
			t.Errorf("got %v", err)
		}
	}
}
