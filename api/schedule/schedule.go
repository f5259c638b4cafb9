// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// MaxCount is how far missed runs are counted; a Count above it means "more".
const MaxCount = 100

const (
	maxYear = 9999    // the last that RFC 3339, and so a status, can hold
	star    = 1 << 63 // the parser's mark of an unrestricted field
	// maxWait is longer than any wait for a run, in seconds: maxMonths of 31 days.
	maxWait = maxMonths * 31 * 24 * 60 * 60
	// usualDates is how many run dates decide what is usual: those of a month, and one more. The look
	// ends after usualYears, before rare exceptions such as the missing 29 February of 2100.
	usualDates, usualYears = 32, 5
)

// Count is a number of runs from 0 to MaxCount, or MaxCount+1 for any number above.
type Count int

// String returns the number, or words that stay true above MaxCount.
func (c Count) String() string {
	if c > MaxCount {
		return fmt.Sprintf("more than %d", MaxCount)
	}
	return strconv.Itoa(int(c))
}

// Schedule is a cron expression in a time zone. It never changes and may be shared.
type Schedule struct {
	calendar
	expr string // five fields, descriptors resolved
	zone *time.Location
	real bool // follows real time, else the wall clock
}

// Parse reads expr, five cron fields or a descriptor, in the IANA zone; an empty zone means UTC.
// Its errors are those of CheckZone and CheckExpression, after the name of what they are about.
func Parse(expr, zone string) (*Schedule, error) {
	if zone == "" {
		zone = "UTC"
	}
	if err := CheckZone(zone); err != nil {
		return nil, fmt.Errorf("time zone %w", err)
	}
	location, err := load(zone)
	if err != nil {
		return nil, err
	}
	s, err := parse(expr)
	if err != nil {
		return nil, fmt.Errorf("schedule %w", err)
	}
	s.zone = location
	return s, nil
}

// CheckExpression judges a schedule of v1: nil, or an error that says what must be written, for use
// behind the path and the value. Its text is one line of at most 200 bytes.
func CheckExpression(expr string) error {
	_, err := parse(expr)
	return err
}

func parse(expr string) (s *Schedule, err error) {
	if err := checkText(expr); err != nil {
		return nil, err
	}
	if text, ok := descriptors[expr]; ok {
		expr = text
	}
	defer func() { // the parser is known to panic, on texts that checkText refuses
		if recover() != nil {
			s, err = nil, errors.New("must be "+example)
		}
	}()
	read, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(expr)
	spec, ok := read.(*cron.SpecSchedule)
	if err != nil || !ok {
		return nil, errors.New("must be " + example)
	}
	s = &Schedule{expr: expr, real: strings.HasPrefix(strings.Fields(expr)[1], "*"), calendar: calendar{
		minute: spec.Minute &^ star, hour: spec.Hour &^ star,
		dom: spec.Dom &^ star, month: spec.Month &^ star, dow: spec.Dow &^ star,
		either: (spec.Dom|spec.Dow)&star == 0,
	}}
	// Any start would do: a wait never exceeds maxMonths in all 400 years of the Gregorian cycle.
	if _, comes := s.first(time.Time{}); !comes {
		return nil, errors.New("must name a day that exists in one of its months, as it never runs otherwise; " +
			"to keep a backup manual, set suspend: true")
	}
	return s, nil
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

// previous returns the last run at or before now, if there is one within maxWait. Next tells for any
// distance whether a run lies within it; the least one is found by halving.
func (s *Schedule) previous(now time.Time) (time.Time, bool) {
	within := func(seconds int) (time.Time, bool) {
		run, ok := s.Next(now.Add(-time.Duration(seconds) * time.Second))
		return run, ok && !run.After(now)
	}
	near, far := 0, maxWait
	for far-near > 1 {
		middle := (near + far) / 2
		if _, ok := within(middle); ok {
			far = middle
		} else {
			near = middle
		}
	}
	return within(far)
}

// Latest returns the newest run in (after, now] and how many runs lie there; false means none. Its
// cost does not grow with the distance: beyond MaxCount it stops counting.
func (s *Schedule) Latest(after, now time.Time) (run time.Time, missed Count, ok bool) {
	for at := after; missed <= MaxCount; missed++ {
		next, more := s.Next(at)
		if !more || next.After(now) {
			return run, missed, missed > 0
		}
		run, at = next, next
	}
	if last, ok := s.previous(now); ok {
		run = last
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
		runs, at = append(runs, run), run
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
// before now over the usual number of dates.
func (s *Schedule) distances(now time.Time) (shortest, longest time.Duration) {
	minutes := s.minutesOfDay()
	closing := time.Duration(minutes[len(minutes)-1]) * time.Minute
	shortest = maxWait * time.Second
	note := func(d time.Duration) { shortest, longest = min(shortest, d), max(longest, d) }
	for i, m := range minutes[1:] {
		note(time.Duration(m-minutes[i]) * time.Minute)
	}
	until := now.AddDate(usualYears, 0, 0)
	if run, ok := s.previous(now); ok {
		now = run
	}
	date := s.spanAt(now).shows(now)
	for i := range usualDates {
		midnight := date.Truncate(24 * time.Hour)
		next, ok := s.first(midnight.Add(24 * time.Hour))
		if !ok || i > 0 && next.After(until) {
			break
		}
		note(next.Sub(midnight) - closing)
		date = next
	}
	return shortest, longest
}
