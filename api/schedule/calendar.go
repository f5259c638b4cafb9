// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"time"
)

const (
	// minutesPerDay is the size of a calendar day without any clock change: 24 * 60.
	minutesPerDay = 1440
	// maxMonths is the longest wait for a day that comes at all: from March of a leap year over a
	// century without one (2096 to 2104) it is 8 * 12 months, and one more for where it starts.
	maxMonths = 97
	// everyWeek, multiplied with seven bits, repeats them five times: 1 + 1<<7 + 1<<14 + 1<<21 + 1<<28.
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

// comes reports whether any day matches. One leap year decides it for all 400 of the Gregorian
// cycle: it holds every date there is, every month holds every weekday, and the two day fields have
// to agree only where one of them is unrestricted.
func (c *calendar) comes() bool {
	for month := time.January; month <= time.December; month++ {
		if c.days(2000, month) != 0 {
			return true
		}
	}
	return false
}

// days returns the matching days of a month as a bit set.
func (c *calendar) days(year int, month time.Month) uint64 {
	c.step()
	if c.month>>month&1 == 0 {
		return 0
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday()
	length := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	week := (c.dow>>first | c.dow<<(7-first)) & 0x7f
	byWeekday := week * everyWeek << 1
	exist := uint64(1)<<(length+1) - 2
	if c.either {
		return (c.dom | byWeekday) & exist
	}
	return c.dom & byWeekday & exist
}

// first returns the earliest matching minute at or after from, which is a whole minute.
func (c *calendar) first(from time.Time) (time.Time, bool) {
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

// last returns the latest matching minute at or before to.
func (c *calendar) last(to time.Time) (time.Time, bool) {
	year, month, day := to.Date()
	minute := to.Hour()*60 + to.Minute()
	for range maxMonths {
		for days := c.days(year, month) & (uint64(2)<<day - 1); days != 0; {
			d := bits.Len64(days) - 1
			if d != day {
				minute = minutesPerDay - 1
			}
			if m, ok := c.minuteUpTo(minute); ok {
				return time.Date(year, month, d, 0, m, 0, 0, time.UTC), true
			}
			days &^= 1 << d
		}
		year, month, day = time.Date(year, month, 0, 0, 0, 0, 0, time.UTC).Date()
		minute = minutesPerDay - 1
	}
	return time.Time{}, false
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

// minuteUpTo returns the latest matching minute of a day at or before to.
func (c *calendar) minuteUpTo(to int) (int, bool) {
	c.step()
	hour, minute := to/60, to%60
	if rest := c.minute << (63 - minute); c.hour>>hour&1 == 1 && rest != 0 {
		return to - bits.LeadingZeros64(rest), true
	}
	earlier := c.hour & (1<<hour - 1)
	return (bits.Len64(earlier)-1)*60 + bits.Len64(c.minute) - 1, earlier != 0
}
