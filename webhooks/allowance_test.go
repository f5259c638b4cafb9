// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"testing"
	"time"
)

func TestTheAllowanceOfAnAddress(t *testing.T) {
	now := time.Unix(1000, 0)
	all := &allowances{of: map[string]*allowance{}}
	spend := func(address string, frames int, wantOK, wantFirst bool) {
		t.Helper()
		if ok, first := all.spend(address, spent{frames: frames}, now); ok != wantOK || first != wantFirst {
			t.Errorf("%d frames of %s: got %t, %t; want %t, %t", frames, address, ok, first, wantOK, wantFirst)
		}
	}
	trust := func(address string, want bool) {
		t.Helper()
		if got := !all.distrusted(address, now); got != want {
			t.Errorf("%s is trusted: %t, want %t", address, got, want)
		}
	}
	spend("a", mostFrames, true, false)
	trust("a", true)
	spend("a", 1, false, true)
	spend("a", 1, false, false)
	trust("a", false)
	trust("b", true)
	spend("b", mostFrames, true, false)
	all.earn("b", spent{frames: 7})
	spend("b", 7, true, false)
	all.earn("b", spent{frames: 2 * mostFrames})
	spend("b", mostFrames, true, false) // nobody saves up
	all.earn("c", spent{frames: 5})
	spend("c", mostFrames+1, false, true)

	now = now.Add(renewal)
	spend("a", mostFrames, true, false)
	trust("a", false)
	now = now.Add(distrust)
	trust("a", true)
	spend("d", 1, true, false)
	if len(all.of) != 1 {
		t.Errorf("%d addresses are kept, want the one that sends", len(all.of))
	}
}

func TestOnlyAnswersPayForWindows(t *testing.T) {
	now := time.Unix(1000, 0)
	all := &allowances{of: map[string]*allowance{}}
	spend := func(s spent, want bool) {
		t.Helper()
		if ok, _ := all.spend("a", s, now); ok != want {
			t.Errorf("%+v: got %t; left is %+v", s, ok, all.of["a"].left)
		}
	}
	spend(spent{windows: mostFrames - 1}, true)
	all.earn("a", spent{windows: 2 * mostWindows})
	spend(spent{windows: mostWindows}, true)
	spend(spent{windows: 1}, true) // which the last frame pays for
	spend(spent{windows: 1}, false)
	all.earn("a", spent{windows: 5})
	spend(spent{frames: 1}, false) // windows pay for nothing else
}
