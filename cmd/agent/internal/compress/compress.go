// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package compress is the compression step of a backup: Zstd, Gzip or None.
// Its memory does not depend on the size of the stream.
package compress

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.com/backupjob-operator/api/agent"
)

const (
	// windowBytes bounds how far back the encoder looks. Four MiB compress
	// SQL as well as eight and need half the memory.
	windowBytes = 4 << 20
	// maxWindowBytes is what the decoder accepts: the largest window that a
	// zstd stream for general use has, and at least what was ever written.
	maxWindowBytes = 8 << 20
	// encoders is how many blocks are compressed at once. Two keep up with
	// one dump tool; each more costs memory and gains nothing.
	encoders = 2
)

// Extension returns what follows a dump's name, with the dot; it is empty
// for None. An unknown kind is an error that lists the known ones.
func Extension(kind string) (string, error) {
	switch kind {
	case agent.CompressionZstd:
		return ".zst", nil
	case agent.CompressionGzip:
		return ".gz", nil
	case agent.CompressionNone:
		return "", nil
	}
	return "", fmt.Errorf("the compression %q is not known: use %s, %s or %s",
		kind, agent.CompressionZstd, agent.CompressionGzip, agent.CompressionNone)
}

// NewWriter compresses into w. Close ends the stream; it does not close w.
func NewWriter(kind string, w io.Writer) (io.WriteCloser, error) {
	switch kind {
	case agent.CompressionZstd:
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault),
			zstd.WithWindowSize(windowBytes), zstd.WithEncoderConcurrency(encoders), zstd.WithEncoderCRC(true))
		if err != nil {
			return nil, fmt.Errorf("start zstd: %w", err)
		}
		return z, nil
	case agent.CompressionGzip:
		return gzip.NewWriter(w), nil
	case agent.CompressionNone:
		return plain{w}, nil
	}
	_, err := Extension(kind)
	return nil, err
}

// NewReader decompresses r. Close frees memory; it does not close r.
func NewReader(kind string, r io.Reader) (io.ReadCloser, error) {
	switch kind {
	case agent.CompressionZstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindowBytes), zstd.WithDecoderConcurrency(encoders))
		if err != nil {
			return nil, fmt.Errorf("read zstd: %w", err)
		}
		return z.IOReadCloser(), nil
	case agent.CompressionGzip:
		g, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("read gzip: %w", err)
		}
		return g, nil
	case agent.CompressionNone:
		return io.NopCloser(r), nil
	}
	_, err := Extension(kind)
	return nil, err
}

// plain is the writer of None.
type plain struct{ io.Writer }

// Close does nothing, since nothing is held back.
func (plain) Close() error { return nil }
