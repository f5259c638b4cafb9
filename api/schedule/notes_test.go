// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotes(t *testing.T) {
	either := func(text string) Note {
		return Note{NoteEitherDay, "runs on " + text + ": where both day fields are set, either is enough"}
	}
	uneven := func(text string) Note { return Note{NoteUnevenStep, "means " + text + " field"} }
	frequent := func(text string) Note {
		return Note{NoteFrequent, "has runs only " + text + " min apart, which is more often than every 15 minutes"}
	}
	change := func(text string) Note { return Note{NoteClockChange, "runs at " + text} }
	cases := map[string]struct {
		expr, zone string
		want       []Note
	}{
		"nothing to say":             {"0 12 * * *", "Europe/Berlin", nil},
		"hourly follows real time":   {"0 * * * *", "Europe/Berlin", nil},
		"every 15 minutes is fine":   {"7/15 * * * *", "UTC", nil},
		"a step in a range is meant": {"0 8-18/5 * * MON-FRI/2", "UTC", nil},
		"a step that divides":        {"0 */8 * */3 *", "UTC", nil},
		"a step from a value":        {"5/35 1 * * *", "UTC", []Note{uneven("minutes 5 and 40 and not every 35, because the step does not divide the minute")}},
		"days in steps": {"0 2 */2 * *", "UTC", []Note{
			uneven("days 1, 3, 5, 7, 9, 11, 13, 15, … and 31 and not every 2, because the step does not divide the day of month")}},
		"several fields in steps": {"0 */5 * */7 */4", "UTC", []Note{
			uneven("hours 0, 5, 10, 15 and 20 and not every 5, because the step does not divide the hour"),
			uneven("January and August and not every 7, because the step does not divide the month"),
			uneven("Sunday and Thursday and not every 4, because the step does not divide the day of week")}},
		"either day field":                   {"0 2 13 * 5", "UTC", []Note{either("day 13 of the month and also on every Friday")}},
		"two runs close":                     {"0,10 2 * * *", "UTC", []Note{frequent("10")}},
		"close over midnight":                {"0,55 0,23 * * *", "UTC", []Note{frequent("5")}},
		"close over midnight on no two days": {"0,50 0,23 1 2 *", "UTC", nil},
		"skipped and doubled": {"30 2 * * *", "Europe/Berlin", []Note{
			change("02:30, which does not exist in Europe/Berlin on 2026-03-29; it runs at 03:00 instead"),
			change("02:30, which comes twice in Europe/Berlin on 2026-10-25; it runs the first time only")}},
		"skipped and doubled in real time": {"0 */2 * * *", "Europe/Berlin", []Note{
			change("02:00, which does not exist in Europe/Berlin on 2026-03-29; it does not run then"),
			change("02:00, which comes twice in Europe/Berlin on 2026-10-25; it runs both times")}},
		"several in one gap": {"*/20 2 29 3 *", "Europe/Berlin", []Note{
			change("02:00 (and more before 03:00), which does not exist in Europe/Berlin on 2026-03-29; it runs at 03:00 instead")}},
		"not on that weekday": {"30 2 * * MON-FRI", "Europe/Berlin", nil},
		"midnight skipped": {"0 0 * * FRI", "Africa/Cairo", []Note{
			change("00:00, which does not exist in Africa/Cairo on 2026-04-24; it runs at 01:00 instead")}},
		"the end of a day skipped": {"30 23 * * SAT", "America/Scoresbysund", []Note{
			change("23:30, which does not exist in America/Scoresbysund on 2026-03-28; it runs at 00:00 instead, on 2026-03-29"),
			change("23:30, which comes twice in America/Scoresbysund on 2026-10-24; it runs the first time only")}},
		"half an hour": {"15 2 * * *", "Australia/Lord_Howe", []Note{
			change("02:15, which does not exist in Australia/Lord_Howe on 2026-10-04; it runs at 02:30 instead")}},
		"the sign of an offset": {"0 12 * * *", "Etc/GMT-14", []Note{{NoteZoneSign,
			"means UTC+14, which is ahead of UTC, as the sign in such a name is the other way round; the opposite is 'Etc/GMT+14'"}}},
		"no offset has no sign": {"0 12 * * *", "Etc/GMT-0", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := mustParse(t, tc.expr, tc.zone).Notes(today)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("notes on %s (-want +got):\n%s", tc.expr, diff)
			}
			for _, n := range got {
				checkMessage(t, tc.expr, n.Message)
			}
		})
	}
}
