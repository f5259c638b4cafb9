// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"example.com/backupjob-operator/cmd/agent/internal/hash"
)

// deadAfter is how old a temporary file of another run must be on a file
// system without locks before it counts as left over: longer than the
// default time limit of a run by far.
const deadAfter = 24 * time.Hour

// Recovered is what Recover did.
type Recovered struct {
	// Removed are the temporary files that were taken away.
	Removed []string
	// Finished are the backups that an earlier attempt had stored whole and
	// only not yet named in a manifest.
	Finished []string
}

// Recover clears up what dead attempts of this object left behind. Files of
// living attempts are not touched. A file with which it fails does not keep
// it from the others.
func (f *Folder) Recover(ctx context.Context, run Run, now time.Time) (Recovered, error) {
	var done Recovered
	l, err := f.List()
	if err != nil {
		return done, err
	}
	for _, name := range l.Unfinished {
		if !strings.HasPrefix(name, ownerTempPrefix(run.Owner.UID)) {
			continue
		}
		if oneErr := f.recoverOne(ctx, name, run, now, &done); oneErr != nil {
			err = errors.Join(err, fmt.Errorf("clear up %s: %w", name, oneErr))
		}
	}
	return done, errors.Join(err, f.sync())
}

func (f *Folder) recoverOne(ctx context.Context, name string, run Run, now time.Time, done *Recovered) error {
	file, canLock, err := f.openDead(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errLocked):
		return nil
	case err != nil:
		return err
	}
	defer func() { _ = file.Close() }()
	// Attempts of one run never overlap, so another one's file is left over.
	sameRun := strings.HasPrefix(name, run.tempPrefix())
	if !canLock && !sameRun && now.Sub(modified(file)) < deadAfter {
		return nil
	}
	if strings.HasSuffix(name, manifestSuffix) {
		finished, err := f.finish(ctx, name, file)
		if err != nil {
			return err
		}
		if finished != "" {
			done.Finished = append(done.Finished, finished)
			return nil
		}
	}
	if err := f.remove(name); err != nil {
		return err
	}
	done.Removed = append(done.Removed, name)
	return nil
}

// finish gives a left-over manifest its final name if the dump that it
// describes is there, whole, and has no manifest yet.
func (f *Folder) finish(ctx context.Context, name string, file *os.File) (string, error) {
	m, ok := readLeftover(file)
	if !ok || f.state(m) != StateComplete {
		return "", nil
	}
	base, _, _ := strings.Cut(m.File, ".")
	if there, err := f.exists(base + manifestSuffix); there || err != nil {
		return "", err
	}
	dump, err := f.Open(m.File)
	if err != nil {
		return "", err
	}
	defer func() { _ = dump.Close() }()
	got, err := hash.Read(ctx, dump)
	if err != nil {
		return "", fmt.Errorf("check the dump that an earlier attempt left: %w", err)
	}
	if got != m.Sum() {
		return "", nil
	}
	return m.File, f.place(name, base+manifestSuffix, false)
}

// readLeftover reads a manifest that may have been cut off.
func readLeftover(file *os.File) (Manifest, bool) {
	info, err := file.Stat()
	if err != nil || info.Size() > maxManifestBytes {
		return Manifest{}, false
	}
	data := make([]byte, info.Size())
	if _, err := file.ReadAt(data, 0); err != nil {
		return Manifest{}, false
	}
	m, err := DecodeManifest(data)
	return m, err == nil
}

// RemoveUnfinished takes away every temporary file of the object, also those
// of living attempts.
func (f *Folder) RemoveUnfinished(uid string) error {
	l, err := f.List()
	if err != nil {
		return err
	}
	for _, name := range l.Unfinished {
		if strings.HasPrefix(name, ownerTempPrefix(uid)) {
			err = errors.Join(err, f.remove(name))
		}
	}
	return err
}
