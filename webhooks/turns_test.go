// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"testing"
	"time"
)

func TestWhoWasHungUpOnWaitsForATurn(t *testing.T) {
	now := time.Unix(1000, 0)
	all := turns{}
	wait := func(address string, want time.Duration, wantOK bool) {
		t.Helper()
		if got, ok := all.wait(address, now); got != want || ok != wantOK {
			t.Errorf("%s waits %s, %t; want %s, %t", address, got, ok, want, wantOK)
		}
	}
	wait("a", 0, true)
	wait("a", 0, true)
	if !all.distrust("a", now) || all.distrust("a", now) {
		t.Error("want the first time told, and not the second")
	}
	for next := time.Duration(0); next <= longestQueue; next += turn {
		wait("a", next, true)
	}
	wait("a", 0, false)
	wait("b", 0, true)
	now = now.Add(turn)
	wait("a", longestQueue, true) // who was turned away took no turn
	wait("a", 0, false)
	now = now.Add(distrusted)
	wait("a", 0, true)
	wait("a", 0, true)
	all.distrust("b", now)
	if len(all) != 1 {
		t.Errorf("%d addresses are kept, want the last", len(all))
	}
}
