// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"errors"
	"io"
	"sync"
)

// streams are the two ends of a running tool that are ours. The first
// failure on our side stops the tool, and is what went wrong, whatever the
// tool says about its pipe afterwards.
type streams struct {
	cancel func()

	mu    sync.Mutex
	first error
}

func (s *streams) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = err
	}
	s.cancel()
}

// err is the first failure on our side.
func (s *streams) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// pieceBytes is how much is moved at once; the default of io.Copy costs
// several times as many calls.
const pieceBytes = 256 << 10

// writer takes the tool's output in large pieces.
func (s *streams) writer(w io.Writer) io.Writer { return sink{s, w} }

type sink struct {
	streams *streams
	next    io.Writer
}

// Write passes on and notes a failure.
func (s sink) Write(p []byte) (int, error) {
	n, err := s.next.Write(p)
	if err != nil {
		s.streams.fail(err)
	}
	return n, err
}

// ReadFrom copies with a buffer of our size.
func (s sink) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{writeOnly(s)}, struct{ io.Reader }{r}, make([]byte, pieceBytes))
}

// writeOnly is a sink without ReadFrom.
type writeOnly sink

func (s writeOnly) Write(p []byte) (int, error) { return sink(s).Write(p) }

// reader feeds the tool's input in large pieces.
func (s *streams) reader(r io.Reader) io.Reader { return source{s, r} }

type source struct {
	streams *streams
	next    io.Reader
}

// Read passes on and notes a failure.
func (s source) Read(p []byte) (int, error) {
	n, err := s.next.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.streams.fail(err)
	}
	return n, err
}

// WriteTo copies with a buffer of our size.
func (s source) WriteTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{readOnly(s)}, make([]byte, pieceBytes))
}

// readOnly is a source without WriteTo.
type readOnly source

func (s readOnly) Read(p []byte) (int, error) { return source(s).Read(p) }
