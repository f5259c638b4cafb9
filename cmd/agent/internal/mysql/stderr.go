// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

const (
	// maxLine is the most that is kept of one line of a client's complaints.
	maxLine = 2048
	// shortestSecret is the length from which a password is blotted out.
	// Shorter ones would blot out ordinary words.
	shortestSecret = 4
	blot           = "***"
)

// complaints takes what a client prints to its standard error: it logs every
// line and keeps the last one. No line shows the password.
type complaints struct {
	log    *slog.Logger
	tool   string
	secret string

	mu   sync.Mutex
	rest []byte
	last string
}

// Write takes the client's output in pieces of any size.
func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if room := maxLine - len(c.rest); len(line) > room {
			line = line[:max(room, 0)]
		}
		c.rest = append(c.rest, line...)
		if whole {
			c.take()
		}
		rest = after
	}
	return len(p), nil
}

// take ends a line.
func (c *complaints) take() {
	line := strings.TrimSpace(strings.ToValidUTF8(string(c.rest), "?"))
	c.rest = c.rest[:0]
	if line == "" {
		return
	}
	if len(c.secret) >= shortestSecret {
		line = strings.ReplaceAll(line, c.secret, blot)
	}
	c.last = line
	c.log.Warn("The client says", "tool", c.tool, "line", line)
}

// lastLine is the last line that was not empty.
func (c *complaints) lastLine() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take()
	return c.last
}
