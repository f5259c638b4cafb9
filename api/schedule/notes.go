// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The kinds of notes. NoteZoneSign is about the time zone, the others are about the schedule.
const (
	NoteEitherDay   = "EitherDay"
	NoteUnevenStep  = "UnevenStep"
	NoteFrequent    = "Frequent"
	NoteClockChange = "ClockChange"
	NoteZoneSign    = "ZoneSign"
)

const (
	// rarely is the shortest distance between two backups that raises no note.
	rarely = 15 * time.Minute
	// maxChanges is how many clock changes are told of, at most; most zones have two in a year.
	maxChanges = 4
)

// Note is something true of an accepted schedule that its writer may not have meant.
type Note struct {
	Kind    string
	Message string // begins with a verb, for use behind a path; one line of at most 200 bytes
}

// Notes returns what is worth a warning, looking a year ahead of now.
func (s *Schedule) Notes(now time.Time) []Note {
	var notes []Note
	if s.either {
		notes = append(notes, Note{NoteEitherDay, fmt.Sprintf(
			"runs on %s of the month and also on every %s: where both day fields are set, either is enough",
			counted("day", s.dom), list(s.dow, weekdayName))})
	}
	notes = append(notes, s.unevenSteps()...)
	if shortest, _ := s.distances(now); shortest < rarely {
		notes = append(notes, Note{NoteFrequent, fmt.Sprintf(
			"has runs only %s apart, more often than every 15 minutes", minutes(shortest))})
	}
	notes = append(notes, s.clockChanges(now)...)
	return append(notes, s.zoneSign()...)
}

func minutes(d time.Duration) string {
	if d == time.Minute {
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// unevenSteps tells of steps over a whole field that do not divide it, so that the distance is another
// where the field begins anew.
func (s *Schedule) unevenSteps() []Note {
	var notes []Note
	sets := [5]uint64{s.minute, s.hour, s.dom, s.month, s.dow}
	for i, text := range strings.Fields(s.expr) {
		f := fields[i]
		for item := range strings.SplitSeq(text, ",") {
			values, step, _ := strings.Cut(item, "/")
			n, stepped := number(step)
			if !stepped || (f.max-f.min+1)%n == 0 || !f.open(values) {
				continue
			}
			notes = append(notes, Note{NoteUnevenStep, fmt.Sprintf(
				"runs at %s, which is not every %d: the step does not divide the %s field",
				f.listed(sets[i]), n, f.name)})
			break
		}
	}
	return notes
}

// open reports whether values, which stand in front of a step, reach to the end of the field because
// nothing else is said, or are all of it.
func (f field) open(values string) bool {
	low, high, ranged := strings.Cut(values, "-")
	from, _ := f.value(low, "")
	to, _ := f.value(high, "")
	return !ranged || from == f.min && to == f.max
}

// listed writes the values of a field as people say them.
func (f field) listed(set uint64) string {
	switch f.name {
	case "day of week":
		return list(set, weekdayName)
	case "month":
		return list(set, monthName)
	}
	return f.name + " " + list(set, strconv.Itoa)
}

// clockChanges tells of local times of the schedule that come twice or never in the next year.
func (s *Schedule) clockChanges(now time.Time) []Note {
	if s.real && s.hour == allHours {
		return nil // runs all the time anyway
	}
	var notes []Note
	until := now.AddDate(1, 0, 0)
	before := s.spanAt(now)
	for range maxSpans {
		if before.end.IsZero() || !before.end.Before(until) || len(notes) == maxChanges {
			break
		}
		after := s.spanAt(before.end)
		if text := s.clockChange(before, after); text != "" {
			notes = append(notes, Note{NoteClockChange, text})
		}
		before = after
	}
	return notes
}

// clockChange tells what the change from one span to the next does to the schedule, "" if nothing.
func (s *Schedule) clockChange(before, after span) string {
	from, to := before.shows(before.end), after.shows(before.end)
	what, then := "does not exist", "it runs at "+to.Format("15:04")+" instead"
	if to.Before(from) {
		from, to = to, from
		what, then = "comes twice", "it runs the first time only"
	}
	first, ok := s.first(wholeMinuteFrom(from))
	if !ok || !first.Before(to) {
		return ""
	}
	switch {
	case s.real && what == "comes twice":
		then = "it runs both times"
	case s.real:
		then = "it does not run then"
	case first.YearDay() != to.YearDay() && what != "comes twice":
		then += ", on " + to.Format(time.DateOnly)
	}
	times := first.Format("15:04")
	if last, _ := s.last(to.Add(-1)); last.After(first) {
		times += " (and up to " + last.Format("15:04") + ")"
	}
	return fmt.Sprintf("runs at %s, which %s in %s on %s; %s", times, what, s.zone, first.Format(time.DateOnly), then)
}

// zoneSign explains the names that mean the opposite of what they seem to say.
func (s *Schedule) zoneSign() []Note {
	hours, ok := strings.CutPrefix(s.zone.String(), "Etc/GMT")
	if !ok || strings.Trim(hours, "+-0") == "" {
		return nil
	}
	side, sign := "behind", "-"
	if hours[0] == '-' {
		side, sign = "ahead of", "+"
	}
	return []Note{{NoteZoneSign, fmt.Sprintf(
		"is %s hours %s UTC (UTC%s%s): in these names the sign is the other way round; 'Etc/GMT%s%s' is the opposite",
		hours[1:], side, sign, hours[1:], sign, hours[1:])}}
}
