// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package hash

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// The digest of "abc", from the standard that defines SHA-256.
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestWriterAndReadAgree(t *testing.T) {
	var out strings.Builder
	w := NewWriter(&out)
	for _, piece := range []string{"a", "", "bc"} {
		if _, err := io.WriteString(w, piece); err != nil {
			t.Fatal(err)
		}
	}
	want := Sum{Bytes: 3, SHA256: abc}
	if got := w.Sum(); got != want || out.String() != "abc" {
		t.Errorf("got %v and passed on %q", got, out.String())
	}
	got, err := Read(t.Context(), strings.NewReader("abc"))
	if err != nil || got != want {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// shortWriter takes one byte and then has no room.
type shortWriter struct{}

func (shortWriter) Write([]byte) (int, error) { return 1, io.ErrShortWrite }

func TestWriterSumsOnlyWhatWasTaken(t *testing.T) {
	w := NewWriter(shortWriter{})
	if _, err := w.Write([]byte("abc")); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	if got := w.Sum().Bytes; got != 1 {
		t.Errorf("summed %d bytes, want 1", got)
	}
}

func TestReadStopsWhenItIsToldTo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, strings.NewReader("abc")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
