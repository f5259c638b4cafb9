// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"io"
	"time"
)

// heartbeat is how often long work says that it is still alive.
const heartbeat = 15 * time.Second

// watch runs do and tells out when it begins, that it goes on, and how long it
// took.
func watch(out io.Writer, label, what string, do func() error) error {
	started := time.Now()
	fmt.Fprintf(out, "%s: %s\n", label, what)
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("%s: %w", label, err)
			}
			fmt.Fprintf(out, "%s: done in %s\n", label, rounded(time.Since(started)))
			return nil
		case <-tick.C:
			fmt.Fprintf(out, "%s: still at it, %s\n", label, rounded(time.Since(started)))
		}
	}
}

func rounded(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
