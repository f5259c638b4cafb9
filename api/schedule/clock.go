// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

const (
	// maxOffset is farther from UTC than any local clock: the widest in the database are 15:13 west
	// (Alaska before 1867) and 15:13 east (Manila before 1844), the zone format ends at 24:59.
	maxOffset = 26 * time.Hour
	// maxSpans bounds every walk over clock changes. A walk looks at those within days of a candidate,
	// about four, and goes to another only where a change swallows it, which 100 in a row never do.
	maxSpans = 400
)

// span is a stretch of time in which the local clock keeps one offset. A zero end is an open one.
type span struct {
	start, end time.Time
	offset     time.Duration
}

func (s *Schedule) spanAt(t time.Time) span {
	s.step()
	local := t.In(s.zone)
	_, offset := local.Zone()
	start, end := local.ZoneBounds()
	return span{start.UTC(), end.UTC(), time.Duration(offset) * time.Second}
}

// shows returns what the local clock shows at t, which lies in the span.
func (s span) shows(t time.Time) time.Time { return t.UTC().Add(s.offset) }

// at returns when the local clock would show local if it always kept this offset.
func (s span) at(local time.Time) time.Time { return local.Add(-s.offset) }

func (s span) endsBefore(t time.Time) bool { return !s.end.IsZero() && !t.Before(s.end) }

func (s span) startsAfter(t time.Time) bool { return !s.start.IsZero() && t.Before(s.start) }

// reached returns how far the local clock has ever gone by t: it has shown or jumped over every local
// time before the result, and none from there on.
func (s *Schedule) reached(t time.Time) time.Time {
	now := s.spanAt(t)
	top := now.shows(t).Add(1)
	for range maxSpans {
		if now.start.IsZero() || t.Sub(now.start) > 2*maxOffset {
			break
		}
		end := now.start
		now = s.spanAt(end.Add(-1))
		if shown := now.shows(end); shown.After(top) {
			top = shown
		}
	}
	return top
}

// instant returns when the local clock first reaches or passes local.
func (s *Schedule) instant(local time.Time) time.Time {
	now := s.spanAt(local.Add(-maxOffset))
	for range maxSpans {
		if !now.endsBefore(now.at(local)) {
			break
		}
		now = s.spanAt(now.end)
	}
	if t := now.at(local); !now.startsAfter(t) {
		return t
	}
	return now.start // jumped over
}
