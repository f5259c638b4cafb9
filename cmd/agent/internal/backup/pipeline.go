// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"io"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"example.com/backupjob-operator/cmd/agent/internal/closing"
	"example.com/backupjob-operator/cmd/agent/internal/compress"
	"example.com/backupjob-operator/cmd/agent/internal/hash"
)

// made is what streaming a dump produced.
type made struct {
	stored hash.Sum
	// dumped is the size before compression.
	dumped int64
}

// pipeline takes a dump in and writes it, compressed and summed, to a file.
type pipeline struct {
	watcher    closing.Watcher
	compressor io.WriteCloser
	sum        *hash.Writer
	progress   progress
}

func newPipeline(compression string, file io.Writer, c clock.PassiveClock, log *slog.Logger) (*pipeline, error) {
	sum := hash.NewWriter(file)
	compressor, err := compress.NewWriter(compression, sum)
	if err != nil {
		return nil, err
	}
	return &pipeline{compressor: compressor, sum: sum, progress: progress{clock: c, log: log, last: c.Now()}}, nil
}

// Write takes a piece of the dump.
func (p *pipeline) Write(data []byte) (int, error) {
	n, err := p.compressor.Write(data)
	if err != nil {
		return n, err
	}
	p.progress.report(p.watcher.Bytes() + int64(n))
	return p.watcher.Write(data)
}

// finish ends the stream and tells what was written, if it was a whole dump.
func (p *pipeline) finish() (made, error) {
	if err := p.compressor.Close(); err != nil {
		return made{}, err
	}
	if err := p.watcher.Err(); err != nil {
		return made{}, err
	}
	return made{stored: p.sum.Sum(), dumped: p.watcher.Bytes()}, nil
}

// progressEvery is how often a long dump says that it goes on.
const progressEvery = 30 * time.Second

// progress logs how far a stream is.
type progress struct {
	clock clock.PassiveClock
	log   *slog.Logger
	last  time.Time
}

func (p *progress) report(bytes int64) {
	if now := p.clock.Now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		p.log.Info("The dump goes on", "dumpedMiB", bytes>>20)
	}
}
