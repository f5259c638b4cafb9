// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	// The group may work with the files too: a restore may run as another
	// user than the backup did, with the volume's group in common.
	folderMode = 0o770
	fileMode   = 0o660
)

// Folder is the place of one object's backups. No path and no link in it
// leads outside.
type Folder struct {
	root *os.Root
	dir  string
	// location is the folder's path relative to the volume's root.
	location string
}

// OpenFolder opens the folder of an object. A folder that does not exist is
// an error that is fs.ErrNotExist.
func OpenFolder(root string, owner Owner) (*Folder, error) {
	return open(root, owner, func(string) error { return nil })
}

// MakeFolder opens the folder of an object and makes it where it is missing.
func MakeFolder(root string, owner Owner) (*Folder, error) {
	return open(root, owner, func(dir string) error {
		if err := os.MkdirAll(dir, folderMode); err != nil {
			return explain(err, root)
		}
		return errors.Join(syncDir(root), syncDir(filepath.Dir(dir)))
	})
}

func open(root string, owner Owner, prepare func(dir string) error) (*Folder, error) {
	if err := errors.Join(checkPathPart("namespace", owner.Namespace), checkPathPart("name", owner.Name)); err != nil {
		return nil, err
	}
	// Without this a volume that is not there would look like an empty one.
	if _, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("the backups' volume is not mounted at %s: %s", root, reason(err))
	}
	dir := filepath.Join(root, owner.Namespace, owner.Name)
	if err := prepare(dir); err != nil {
		return nil, fmt.Errorf("make the folder %s: %w", dir, err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the backups: %w", err)
	}
	return &Folder{root: r, dir: dir, location: path.Join(owner.Namespace, owner.Name)}, nil
}

// reason is what the system says, without the error's kind: a root that is
// missing must not be taken for a folder that is.
func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// Close gives the folder's handle back.
func (f *Folder) Close() error { return f.root.Close() }

// Path is the folder's path, for messages.
func (f *Folder) Path() string { return f.dir }

// Location is a file's path relative to the root of the volume.
func (f *Folder) Location(file string) string { return path.Join(f.location, file) }

// Open opens a file in the folder for reading.
func (f *Folder) Open(file string) (io.ReadCloser, error) {
	if !IsFileName(file) {
		return nil, fmt.Errorf("open %q: a backup's file is named without a folder", file)
	}
	r, err := f.root.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open the backup in %s: %w", f.dir, err)
	}
	return r, nil
}

// exists tells whether there is something of that name.
func (f *Folder) exists(name string) (bool, error) {
	_, err := f.root.Lstat(name)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, fmt.Errorf("look at %s in %s: %w", name, f.dir, err)
}

// remove removes a file; one that is already gone is no error.
func (f *Folder) remove(name string) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", path.Join(f.location, name), explain(err, f.dir))
	}
	return nil
}

// sync makes what happened to the folder's names last.
func (f *Folder) sync() error { return syncDir(f.dir) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	defer func() { _ = d.Close() }()
	// Some network file systems cannot do this and say so; there the
	// server decides when a name lasts.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sync the folder %s: %w", dir, err)
	}
	return nil
}

// RemoveIfEmpty removes the object's folder and its namespace's, if nothing
// is in them any more.
func (f *Folder) RemoveIfEmpty() {
	// Anything in there belongs to somebody else, and that is no error.
	if os.Remove(f.dir) == nil {
		_ = os.Remove(filepath.Dir(f.dir))
	}
}

// explain adds to an error of the file system what can be done about it.
func explain(err error, dir string) error {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("%w: the volume is full (%s): make the claim larger, or keep fewer backups with spec.retention",
			err, free(dir))
	case errors.Is(err, unix.EFBIG):
		return fmt.Errorf("%w: the volume does not take files of this size", err)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("%w: the volume is mounted read-only: check the claim's access modes", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: user %d may not write here: check spec.podTemplate.fsGroup and runAsUser", err, os.Getuid())
	}
	return err
}

// free says how much room the file system of dir has.
func free(dir string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "its room is not known"
	}
	const mib = 1 << 20
	size := uint64(s.Bsize)
	return fmt.Sprintf("%d of %d MiB free", s.Bavail*size/mib, s.Blocks*size/mib)
}
