// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// distrusted is how long an address has to wait for its turn after it was
	// hung up on: a new connection costs a handshake, so else hanging up would
	// be no relief.
	distrusted = 10 * time.Second
	// turn is the time between two of its connections.
	turn = 50 * time.Millisecond
	// longestQueue is how long it waits at most, which an API server at the
	// same address has the time for.
	longestQueue = 2 * time.Second
)

// turns are of the addresses that were hung up on.
type turns map[string]*queue

type queue struct {
	until time.Time
	turn  *rate.Limiter
}

// distrust makes an address wait, and reports whether it did not yet.
func (t turns) distrust(address string, now time.Time) bool {
	for other, q := range t {
		if now.After(q.until) {
			delete(t, other)
		}
	}
	q, known := t[address]
	if !known {
		q = &queue{turn: rate.NewLimiter(rate.Every(turn), 1)}
		t[address] = q
	}
	q.until = now.Add(distrusted)
	return !known
}

// wait is how long the next connection of an address has to wait for its turn.
// It has none if too many wait already.
func (t turns) wait(address string, now time.Time) (wait time.Duration, ok bool) {
	q, known := t[address]
	if !known || now.After(q.until) {
		return 0, true
	}
	reservation := q.turn.ReserveN(now, 1)
	if wait = reservation.DelayFrom(now); wait > longestQueue {
		reservation.CancelAt(now)
		return 0, false
	}
	return wait, true
}
