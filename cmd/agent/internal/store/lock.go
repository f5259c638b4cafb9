// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked says that a living attempt holds a file.
var errLocked = errors.New("another attempt is writing the file")

// lock takes the file for this process until it is closed, or until the
// process ends in whatever way. It tells whether the file system can do that.
func lock(f *os.File) (can bool, err error) {
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, errLocked
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
		return false, nil
	default:
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
}

// createTemp makes a temporary file and locks it.
func (f *Folder) createTemp(name string) (*os.File, error) {
	// A clean-up that runs at the same moment may take the file between its
	// making and its locking; then it is made once more.
	const tries = 3
	for range tries {
		file, err := f.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
		if err != nil {
			return nil, fmt.Errorf("make a file in %s: %w", f.dir, explain(err, f.dir))
		}
		_, err = lock(file)
		if err == nil && f.isStill(name, file) {
			return file, nil
		}
		_ = file.Close()
		if err != nil && !errors.Is(err, errLocked) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("make the file %s in %s: %w", name, f.dir, errLocked)
}

// isStill tells whether the name still means the open file.
func (f *Folder) isStill(name string, file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := f.root.Lstat(name)
	return err == nil && os.SameFile(opened, named)
}

// openDead opens a temporary file that no living attempt holds, and locks it.
// A file that is gone is fs.ErrNotExist, one that is held is errLocked; canLock
// says whether the lock means anything on this file system.
func (f *Folder) openDead(name string) (file *os.File, canLock bool, err error) {
	file, err = f.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
		return nil, false, fmt.Errorf("open the leftover %s: %w", name, explain(err, f.dir))
	}
	canLock, err = lock(file)
	if err != nil {
		_ = file.Close()
		return nil, canLock, err
	}
	return file, canLock, nil
}
