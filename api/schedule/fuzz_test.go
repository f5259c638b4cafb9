// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

func FuzzParse(f *testing.F) {
	for _, expr := range []string{
		"0 2 * * *", "*/15 * * * MON-FRI", "0 0 29 2 *", "0 0 30 2 0", "0 6 24-31 * 3", "@daily", "@every 6h", "TZ=0",
		"CRON_TZ=UTC", "CRON_TZ=Asia/Tokyo 0 2 * * *", "*/2****", ", * * * *", "“0 2 * * *”", "0\u00a02 * * *", "\xff",
		"0 0 L * 5#2", "7-3 ? ? ? 7", "1/2/3 1-2-3 *-* */0 */99999999999999999999", "* */2 31 4,6 ?",
	} {
		f.Add(expr, "Europe/Berlin", int64(1774746000), int64(86400))
		f.Add(expr, "", int64(-62135596800), int64(1)<<60)
	}
	f.Fuzz(func(t *testing.T, expr, zone string, after, length int64) {
		s, err := Parse(expr, zone)
		exprErr := CheckExpression(expr)
		if exprErr != nil {
			checkMessage(t, expr, exprErr.Error())
		}
		if good := exprErr == nil && (zone == "" || CheckZone(zone) == nil); good != (err == nil) {
			t.Fatalf("Parse(%q, %q): %v, but the checks say %v", expr, zone, err, good)
		}
		if err != nil {
			return
		}
		checkRuns(t, s, time.Unix(after, 0), time.Unix(after, 0).Add(time.Duration(length)))
		for _, n := range s.Notes(time.Unix(after, 0)) {
			checkMessage(t, expr, n.Message)
		}
		if s.Words() == "" || s.Interval(time.Unix(after, 0)) < time.Minute {
			t.Fatalf("%q reads %q, every %s", expr, s.Words(), s.Interval(time.Unix(after, 0)))
		}
		checkAgainstTheLibrary(t, expr, time.Unix(after, 0).UTC())
	})
}

// checkRuns holds Next, Between and Latest against each other.
func checkRuns(t *testing.T, s *Schedule, after, now time.Time) {
	t.Helper()
	next, ok := s.Next(after)
	if ok && !next.After(after) {
		t.Fatalf("Next(%s) = %s", after, next)
	}
	run, missed, due := s.Latest(after, now)
	if expected := ok && !next.After(now); due != expected || due != (missed > 0) {
		t.Fatalf("next after %s is %s, %v, but in it and %s lie %v, %s", after, next, ok, now, due, missed)
	}
	if due && (run.After(now) || run.Before(next) || missed == 1 && !run.Equal(next)) {
		t.Fatalf("latest of %s runs up to %s is %s, the first is %s", missed, now, run, next)
	}
	if due {
		if further, ok := s.Next(run); ok && !further.After(now) {
			t.Fatalf("latest run up to %s is %s, but %s follows", now, run, further)
		}
	}
}

// checkAgainstTheLibrary compares with the parser's own search, which is right where no clock changes
// and no run is more than five years away.
func checkAgainstTheLibrary(t *testing.T, expr string, after time.Time) {
	t.Helper()
	theirs, err := cron.ParseStandard(expr)
	if err != nil {
		t.Fatalf("%q is accepted, but not by the parser: %v", expr, err)
	}
	s := mustParse(t, expr, "UTC")
	if after.Year() < 1900 || after.Year() > 9000 {
		return
	}
	want := theirs.Next(after)
	if got, ok := s.Next(after); !want.IsZero() && (!ok || !got.Equal(want)) {
		t.Fatalf("%q after %s in UTC: %s, the library says %s", expr, after, got, want)
	}
}

func FuzzZone(f *testing.F) {
	for _, zone := range []string{
		"Europe/Berlin", "UTC", "Local", "", "Asia/Beijing", "europe/rome", "Europe/Rom", "CST", "UTC+8", "+02:00", "-99:99",
		"../UTC", "Europe/Rome ", "posix/UTC", "\xff\x00", "Etc/GMT+8", "etc/gmt+8", "//", "İstanbul",
	} {
		f.Add(zone)
	}
	f.Fuzz(func(t *testing.T, zone string) {
		err := CheckZone(zone)
		if err == nil {
			if _, err := Parse("30 2 * * *", zone); err != nil {
				t.Fatalf("%q is accepted, but does not parse: %v", zone, err)
			}
			return
		}
		checkMessage(t, zone, err.Error())
		if !strings.HasPrefix(err.Error(), "must ") {
			t.Fatalf("%q: %v", zone, err)
		}
	})
}

func FuzzSplitJoin(f *testing.F) {
	for _, old := range []string{
		"CRON_TZ=Europe/Berlin 0 2 * * *", "CRON_TZ= ", "CRON_TZ=", "CRON_TZ=UTC", "TZ=0", "CRON_TZ=A CRON_TZ=B 0 2", "", " ",
	} {
		f.Add(old, "UTC")
		f.Add("0 2 * * *", old)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if expr, zone := SplitZone(a); JoinZone(expr, zone) != a {
			t.Fatalf("%q splits into %q and %q", a, expr, zone)
		}
		if expr, zone := SplitZone(JoinZone(a, b)); CanJoin(a, b) != (expr == a && zone == b) {
			t.Fatalf("%q and %q come back as %q and %q", a, b, expr, zone)
		}
		if sound := b == "" && !strings.HasPrefix(a, oldPrefix) || b != "" && a != "" && !strings.Contains(b, " "); sound && !CanJoin(a, b) {
			t.Fatalf("%q and %q cannot be joined", a, b)
		}
	})
}
