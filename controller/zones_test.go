// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// In every zone a nightly backup is started once for each local date of two
// years, by a controller that wakes when its plan says so. Zones whose clocks
// show the same in these years are one.
func TestEveryZoneGetsOneRunForEachDate(t *testing.T) {
	t.Parallel()
	first, end := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	clocks := map[string]bool{}
	for _, zone := range schedule.Zones() {
		location := locationOf(t, zone)
		if clock := clockOf(location, first, end); !clocks[clock] {
			clocks[clock] = true
			runsOncePerDate(t, "0 0 * * *", zone, location, first, end)
			if strings.Count(clock, "from") > 1 { // it changes in these years, mostly between one and four
				runsOncePerDate(t, "30 2 * * *", zone, location, first, end)
			}
		}
	}
	if len(clocks) < 50 {
		t.Errorf("got %d kinds of clocks; the database has more", len(clocks))
	}
}

func runsOncePerDate(t *testing.T, expr, zone string, location *time.Location, first, end time.Time) {
	t.Helper()
	now := time.Date(first.Year(), 1, 1, 0, 0, 0, 0, location).Add(-time.Second)
	b := nightly(t, func(b *backupv1.BackupJob) {
		b.Spec.Schedule, b.Spec.TimeZone = expr, &zone
		b.Status.ObservedSchedule = &backupv1.ObservedSchedule{Schedule: expr, TimeZone: &zone, Since: second(now)}
	})
	next := decide(facts{now: now, backup: b}).next
	for date := first; date.Before(end); date = date.AddDate(0, 0, 1) {
		p := decide(facts{now: next, backup: b})
		if len(p.start) != 1 || p.skip != nil || next.In(location).Format(time.DateOnly) != date.Format(time.DateOnly) {
			t.Fatalf("%s in %s, %s: got %+v at %s", expr, zone, date.Format(time.DateOnly), p.start, next.In(location))
		}
		b.Status.LastScheduleTime = second(p.start[0].at)
		next = p.next
	}
}

// clockOf is what tells a zone's clock from others: its offset at first, and
// every change of it.
func clockOf(location *time.Location, first, end time.Time) string {
	var clock strings.Builder
	for at := first.AddDate(0, 0, -2); at.Before(end.AddDate(0, 0, 2)); {
		local := at.In(location)
		_, offset := local.Zone()
		fmt.Fprintf(&clock, "%d from %d, ", offset, at.Unix())
		_, until := local.ZoneBounds()
		if until.IsZero() {
			break
		}
		at = until
	}
	return clock.String()
}

func locationOf(t *testing.T, zone string) *time.Location {
	t.Helper()
	s, err := schedule.Parse("0 0 * * *", zone)
	if err != nil {
		t.Fatal(err)
	}
	return s.Location()
}
