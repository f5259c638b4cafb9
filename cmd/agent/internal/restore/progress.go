// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"io"
	"log/slog"
)

// progress logs each tenth of a stream that goes by.
type progress struct {
	next  io.Reader
	log   *slog.Logger
	total int64
	bytes int64
	tenth int64
}

// Read passes on and counts.
func (p *progress) Read(data []byte) (int, error) {
	n, err := p.next.Read(data)
	p.bytes += int64(n)
	const tenths = 10
	if p.total <= 0 {
		return n, err
	}
	if tenth := p.bytes * tenths / p.total; tenth > p.tenth {
		p.tenth = tenth
		p.log.Info("The restore goes on", "percent", tenth*tenths, "sentMiB", p.bytes>>20)
	}
	return n, err
}
