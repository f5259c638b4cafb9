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
	// distrust is how long an address that sent more gets no HTTP/2: else it
	// would begin anew with each connection.
	distrust = time.Minute
)

// allowances are how many frames each address may send yet, over all of its
// connections.
type allowances struct {
	mu sync.Mutex
	of map[string]*allowance
}

type allowance struct {
	left    int
	renewed time.Time
	// distrusted is until when.
	distrusted time.Time
}

// spend reports whether an address may send so many frames, and if not,
// whether this is the first time for a while.
func (a *allowances) spend(address string, frames int, now time.Time) (ok, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of[address]
	if one == nil {
		a.forget(now)
		one = &allowance{}
		a.of[address] = one
	}
	if now.Sub(one.renewed) >= renewal {
		one.left, one.renewed = mostFrames, now
	}
	if one.left -= frames; one.left >= 0 {
		return true, false
	}
	first = now.After(one.distrusted)
	one.distrusted = now.Add(distrust)
	return false, first
}

// forget drops what says nothing any more.
func (a *allowances) forget(now time.Time) {
	for address, one := range a.of {
		if now.Sub(one.renewed) >= renewal && now.After(one.distrusted) {
			delete(a.of, address)
		}
	}
}

func (a *allowances) earn(address string, frames int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.of[address]; one != nil {
		one.left = min(one.left+frames, mostFrames)
	}
}

func (a *allowances) distrusted(address string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of[address]
	return one != nil && !now.After(one.distrusted)
}
