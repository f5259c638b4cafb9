// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package closing watches a dump go by and tells whether it is whole: a dump
// tool that ends well writes a closing line, one that was cut off does not.
package closing

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// tailBytes is enough for the closing line with its date and some blank
	// lines after it.
	tailBytes = 512
	// FloorBytes is less than the header and the footer that every supported
	// tool writes around an empty database (about 1,200 bytes), so anything
	// smaller is no dump.
	FloorBytes = 512
)

// line begins the last line of every dump by mysqldump and mariadb-dump.
var line = []byte("-- Dump completed")

// Errors of Watcher.Err.
var (
	ErrTooSmall = errors.New("the dump is too small to be one")
	ErrNoLine   = errors.New("the dump does not end with its closing line '-- Dump completed', so it was cut off")
)

// Watcher is a writer that counts the bytes of a dump and keeps its end.
type Watcher struct {
	bytes int64
	tail  []byte
}

// Write takes note of p and never fails.
func (w *Watcher) Write(p []byte) (int, error) {
	w.bytes += int64(len(p))
	if len(p) >= tailBytes {
		w.tail = append(w.tail[:0], p[len(p)-tailBytes:]...)
		return len(p), nil
	}
	if over := len(w.tail) + len(p) - tailBytes; over > 0 {
		w.tail = append(w.tail[:0], w.tail[over:]...)
	}
	w.tail = append(w.tail, p...)
	return len(p), nil
}

// Bytes is how much has gone by.
func (w *Watcher) Bytes() int64 { return w.bytes }

// Err is nil if what has gone by is a whole dump, and says why not otherwise.
func (w *Watcher) Err() error {
	if w.bytes < FloorBytes {
		return fmt.Errorf("%w: %d bytes, at least %d are expected", ErrTooSmall, w.bytes, FloorBytes)
	}
	end := bytes.TrimRight(w.tail, " \t\r\n")
	if !bytes.HasPrefix(end[bytes.LastIndexByte(end, '\n')+1:], line) {
		return ErrNoLine
	}
	return nil
}
