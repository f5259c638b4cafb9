// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// State says what a backup is worth, as far as one look at the folder tells.
type State string

// States of a backup. Only a complete one counts.
const (
	StateComplete State = "Complete"
	StateMissing  State = "Missing"   // the manifest is there, the dump is not
	StateWrong    State = "WrongSize" // the dump has not the size that it was written with
)

// maxManifestBytes bounds what is read of a file that may be no manifest: it
// has room for tens of thousands of databases' names.
const maxManifestBytes = 8 << 20

// Backup is one backup in a folder.
type Backup struct {
	Manifest
	State State `json:"state"`
	// manifest is the manifest's file name.
	manifest string
}

// Listing is what a folder holds.
type Listing struct {
	// Backups are sorted by their scheduled time, the oldest first.
	Backups []Backup
	// Unknown are files that are not ours or not understood, with the reason.
	Unknown []string
	// Unfinished are temporary files, of living attempts or left over.
	Unfinished []string
}

// List looks at everything in the folder.
func (f *Folder) List() (Listing, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return Listing{}, fmt.Errorf("list the backups in %s: %w", f.dir, err)
	}
	var l Listing
	dumps := map[string]bool{}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, tempPrefix):
			l.Unfinished = append(l.Unfinished, name)
		case strings.HasPrefix(name, "."):
			// The storage's own business, such as .snapshot.
		case strings.HasSuffix(name, manifestSuffix):
			b, err := f.backup(name)
			if err != nil {
				l.Unknown = append(l.Unknown, name+": "+err.Error())
				continue
			}
			l.Backups = append(l.Backups, b)
		default:
			dumps[name] = true
		}
	}
	for _, b := range l.Backups {
		delete(dumps, b.File)
	}
	for name := range dumps {
		l.Unknown = append(l.Unknown, name+": no manifest names this file")
	}
	slices.Sort(l.Unknown)
	slices.SortFunc(l.Backups, compareBackups)
	return l, nil
}

func compareBackups(a, b Backup) int {
	return cmp.Or(a.ScheduledTime.Compare(b.ScheduledTime), cmp.Compare(a.manifest, b.manifest))
}

// backup reads one manifest and looks at its dump.
func (f *Folder) backup(manifest string) (Backup, error) {
	info, err := f.root.Lstat(manifest)
	if err != nil {
		return Backup{}, fmt.Errorf("look at the manifest: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxManifestBytes {
		return Backup{}, errors.New("it is no manifest")
	}
	data, err := f.root.ReadFile(manifest)
	if err != nil {
		return Backup{}, fmt.Errorf("read the manifest: %w", err)
	}
	m, err := DecodeManifest(data)
	if err != nil {
		return Backup{}, err
	}
	return Backup{Manifest: m, State: f.state(m), manifest: manifest}, nil
}

func (f *Folder) state(m Manifest) State {
	info, err := f.root.Lstat(m.File)
	switch {
	case err != nil:
		return StateMissing
	case !info.Mode().IsRegular(), info.Size() != m.SizeBytes:
		return StateWrong
	}
	return StateComplete
}

// Of returns the backups of the object with this UID.
func (l Listing) Of(uid string) []Backup {
	return slices.DeleteFunc(slices.Clone(l.Backups), func(b Backup) bool { return b.Object.UID != uid })
}

// Find returns the run's backup, if it has one.
func (l Listing) Find(r Run) (Backup, bool) {
	for _, b := range l.Of(r.Owner.UID) {
		if b.ScheduledTime.Equal(r.Scheduled) {
			return b, true
		}
	}
	return Backup{}, false
}

// Remove takes a backup away: the dump first, so that a kill in between
// leaves a manifest without a dump and never a dump that nobody knows.
func (f *Folder) Remove(b Backup) error {
	if err := f.remove(b.File); err != nil {
		return err
	}
	if err := f.remove(b.manifest); err != nil {
		return err
	}
	return f.sync()
}

// modified is when a file was last written to; the zero time if that is not
// known.
func modified(file *os.File) time.Time {
	info, err := file.Stat()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
