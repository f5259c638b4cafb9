// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"example.com/backupjob-operator/cmd/agent/internal/hash"
)

// Pending is a dump while it is being written. It ends with Commit or Abort.
type Pending struct {
	folder   *Folder
	run      Run
	file     *os.File
	temp     string
	tempInfo string
}

// Create begins a backup of the run.
func (f *Folder) Create(run Run) (*Pending, error) {
	p := &Pending{
		folder: f, run: run,
		temp:     run.tempName(dumpSuffix),
		tempInfo: run.tempName(manifestSuffix),
	}
	file, err := f.createTemp(p.temp)
	if err != nil {
		return nil, err
	}
	p.file = file
	return p, nil
}

// Write adds to the dump.
func (p *Pending) Write(data []byte) (int, error) {
	n, err := p.file.Write(data)
	if err != nil {
		return n, fmt.Errorf("write the backup to %s: %w", p.folder.dir, explain(err, p.folder.dir))
	}
	return n, nil
}

// Abort takes everything away that the attempt wrote. After Commit it does
// nothing.
func (p *Pending) Abort() error {
	if p.file == nil {
		return nil
	}
	_ = p.file.Close()
	p.file = nil
	return errors.Join(p.folder.remove(p.temp), p.folder.remove(p.tempInfo))
}

// Flush makes what was written last, reads it back and compares it.
func (p *Pending) Flush(ctx context.Context, want hash.Sum) error {
	if err := p.file.Sync(); err != nil {
		return fmt.Errorf("flush the backup to %s: %w", p.folder.dir, explain(err, p.folder.dir))
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the backup back: %w", err)
	}
	got, err := hash.Read(ctx, p.file)
	if err != nil {
		return fmt.Errorf("read the backup back: %w", err)
	}
	if got != want {
		return fmt.Errorf("the volume gave back other content than was written: got %s, wrote %s: the storage is faulty", got, want)
	}
	return nil
}

// Commit gives a flushed dump and its manifest their final names and returns
// the backup. extension is that of the compression.
func (p *Pending) Commit(m Manifest, extension string) (Backup, error) {
	f := p.folder
	base, old, err := p.finalBase()
	if err != nil {
		return Backup{}, err
	}
	m.FormatVersion, m.Object, m.ScheduledTime = ManifestVersion, p.run.Owner, p.run.Scheduled.UTC()
	m.File = base + dumpSuffix + extension
	info, err := p.writeManifest(m)
	if err != nil {
		return Backup{}, err
	}
	defer func() { _ = info.Close() }() // also gives up its lock
	// Only this object's own name, or its own damaged backup, is replaced.
	replace := old != nil || base == p.run.ownBase()
	if err := f.place(p.temp, m.File, replace); err != nil {
		return Backup{}, err
	}
	if err := f.place(p.tempInfo, base+manifestSuffix, replace); err != nil {
		// Without a manifest the dump is no backup; do not leave it.
		return Backup{}, errors.Join(err, f.remove(m.File))
	}
	_ = p.file.Close()
	p.file = nil
	if old != nil && old.File != m.File {
		if err := f.remove(old.File); err != nil {
			return Backup{}, err
		}
	}
	return f.backup(base + manifestSuffix)
}

// finalBase chooses the name that the backup gets. Under that name may be an
// old backup of the same run, one that turned out to be damaged.
func (p *Pending) finalBase() (base string, old *Backup, err error) {
	f, run := p.folder, p.run
	for _, base := range []string{run.base(), run.ownBase()} {
		if b, err := f.backup(base + manifestSuffix); err == nil && b.Object.UID == run.Owner.UID {
			return base, &b, nil
		}
	}
	taken, err := f.taken(run.base())
	if err != nil {
		return "", nil, err
	}
	if taken {
		return run.ownBase(), nil, nil
	}
	return run.base(), nil, nil
}

// taken tells whether any file has that name, whatever its ending.
func (f *Folder) taken(base string) (bool, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return false, fmt.Errorf("list the backups in %s: %w", f.dir, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+".") {
			return true, nil
		}
	}
	return false, nil
}

// writeManifest writes the manifest under its temporary name. The open file
// holds the lock that tells others to leave it.
func (p *Pending) writeManifest(m Manifest) (*os.File, error) {
	data, err := m.encode()
	if err != nil {
		return nil, err
	}
	file, err := p.folder.createTemp(p.tempInfo)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("write the manifest to %s: %w", p.folder.dir, explain(err, p.folder.dir))
	}
	return file, p.folder.sync()
}

// place gives a temporary file its final name. Without replace a file that
// is already there is an error, also if it came this very moment.
func (f *Folder) place(temp, final string, replace bool) error {
	if !replace {
		err := f.root.Link(temp, final)
		switch {
		case err == nil:
			return errors.Join(f.remove(temp), f.sync())
		case errors.Is(err, fs.ErrExist):
			return fmt.Errorf("another object has just stored %s: the next attempt will take another name", f.Location(final))
		}
		// The file system has no hard links. Look and rename is the next best.
		there, err := f.exists(final)
		if err != nil {
			return err
		}
		if there {
			return fmt.Errorf("another object has just stored %s: the next attempt will take another name", f.Location(final))
		}
	}
	if err := f.root.Rename(temp, final); err != nil {
		return fmt.Errorf("give the backup its name %s: %w", f.Location(final), explain(err, f.dir))
	}
	return f.sync()
}
