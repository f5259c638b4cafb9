// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"
)

// walk finds the runs in (from, to] the slow way: it looks at the local clock minute by minute and
// remembers how far it has gone. It shares nothing with the package but the parser.
func walk(t *testing.T, expr string, zone *time.Location, from, to time.Time) []time.Time {
	t.Helper()
	parsed, err := cron.ParseStandard(expr)
	if err != nil {
		t.Fatal(err)
	}
	spec := parsed.(*cron.SpecSchedule)
	follows := strings.HasPrefix(strings.Fields(expr)[1], "*")
	var runs []time.Time
	at := from.Truncate(time.Minute).Add(-72 * time.Hour)
	gone := naive(at, zone)
	for ; !at.After(to); at = at.Add(time.Minute) {
		shown := naive(at, zone)
		due := follows && matches(spec, shown)
		for ; gone.Before(shown); gone = gone.Add(time.Minute) {
			due = due || !follows && matches(spec, gone.Add(time.Minute))
		}
		if due && at.After(from) {
			runs = append(runs, at)
		}
	}
	return runs
}

func naive(t time.Time, zone *time.Location) time.Time {
	l := t.In(zone)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
}

func matches(spec *cron.SpecSchedule, local time.Time) bool {
	has := func(set uint64, n int) bool { return set>>n&1 == 1 }
	dom, dow := has(spec.Dom, local.Day()), has(spec.Dow, int(local.Weekday()))
	day := dom || dow
	if has(spec.Dom, 63) || has(spec.Dow, 63) {
		day = dom && dow
	}
	return day && has(spec.Month, int(local.Month())) && has(spec.Hour, local.Hour()) && has(spec.Minute, local.Minute())
}

// changes are days at which the clock of a zone was changed, in many ways.
var changes = []struct {
	zone, day string
}{
	{"Europe/Berlin", "2026-03-29"},
	{"Europe/Berlin", "2026-10-25"},
	{"America/New_York", "2026-03-08"},
	{"America/New_York", "2026-11-01"},
	{"Africa/Cairo", "2026-04-24"},         // midnight does not exist
	{"Africa/Cairo", "2026-10-30"},         // the hour before midnight comes twice
	{"America/Havana", "2026-11-01"},       // midnight comes twice
	{"Asia/Beirut", "2027-03-28"},          // midnight does not exist
	{"Australia/Lord_Howe", "2026-04-05"},  // half an hour comes twice
	{"Australia/Lord_Howe", "2026-10-04"},  // half an hour is skipped
	{"Antarctica/Troll", "2026-03-29"},     // two hours are skipped
	{"Antarctica/Troll", "2026-10-25"},     // two hours come twice
	{"America/Scoresbysund", "2026-03-29"}, // the last hour of a day is skipped
	{"Africa/Casablanca", "2026-02-15"},    // the other way round, for a month
	{"Pacific/Apia", "2011-12-30"},         // a day is skipped
	{"Pacific/Kwajalein", "1993-08-21"},    // a day is skipped
	{"Pacific/Kwajalein", "1969-09-30"},    // 23 hours come twice
	{"America/Caracas", "2016-05-01"},      // half an hour, for good
	{"Asia/Pyongyang", "2018-05-05"},
	{"America/Sao_Paulo", "2018-11-04"}, // midnight does not exist
	{"Asia/Kathmandu", "1986-01-01"},
	{"America/New_York", "2040-12-31"}, // the last day of a leap year in which Go goes by a rule
	{"Etc/UTC", "2026-03-29"},
}

