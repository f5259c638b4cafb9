// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestProgressInALog has a line at the start, one every ten seconds, one when it
// begins to wait, and one at the end.
func TestProgressInALog(t *testing.T) {
	var out bytes.Buffer
	clock := clocktesting.NewFakeClock(noon)
	p := newProgress(&out, clock)
	b := p.begin("backupjobs: store as v1", 200)
	for range 150 {
		clock.Step(100 * time.Millisecond)
		b.add(1)
	}
	b.say("waiting: connection refused")
	b.say("waiting: connection refused")
	b.say("")
	b.add(50)
	b.end()
	want := `backupjobs: store as v1
backupjobs: store as v1: 100 of 200 objects (50%)
backupjobs: store as v1: 150 of 200 objects (75%); waiting: connection refused
backupjobs: store as v1: 200 objects in 15s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestProgressOnATerminal redraws two bars in place, ten times a second at most,
// and never wraps a line.
func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	clock := clocktesting.NewFakeClock(noon)
	p := newProgress(&out, clock)
	p.width = func() int { return 72 }
	a, b := p.begin("a", 4), p.begin("b", 0)
	clock.Step(4 * time.Second)
	a.add(1)
	b.add(7) // too soon to be drawn
	clock.Step(time.Second)
	b.say("a note that is too long for the terminal and must be cut")
	a.end()
	b.end()
	want := "a [=======                       ] 1 of 4 objects (25%), 12s left\n" +
		"b [..............................] 0 objects\n" +
		"\x1b[2A\x1b[J" +
		"a [=======                       ] 1 of 4 objects (25%), 15s left\n" +
		"b [..............................] 7 objects; a note that is too long f\n" +
		"\x1b[2A\x1b[J" +
		"a: 1 objects in 5s\n" +
		"b [..............................] 7 objects; a note that is too long f\n" +
		"\x1b[1A\x1b[J" +
		"b: 7 objects in 5s\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
