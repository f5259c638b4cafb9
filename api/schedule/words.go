// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

const (
	maxTimes  = 6  // times of day that are listed one by one
	maxListed = 10 // parts of a list, which then has less than 80 bytes
	allHours  = 1<<24 - 1
)

// Words says in English when the schedule runs, with the zone.
func (s *Schedule) Words() string {
	text := s.timeWords() + " " + s.dayWords()
	if bits.OnesCount64(s.month) < 12 {
		text += ", only in " + list(s.month, monthName)
	}
	return text + ", time zone " + s.zone.String()
}

func (s *Schedule) timeWords() string {
	perHour := bits.OnesCount64(s.minute)
	if perHour*bits.OnesCount64(s.hour) <= maxTimes {
		var times []string
		for _, m := range s.minutesOfDay() {
			times = append(times, fmt.Sprintf("%02d:%02d", m/60, m%60))
		}
		return "at " + join(times, ", ", " and ")
	}
	hours := "every hour"
	if s.hour != allHours {
		hours = counted("hour", s.hour)
	}
	// Moved down by its step, a set of even steps lacks nothing but its last value.
	every := 60 / perHour
	switch even := s.minute&1 == 1 && s.minute>>every == s.minute&^(1<<(60-every)); {
	case every == 1:
		return "every minute of " + hours
	case even && perHour > 1:
		return fmt.Sprintf("every %d minutes of %s", every, hours)
	}
	return "at " + counted("minute", s.minute) + " of " + hours
}

func (s *Schedule) dayWords() string {
	dates, weekdays := counted("day", s.dom)+" of the month", list(s.dow, weekdayName)
	switch {
	case s.either:
		return "on " + dates + " or on " + weekdays + ", whichever matches"
	case bits.OnesCount64(s.dom) < 31:
		return "on " + dates
	case bits.OnesCount64(s.dow) < 7:
		return "on " + weekdays
	}
	return "every day"
}

// counted writes a set with what it counts: "minutes 0 and 30".
func counted(noun string, set uint64) string {
	if bits.OnesCount64(set) > 1 {
		noun += "s"
	}
	return noun + " " + list(set, strconv.Itoa)
}

// list writes a set as "1 to 5, 8 and 10", shortened in the middle where it is long.
func list(set uint64, name func(int) string) string {
	var parts []string
	for set != 0 {
		from := bits.TrailingZeros64(set)
		to := from + bits.TrailingZeros64(^(set >> from)) - 1
		if to < from+2 {
			to = from
			parts = append(parts, name(from))
		} else {
			parts = append(parts, name(from)+" to "+name(to))
		}
		set &^= 1<<(to+1) - 1
	}
	if n := len(parts); n > maxListed {
		parts = append(parts[:maxListed-2:maxListed-2], "…", parts[n-1])
	}
	return join(parts, ", ", " and ")
}

// join puts a separator between the parts, and another before the last.
func join(parts []string, separator, final string) string {
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], separator) + final + parts[last]
	}
	return strings.Join(parts, separator)
}

func monthName(n int) string { return time.Month(n).String() }

func weekdayName(n int) string { return time.Weekday(n).String() }
