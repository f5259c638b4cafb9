// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"log"
	"time"
)

// heartbeat is how often long work says that it is still alive.
const heartbeat = 15 * time.Second

// watch runs do and tells out when it begins, that it goes on, and how long it
// took.
func watch(out *log.Logger, label, what string, do func() error) error {
	started := time.Now()
	out.Printf("%s: %s", label, what)
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
			out.Printf("%s: done in %s", label, rounded(time.Since(started)))
			return nil
		case <-tick.C:
			out.Printf("%s: still at it, %s", label, rounded(time.Since(started)))
		}
	}
}

func rounded(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
