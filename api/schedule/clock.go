// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

const (
	// maxTurn is more than any clock was ever turned back: one that is 15:13 fast, the most in the
	// database (Manila before 1844), to one that is as slow (Alaska before 1867).
	maxTurn = 31 * time.Hour
	// maxSpans bounds the walk over clock changes. The longest wait is 8 years of up to four changes and
	// a new year each; six times that leaves room for runs that a change swallows.
	maxSpans = 8 * 5 * 6
)

// span is a stretch of time in which the local clock keeps its distance from UTC. The start and the
// end of the first and the last one are zero.
type span struct {
	start, end time.Time
	offset     time.Duration
}

func (s *Schedule) spanAt(t time.Time) span {
	s.step()
	local := t.In(s.zone)
	_, offset := local.Zone()
	start, end := local.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		// Where Go computes the bounds from a rule, they end after 365 days, which in a leap year is
		// before its last day; no rule changes a clock on that day.
		end = t.Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return span{start.UTC(), end.UTC(), time.Duration(offset) * time.Second}
}

// shows returns what the local clock shows at t, or would if it was this span's.
func (s span) shows(t time.Time) time.Time { return t.UTC().Add(s.offset) }

// holds reports whether t, which is not before the span, is in it.
func (s span) holds(t time.Time) bool { return s.end.IsZero() || t.Before(s.end) }

// next returns the first run after the given time. By the wall clock, passed is how far the clock has
// gone already: what it shows again after it was turned back does not count, and what it jumps over is
// due at the jump.
func (s *Schedule) next(after time.Time) (time.Time, bool) {
	var passed time.Time
	now := s.spanAt(after.Add(-maxTurn))
	for range maxSpans {
		if from := later(now.start, after.Add(1)); now.holds(from) {
			shown := now.shows(from)
			if !s.real {
				shown = later(shown, passed)
			}
			local, ok := s.first(shown)
			run := local.Add(-now.offset)
			if !ok || now.holds(run) {
				return run, ok
			}
			if !s.real && local.Before(s.spanAt(now.end).shows(now.end)) {
				return now.end, true
			}
		}
		passed = later(passed, now.shows(now.end))
		now = s.spanAt(now.end)
	}
	return time.Time{}, false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
