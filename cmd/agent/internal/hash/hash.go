// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package hash counts and digests a stream while it goes by.
package hash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// Sum identifies a stream's content.
type Sum struct {
	// Bytes is the length.
	Bytes int64
	// SHA256 is the digest in lower-case hexadecimal.
	SHA256 string
}

// String shows a sum in a log or an error.
func (s Sum) String() string { return fmt.Sprintf("%d bytes, sha256 %s", s.Bytes, s.SHA256) }

// Writer passes a stream on and sums what was taken.
type Writer struct {
	next  io.Writer
	state hash.Hash
	bytes int64
}

// NewWriter returns a Writer that passes on to next.
func NewWriter(next io.Writer) *Writer { return &Writer{next: next, state: sha256.New()} }

// Write passes p on and sums as much of it as next took.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.next.Write(p)
	w.state.Write(p[:n])
	w.bytes += int64(n)
	return n, err
}

// Sum is the sum of what was written up to now.
func (w *Writer) Sum() Sum {
	return Sum{Bytes: w.bytes, SHA256: hex.EncodeToString(w.state.Sum(nil))}
}

// copyBytes is the piece in which a stream is read back.
const copyBytes = 256 << 10

// Read sums r to its end. It stops when ctx is done.
func Read(ctx context.Context, r io.Reader) (Sum, error) {
	w := NewWriter(io.Discard)
	// Only the bare Write of the wrapper is offered, so that the buffer's
	// size is ours.
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, Reader(ctx, r), make([]byte, copyBytes))
	return w.Sum(), err
}

// Reader reads from r until ctx is done.
func Reader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx: ctx, next: r} }

type reader struct {
	ctx  context.Context
	next io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.next.Read(p)
}
