// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package verify proves that a stored backup is what was once written.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/backupjob-operator/cmd/agent/internal/closing"
	"example.com/backupjob-operator/cmd/agent/internal/compress"
	"example.com/backupjob-operator/cmd/agent/internal/hash"
	"example.com/backupjob-operator/cmd/agent/internal/store"
)

// copyBytes is the piece in which a dump is read.
const copyBytes = 256 << 10

// Check reads the whole backup once and compares its checksum, decompresses
// it and looks for the dump's closing line.
func Check(ctx context.Context, folder *store.Folder, b store.Backup) error {
	if err := check(ctx, folder, b); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("verify %s: %w", folder.Location(b.File), context.Cause(ctx))
		}
		return fmt.Errorf("the backup %s is damaged: %w", folder.Location(b.File), err)
	}
	return nil
}

func check(ctx context.Context, folder *store.Folder, b store.Backup) error {
	switch b.State {
	case store.StateMissing:
		return errors.New("its file is missing")
	case store.StateWrong:
		return fmt.Errorf("its file has not the %d bytes that were written", b.SizeBytes)
	case store.StateComplete:
	}
	file, err := folder.Open(b.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()

	// The checksum is taken of everything that is read from the file; what
	// the decompressor leaves, if anything, is read after it.
	sum := hash.NewWriter(io.Discard)
	stored := io.TeeReader(hash.Reader(ctx, file), sum)
	var dump closing.Watcher
	dumpErr := decompress(b.Compression, stored, &dump)
	if _, err := io.Copy(io.Discard, stored); err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	switch {
	case sum.Sum() != b.Sum():
		return fmt.Errorf("it has %s, written were %s", sum.Sum(), b.Sum())
	case dumpErr != nil:
		return dumpErr
	case dump.Bytes() != b.DumpSizeBytes:
		return fmt.Errorf("it decompresses to %d bytes, %d were dumped", dump.Bytes(), b.DumpSizeBytes)
	}
	return dump.Err()
}

func decompress(kind string, r io.Reader, dump *closing.Watcher) error {
	plain, err := compress.NewReader(kind, r)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()
	if _, err := io.CopyBuffer(struct{ io.Writer }{dump}, struct{ io.Reader }{plain}, make([]byte, copyBytes)); err != nil {
		return fmt.Errorf("decompress: %w", err)
	}
	return nil
}
