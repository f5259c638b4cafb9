// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"sync"
	"time"
)

const (
	// mostFrames is how many an address may send within renewal.
	mostFrames = 512
	renewal    = 10 * time.Second
	// mostWindows are of as many requests at a time as a connection may have,
	// each with an answer of 4 MiB that is on its way.
	mostWindows = streams * (4 << 20) / windowBytes
	// distrust is how long an address that sent more gets no HTTP/2 on new
	// connections: else it would begin anew with each.
	distrust = time.Minute
)

// allowances are how many frames each address may send yet, over all of its
// connections.
type allowances struct {
	mu sync.Mutex
	of map[string]*allowance
}

// spent are frames, those of WINDOW_UPDATE apart.
type spent struct{ frames, windows int }

type allowance struct {
	left spent
	// renewed is when the frames were, and distrustedUntil is in the past for
	// most.
	renewed, distrustedUntil time.Time
}

// spend reports whether an address may send so much, and if not, whether this
// is the first time for a while.
func (a *allowances) spend(address string, s spent, now time.Time) (ok, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of[address]
	if one == nil {
		a.forget(now)
		one = &allowance{}
		a.of[address] = one
	}
	if now.Sub(one.renewed) >= renewal {
		one.left.frames, one.renewed = mostFrames, now
	}
	told := min(s.windows, one.left.windows) // of what was sent, and so paid for
	one.left.windows -= told
	if one.left.frames -= s.frames + s.windows - told; one.left.frames >= 0 {
		return true, false
	}
	first = now.After(one.distrustedUntil)
	one.distrustedUntil = now.Add(distrust)
	return false, first
}

// forget drops what says nothing any more.
func (a *allowances) forget(now time.Time) {
	for address, one := range a.of {
		if now.Sub(one.renewed) >= renewal && now.After(one.distrustedUntil) {
			delete(a.of, address)
		}
	}
}

func (a *allowances) earn(address string, s spent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.of[address]; one != nil {
		one.left.frames = min(one.left.frames+s.frames, mostFrames)
		one.left.windows = min(one.left.windows+s.windows, mostWindows)
	}
}

func (a *allowances) distrusted(address string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of[address]
	return one != nil && !now.After(one.distrustedUntil)
}
