// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"time"
)

const (
	// maxMonths is the longest wait for a day that comes at all: 8 years, from one 29 February to the
	// next over a century without a leap year (2096 to 2104), and the month in which it starts.
	maxMonths = 8*12 + 1
	// everyWeek, multiplied with seven bits, repeats them: 1 + 1<<7 + 1<<14 + 1<<21 + 1<<28.
	everyWeek = 0x10204081
)

// calendar holds the values of the five fields as bit sets (bit n stands for the value n) and finds
// matching minutes. Its times are local times without a zone, written as if they were UTC.
type calendar struct {
	minute, hour, dom, month, dow uint64
	either                        bool // both day fields are restricted, so one match is enough

	steps *int // counts units of work where a test wants to know, else nil
}

func (c *calendar) step() {
	if c.steps != nil {
		*c.steps++
	}
}

// first returns the earliest matching minute at or after from, false if no day ever matches.
func (c *calendar) first(from time.Time) (time.Time, bool) {
	from = from.Add(time.Minute - 1).Truncate(time.Minute)
	year, month, day := from.Date()
	minute := from.Hour()*60 + from.Minute()
	for range maxMonths {
		for days := c.days(year, month) >> day << day; days != 0; days &= days - 1 {
			d := bits.TrailingZeros64(days)
			if d != day {
				minute = 0
			}
			if m, ok := c.minuteFrom(minute); ok {
				return time.Date(year, month, d, 0, m, 0, 0, time.UTC), true
			}
		}
		year, month, day = time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC).Date()
		minute = 0
	}
	return time.Time{}, false
}

// days returns the matching days of a month as a bit set.
func (c *calendar) days(year int, month time.Month) uint64 {
	c.step()
	if c.month>>month&1 == 0 {
		return 0
	}
	opens := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday()
	length := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	week := (c.dow>>opens | c.dow<<(7-opens)) & 0x7f
	byWeekday, exist := week*everyWeek<<1, uint64(1)<<(length+1)-2
	if c.either {
		return (c.dom | byWeekday) & exist
	}
	return c.dom & byWeekday & exist
}

// minuteFrom returns the earliest matching minute of a day at or after from.
func (c *calendar) minuteFrom(from int) (int, bool) {
	c.step()
	hour, minute := from/60, from%60
	if rest := c.minute >> minute; c.hour>>hour&1 == 1 && rest != 0 {
		return from + bits.TrailingZeros64(rest), true
	}
	later := c.hour >> (hour + 1) << (hour + 1)
	return bits.TrailingZeros64(later)*60 + bits.TrailingZeros64(c.minute), later != 0
}

// minutesOfDay returns all matching minutes of a day.
func (c *calendar) minutesOfDay() []int {
	var all []int
	for m, ok := c.minuteFrom(0); ok; m, ok = c.minuteFrom(m + 1) {
		all = append(all, m)
	}
	return all
}
