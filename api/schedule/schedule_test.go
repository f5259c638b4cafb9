// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"
)

func mustParse(tb testing.TB, expr, zone string) *Schedule {
	tb.Helper()
	s, err := Parse(expr, zone)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func instant(tb testing.TB, text string) time.Time {
	tb.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

func TestNext(t *testing.T) {
	cases := map[string]struct {
		expr, zone, after, want string
	}{
		"the run itself is not after itself":             {"0 2 * * *", "", "2026-05-01T02:00:00Z", "2026-05-02T02:00:00Z"},
		"a moment before the run is followed by it":      {"0 2 * * *", "", "2026-05-01T01:59:59.999Z", "2026-05-01T02:00:00Z"},
		"no zone means UTC":                              {"0 2 * * *", "", "2026-05-01T00:00:00+09:00", "2026-05-01T02:00:00Z"},
		"the year's end is no border":                    {"0 0 1 1 *", "", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"},
		"29 February is waited for":                      {"0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		"29 February is waited for over 2100":            {"0 0 29 2 *", "", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		"the 31st skips short months":                    {"0 0 31 * *", "", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"},
		"either day field is enough":                     {"0 0 13 * FRI", "", "2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z"},
		"an open day of month leaves the weekday alone":  {"0 0 ? * FRI", "", "2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z"},
		"a stepped day of month is not open":             {"0 0 */10 * FRI", "", "2026-03-06T00:00:00Z", "2026-03-11T00:00:00Z"},
		"a step of one is open":                          {"0 0 */1 * FRI", "", "2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z"},
		"two local times in one gap are one run":         {"0,30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"},
		"a time in the gap and its end are one run":      {"30 2,3 29 3 *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"},
		"the second pass of a doubled hour is no run":    {"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		"the second pass is no run from inside it":       {"45 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T01:45:00Z"},
		"minutely runs in both passes":                   {"*/30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"},
		"every other hour runs in both passes":           {"0 */2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		"every other hour leaves out a skipped one":      {"0 */2 * * *", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T02:00:00Z"},
		"half an hour skipped ends at its half":          {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"},
		"half an hour doubled counts once":               {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
		"a skipped day runs at the start of the next":    {"0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2011-12-30T10:00:00Z"},
		"a zone off by a quarter hour keeps it":          {"0 0 * * *", "Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-01T18:15:00Z"},
		"times before the first year count as its start": {"@yearly", "", "0000-03-01T00:00:00Z", "0002-01-01T00:00:00Z"},
		"the last day of a leap year by rule":            {"0 2 * * *", "Europe/Berlin", "2040-12-31T05:00:00Z", "2041-01-01T01:00:00Z"},
		"a leap year's end by rule is walked over":       {"0 */24 1 7 *", "Europe/Berlin", "2040-12-01T05:00:00Z", "2041-06-30T22:00:00Z"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := mustParse(t, tc.expr, tc.zone).Next(instant(t, tc.after))
			if want := instant(t, tc.want); !ok || !got.Equal(want) {
				t.Errorf("Next(%s) of %s = %s, %v, want %s", tc.after, tc.expr, got, ok, want)
			}
		})
	}
}

func TestNextEndsWithTheYearsThatAStatusCanHold(t *testing.T) {
	s := mustParse(t, "0 0 29 2 *", "Asia/Tokyo")
	for _, after := range []time.Time{instant(t, "9996-03-01T00:00:00Z"), time.Unix(1<<60, 0)} {
		if run, ok := s.Next(after); ok {
			t.Errorf("Next(%s) = %s, want never", after, run)
		}
	}
}

func TestLatest(t *testing.T) {
	cases := map[string]struct {
		expr, after, now, want string
		missed                 Count
	}{
		"none":                         {"0 2 * * *", "2026-05-01T02:00:00Z", "2026-05-02T01:59:59Z", "", 0},
		"the one at now":               {"0 2 * * *", "2026-05-01T02:00:00Z", "2026-05-02T02:00:00Z", "2026-05-02T02:00:00Z", 1},
		"the newest of a few":          {"0 2 * * *", "2026-05-01T02:00:00Z", "2026-05-04T12:00:00Z", "2026-05-04T02:00:00Z", 3},
		"exactly as many as counted":   {"0 * * * *", "2026-05-01T00:00:00Z", "2026-05-05T04:00:00Z", "2026-05-05T04:00:00Z", 100},
		"one more than counted":        {"0 * * * *", "2026-05-01T00:00:00Z", "2026-05-05T05:00:00Z", "2026-05-05T05:00:00Z", 101},
		"a year of minutes":            {"* * * * *", "2025-05-01T00:00:00Z", "2026-05-05T05:00:30Z", "2026-05-05T05:00:00Z", 101},
		"since ever":                   {"0 0 29 2 *", "0001-01-01T00:00:00Z", "2026-05-05T05:00:30Z", "2024-02-29T00:00:00Z", 101},
		"since ever, over a long gap":  {"0 0 29 2 *", "0001-01-01T00:00:00Z", "2104-02-28T05:00:30Z", "2096-02-29T00:00:00Z", 101},
		"now before after":             {"* * * * *", "2026-05-01T02:00:00Z", "2026-04-01T00:00:00Z", "", 0},
		"before the first of the runs": {"* * * * *", "0000-01-01T00:00:00Z", "0000-06-01T00:00:00Z", "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run, missed, ok := mustParse(t, tc.expr, "").Latest(instant(t, tc.after), instant(t, tc.now))
			got := ""
			if ok {
				got = run.Format(time.RFC3339)
			}
			if got != tc.want || missed != tc.missed {
				t.Errorf("got %q and %s missed, want %q and %s", got, missed, tc.want, tc.missed)
			}
		})
	}
	if got := Count(101).String(); got != "more than 100" {
		t.Errorf("Count(101) reads %q", got)
	}
}

func TestBetweenHoldsBothEndsAndTheLimit(t *testing.T) {
	s := mustParse(t, "0 2 * * *", "")
	from, to := instant(t, "2026-05-01T02:00:00Z"), instant(t, "2026-05-03T02:00:00Z")
	want := []time.Time{from, instant(t, "2026-05-02T02:00:00Z"), to}
	if diff := cmp.Diff(want, s.Between(from, to, 10)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:2], s.Between(from, to, 2)); diff != "" {
		t.Errorf("two runs (-want +got):\n%s", diff)
	}
	if got := s.Between(to, from, 10); got != nil {
		t.Errorf("a window that ends before it begins holds %v", got)
	}
}

func TestInterval(t *testing.T) {
	const day = 24 * time.Hour
	cases := map[string]struct {
		expr string
		want time.Duration
	}{
		"daily":                           {"0 2 * * *", day},
		"hourly":                          {"@hourly", time.Hour},
		"every 35 minutes, as they think": {"*/35 * * * *", 35 * time.Minute},
		"weekdays wait over the weekend":  {"0 2 * * MON-FRI", 3 * day},
		"office hours wait over night":    {"*/10 8-17 * * *", 14*time.Hour + 10*time.Minute},
		"monthly waits for long months":   {"@monthly", 31 * day},
		"yearly":                          {"@yearly", 366 * day},
		"a leap day":                      {"0 0 29 2 *", 1461 * day},
		"the season after this one":       {"0 2 * 4-12 *", 91 * day},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := mustParse(t, tc.expr, "Europe/Berlin").Interval(today); got != tc.want {
				t.Errorf("Interval of %s = %s, want %s", tc.expr, got, tc.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	cases := map[string]string{
		"0 2 * * *":           "at 02:00 every day",
		"@hourly":             "at minute 0 of every hour every day",
		"* * * * *":           "every minute of every hour every day",
		"*/15 * * * *":        "every 15 minutes of every hour every day",
		"0,30 8-17 * * 1-5":   "every 30 minutes of hours 8 to 17 on Monday to Friday",
		"0,15,16,17 * * * *":  "at minutes 0 and 15 to 17 of every hour every day",
		"*/35 * * * *":        "at minutes 0 and 35 of every hour every day",
		"0 */6 * * *":         "at 00:00, 06:00, 12:00 and 18:00 every day",
		"0 2 1,15 * *":        "at 02:00 on days 1 and 15 of the month",
		"0 0 29 2 *":          "at 00:00 on day 29 of the month, only in February",
		"0 6 24-31 * 3":       "at 06:00 on days 24 to 31 of the month or on Wednesday, whichever matches",
		"5 4 */2 JAN,JUL *":   "at 04:05 on days 1, 3, 5, 7, 9, 11, 13, 15, … and 31 of the month, only in January and July",
		"0 0 * * SUN,TUE,SAT": "at 00:00 on Sunday, Tuesday and Saturday",
	}
	for expr, want := range cases {
		if got := mustParse(t, expr, "Europe/Berlin").Words(); got != want+", time zone Europe/Berlin" {
			t.Errorf("%s reads\n%s, want\n%s", expr, got, want)
		}
	}
}

// Never is decided by the calendar; here, by looking at every day of a Gregorian cycle.
func TestNeverMeansNotInFourHundredYears(t *testing.T) {
	random := rand.New(rand.NewPCG(400, 1))
	for range 150 {
		expr := "0 0 " + randomField(random, fields[2]) + " " + randomField(random, fields[3]) + " " + randomField(random, fields[4])
		parsed, err := cron.ParseStandard(expr)
		if err != nil {
			t.Fatal(err)
		}
		spec, comes := parsed.(*cron.SpecSchedule), false
		for day := 0; day < 146097 && !comes; day++ {
			comes = matches(spec, time.Date(2000, 1, 1+day, 0, 0, 0, 0, time.UTC))
		}
		if err := CheckExpression(expr); (err == nil) != comes {
			t.Errorf("%s comes: %v, but the check says %v", expr, comes, err)
		}
	}
}

// work counts the steps of a function.
func work(s *Schedule, do func()) int {
	n := 0
	s.steps = &n
	do()
	s.steps = nil
	return n
}

// The costs are counted, not timed: they must not depend on how far the times lie apart, how rare the
// runs are or how often the zone changes its clock.
func TestWorkIsBounded(t *testing.T) {
	const (
		maxNext   = 8 * 5 * (maxMonths + 3) // eight years of spans, and in each the months to come
		maxLatest = (MaxCount + 1 + 32) * maxNext
	)
	ever, now := time.Time{}, instant(t, "2026-05-01T00:00:00Z")
	rare, late := instant(t, "2096-03-01T00:00:00Z"), instant(t, "9999-12-31T00:00:00Z")
	for _, expr := range []string{"* * * * *", "0 2 * * *", "59 23 29 2 *", "0 */24 29 2 *", "* */23 31 12 *", "0 0 */31 2 0"} {
		for _, zone := range []string{"UTC", "Africa/Casablanca", "Asia/Tehran", "America/Scoresbysund", "Asia/Gaza"} {
			s := mustParse(t, expr, zone)
			next := max(work(s, func() { s.Next(ever) }), work(s, func() { s.Next(now) }),
				work(s, func() { s.Next(rare) }), work(s, func() { s.Next(late) }))
			latest, notes := work(s, func() { s.Latest(ever, now) }), work(s, func() { s.Notes(now) })
			if next > maxNext || latest > maxLatest || notes > maxLatest {
				t.Errorf("%s in %s: Next took %d steps of %d, Latest %d and Notes %d of %d",
					expr, zone, next, maxNext, latest, notes, maxLatest)
			}
		}
	}
	const usual = 8
	s := mustParse(t, "0 2 * * *", "Europe/Berlin")
	if n := work(s, func() { s.Next(now) }); n > usual {
		t.Errorf("Next of a daily schedule took %d steps, more than %d", n, usual)
	}
}

func TestALongTextIsRefusedUnread(t *testing.T) {
	long := strings.Repeat("1,", 1<<20) + "1 * * * *"
	allocs := testing.AllocsPerRun(10, func() {
		if CheckExpression(long) == nil || CheckZone(long) == nil {
			t.Error("a text of two megabytes was accepted")
		}
	})
	if allocs > 10 {
		t.Errorf("refusing it took %v allocations", allocs)
	}
}

func TestASharedScheduleAndTheZonesAreSafeForConcurrentUse(t *testing.T) {
	var wait sync.WaitGroup
	shared := mustParse(t, "30 2 * * *", "Europe/Berlin")
	for i := range 8 {
		wait.Go(func() {
			for _, zone := range Zones()[i : i+40] {
				s, err := Parse("0 2 * * *", zone)
				if err != nil {
					t.Error(err)
					return
				}
				s.Latest(today.AddDate(-1, 0, 0), today)
				shared.Next(today)
			}
		})
	}
	wait.Wait()
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("30 2 * * MON-FRI", "Europe/Berlin"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for name, expr := range map[string]string{"daily": "30 2 * * *", "minutely": "* * * * *", "leap day": "0 0 29 2 *"} {
		s := mustParse(b, expr, "Europe/Berlin")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Next(today)
			}
		})
	}
}

func BenchmarkLatest(b *testing.B) {
	s := mustParse(b, "*/5 * * * *", "Europe/Berlin")
	for name, after := range map[string]time.Time{"one missed": today.Add(-5 * time.Minute), "a year missed": today.AddDate(-1, 0, 0)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Latest(after, today)
			}
		})
	}
}