func TestRunsAreThoseOfAWalkMinuteByMinute(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	const seed = 20260329
	random := rand.New(rand.NewPCG(seed, 1))
	for range rounds {
		change := changes[random.IntN(len(changes))]
		expr := randomExpression(random)
		s, err := Parse(expr, change.zone)
		if err != nil {
			if strings.Contains(err.Error(), "suspend") {
				continue
			}
			t.Fatalf("%q: %v", expr, err)
		}
		noon, err := time.Parse(time.DateOnly, change.day)
		if err != nil {
			t.Fatal(err)
		}
		from := noon.Add(time.Duration(random.IntN(96)-72) * time.Hour).Add(time.Duration(random.IntN(3600)) * time.Second)
		to := from.Add(72 * time.Hour)
		want := walk(t, expr, s.Location(), from, to)
		name := fmt.Sprintf("%q in %s after %s", expr, change.zone, from.Format(time.RFC3339))
		if diff := cmp.Diff(want, s.Between(from.Add(1), to, 5000)); diff != "" {
			t.Fatalf("%s: runs (-walked +got):\n%s", name, diff)
		}
		checkLatest(t, name, s, from, to, want)
	}
}

func checkLatest(t *testing.T, name string, s *Schedule, from, to time.Time, want []time.Time) {
	t.Helper()
	run, missed, ok := s.Latest(from, to)
	if ok != (len(want) > 0) || int(missed) != min(len(want), MaxCount+1) {
		t.Fatalf("%s: got %v, %v runs missed; walked over %d", name, ok, missed, len(want))
	}
	if ok && !run.Equal(want[len(want)-1]) {
		t.Fatalf("%s: latest run %s, walked to %s", name, run, want[len(want)-1])
	}
}

func randomExpression(random *rand.Rand) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = randomField(random, f)
	}
	return strings.Join(texts, " ")
}

func randomField(random *rand.Rand, f field) string {
	value := func() int { return f.min + random.IntN(f.size()) }
	step := 1 + random.IntN(f.size())
	a, b := value(), value()
	switch random.IntN(9) {
	case 0, 1, 2:
		return "*"
	case 3:
		return fmt.Sprintf("*/%d", step)
	case 4:
		return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
	case 5:
		return fmt.Sprintf("%d-%d/%d", min(a, b), max(a, b), step)
	case 6:
		return fmt.Sprintf("%d,%d", a, b)
	case 7:
		return fmt.Sprintf("%d/%d", a, step)
	}
	return strconv.Itoa(a)
}

// Whatever the zone does to its clock, a daily backup is made once for each date of its calendar.
func TestADailyScheduleRunsOncePerDateInEveryZone(t *testing.T) {
	zones := Zones()
	if testing.Short() {
		zones = zones[:60]
	}
	for _, expr := range []string{"0 0 * * *", "30 0 * * *", "0 1 * * *", "0 2 * * *", "30 2 * * *", "15 3 * * *", "30 23 * * *"} {
		for _, zone := range zones {
			checkDaily(t, mustParse(t, expr, zone))
		}
	}
}

func checkDaily(t *testing.T, s *Schedule) {
	t.Helper()
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := first.Add(-24 * time.Hour) // in no zone later than the end of 30 December there
	for naive(at, s.Location()).Before(first) {
		at, _ = s.Next(at)
	}
	for date := first; date.Year() < 2028; date = date.AddDate(0, 0, 1) {
		if why := dueOn(s, date, at); why != "" {
			t.Fatalf("%s in %s: run at %s for %s: %s", s.expr, s.Location(), at, date.Format(time.DateOnly), why)
		}
		at, _ = s.Next(at)
	}
}

// dueOn says why a run is not the one of a date: "" if the clock shows the time of day then for the
// first time, or jumps over it.
func dueOn(s *Schedule, date, run time.Time) string {
	wanted := date.Add(time.Duration(s.minutesOfDay()[0]) * time.Minute)
	start, _ := run.In(s.Location()).ZoneBounds()
	switch {
	case naive(run, s.Location()).Before(wanted):
		return "too early"
	case !naive(run.Add(-1), s.Location()).Before(wanted):
		return "too late"
	case run.After(start) && run.Sub(start) < 24*time.Hour && !naive(start.Add(-1), s.Location()).Before(wanted):
		return "the second time"
	}
	return ""
}
