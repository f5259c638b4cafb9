// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package filelock keeps two processes from doing the same work at once. The
// kernel drops a lock with its owner, however that owner ends.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// retryEvery is how often Acquire asks again while someone else holds the lock.
const retryEvery = 100 * time.Millisecond

// Lock is held until Release or the end of the process.
type Lock struct {
	file *os.File
}

// Acquire waits for the lock on path, which it creates if it is missing. It
// calls onWait once, with the id of the holder, if it cannot have it at once.
func Acquire(ctx context.Context, path string, onWait func(pid int)) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for waited := false; ; waited = true {
		err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, whole(syscall.F_WRLCK))
		if err == nil {
			return &Lock{file: f}, nil
		}
		if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EACCES) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if !waited && onWait != nil {
			onWait(Holder(path))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for the lock %s: %w", path, ctx.Err()), f.Close())
		case <-tick.C:
		}
	}
}

// Release gives the lock back. The file stays: removing it would let two
// owners lock two different files of the same name.
func (l *Lock) Release() error {
	return l.file.Close()
}

// Holder is the id of the process that holds the lock on path, or 0.
func Holder(path string) int {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0
	}
	asked := whole(syscall.F_WRLCK)
	err = syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, asked)
	if errors.Join(err, f.Close()) != nil || asked.Type == syscall.F_UNLCK {
		return 0
	}
	return int(asked.Pid)
}

func whole(kind int16) *syscall.Flock_t {
	return &syscall.Flock_t{Type: kind}
}
