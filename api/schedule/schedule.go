// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// MaxCount is how far missed runs are counted; a Count above it means "more".
const MaxCount = 100

const (
	// maxYear is the last year that RFC 3339, and so a status, can hold.
	maxYear = 9999
	// star is the bit by which the parser marks a field as unrestricted.
	star = 1 << 63
	// usualDates is how many run dates decide what is usual: a month of daily ones and one more.
	usualDates = 32
	// usualYears ends that look before the rare exceptions, such as the missing 29 February of 2100.
	usualYears = 5
)

// Count is a number of runs from 0 to MaxCount, or MaxCount+1 for any number above.
type Count int

// String returns the number in words that stay true above MaxCount.
func (c Count) String() string {
	if c > MaxCount {
		return fmt.Sprintf("more than %d", MaxCount)
	}
	return fmt.Sprint(int(c))
}

// Schedule is a cron expression in a time zone. It never changes and may be shared.
type Schedule struct {
	calendar
	expr string // five fields, descriptors resolved
	zone *time.Location
	real bool // follows real time, else the wall clock
}

// Parse reads expr, five cron fields or a descriptor, in the IANA zone; an empty zone means UTC.
// The error names what is wrong and what to write, in the words of CheckExpression or CheckZone.
func Parse(expr, zone string) (*Schedule, error) {
	if zone == "" {
		zone = "UTC"
	}
	if err := CheckZone(zone); err != nil {
		return nil, fmt.Errorf("time zone: %w", err)
	}
	location, err := load(zone)
	if err != nil {
		return nil, err
	}
	s, err := parse(expr)
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	s.zone = location
	return s, nil
}

// parse does what Parse does, without a zone.
func parse(expr string) (*Schedule, error) {
	if err := checkText(expr); err != nil {
		return nil, err
	}
	if fields, ok := descriptors[expr]; ok {
		expr = fields
	}
	spec, err := readFields(expr)
	if err != nil {
		return nil, err
	}
	s := &Schedule{expr: expr, real: strings.HasPrefix(strings.Fields(expr)[1], "*")}
	s.calendar = calendar{
		minute: spec.Minute &^ star, hour: spec.Hour &^ star,
		dom: spec.Dom &^ star, month: spec.Month &^ star, dow: spec.Dow &^ star,
		either: (spec.Dom|spec.Dow)&star == 0,
	}
	if !s.comes() {
		return nil, errors.New("must name a date that exists in one of its months; " +
			"to keep a backup manual, set suspend: true")
	}
	return s, nil
}

// readFields asks the parser, which is known to panic on texts that checkText refuses.
func readFields(expr string) (spec *cron.SpecSchedule, err error) {
	unread := errors.New("must be " + example)
	defer func() {
		if recover() != nil {
			spec, err = nil, unread
		}
	}()
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	read, err := parser.Parse(expr)
	if spec, ok := read.(*cron.SpecSchedule); ok && err == nil {
		return spec, nil
	}
	return nil, unread
}

// Location returns the time zone, for showing runs as the user's clock does.
func (s *Schedule) Location() *time.Location { return s.zone }

// Next returns the first run strictly after the given time, in UTC; false means never (none up to
// the year 9999).
func (s *Schedule) Next(after time.Time) (time.Time, bool) {
	if after.Before(time.Time{}) {
		after = time.Time{}
	}
	if after.Year() > maxYear {
		return time.Time{}, false
	}
	run, ok := s.next(after)
	return run, ok && run.Year() <= maxYear
}

func (s *Schedule) next(after time.Time) (time.Time, bool) {
	if !s.real {
		local, ok := s.first(wholeMinuteFrom(s.reached(after)))
		return s.instant(local), ok
	}
	for range maxSpans {
		span := s.spanAt(after.Add(1))
		local, ok := s.first(wholeMinuteFrom(span.shows(after.Add(1))))
		run := span.at(local)
		if !ok || !span.endsBefore(run) {
			return run, ok
		}
		// Whatever lies more than maxOffset before run shows less than local. It shows no time again
		// that was passed already, unless the span is shorter than the clock can be turned back.
		near := run.Add(-2 * maxOffset)
		if span.end.Sub(after) < 2*maxOffset || near.Before(span.end) {
			near = span.end
		}
		after = near.Add(-1)
	}
	return time.Time{}, false
}

// previous returns the last run at or before the given time.
func (s *Schedule) previous(at time.Time) (time.Time, bool) {
	if !s.real {
		local, ok := s.last(s.reached(at).Add(-1))
		return s.instant(local), ok
	}
	for range maxSpans {
		span := s.spanAt(at)
		local, ok := s.last(span.shows(at))
		run := span.at(local)
		if !ok || !span.startsAfter(run) {
			return run, ok
		}
		near := run.Add(2 * maxOffset) // as in next, the other way round
		if at.Sub(span.start) < 2*maxOffset || near.After(span.start) {
			near = span.start
		}
		at = near.Add(-1)
	}
	return time.Time{}, false
}

// Latest returns the newest run in (after, now] and how many runs lie there; false means none. Its
// cost does not grow with the distance: beyond MaxCount it stops counting.
func (s *Schedule) Latest(after, now time.Time) (run time.Time, missed Count, ok bool) {
	if now.Before(time.Time{}) || now.Year() > maxYear {
		return time.Time{}, 0, false
	}
	run, ok = s.previous(now)
	if !ok || !run.After(after) {
		return time.Time{}, 0, false
	}
	for at := after; missed <= MaxCount; missed++ {
		next, more := s.Next(at)
		if !more || next.After(now) {
			break
		}
		at = next
	}
	return run, missed, true
}

// Between returns the runs in [from, to] in order, at most n of them.
func (s *Schedule) Between(from, to time.Time, n int) []time.Time {
	var runs []time.Time
	for at := from.Add(-1); len(runs) < n; {
		run, ok := s.Next(at)
		if !ok || run.After(to) {
			break
		}
		runs = append(runs, run)
		at = run
	}
	return runs
}

// Interval returns the longest distance between two neighbouring runs that is usual around now, clock
// changes apart: whoever waits longer than that for a run waits in vain. For Monday to Friday it is
// the weekend's three days.
func (s *Schedule) Interval(now time.Time) time.Duration {
	_, longest := s.distances(now)
	return longest
}

// distances returns the shortest and the longest distance between neighbouring runs, from the run
// date before now over the usual number of dates.
func (s *Schedule) distances(now time.Time) (shortest, longest time.Duration) {
	shortest = time.Duration(1<<63 - 1)
	note := func(d time.Duration) { shortest, longest = min(shortest, d), max(longest, d) }
	opens, _ := s.minuteFrom(0)
	closes, _ := s.minuteUpTo(minutesPerDay - 1)
	for at := opens; at < closes; {
		next, _ := s.minuteFrom(at + 1)
		note(time.Duration(next-at) * time.Minute)
		at = next
	}
	shown := s.spanAt(now).shows(now)
	date, ok := s.last(shown)
	if !ok {
		date, _ = s.first(wholeMinuteFrom(shown))
	}
	for i := range usualDates {
		closing := date.Truncate(24 * time.Hour).Add(time.Duration(closes) * time.Minute)
		date, ok = s.first(closing.Add(time.Minute))
		if !ok || i > 0 && date.After(shown.AddDate(usualYears, 0, 0)) {
			break
		}
		note(date.Sub(closing))
	}
	return shortest, longest
}
