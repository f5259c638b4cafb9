// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
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
			"has runs only %d min apart, which is more often than every %d minutes", shortest/time.Minute, rarely/time.Minute)})
	}
	notes = append(notes, s.clockChanges(now)...)
	return append(notes, s.zoneSign()...)
}

// unevenSteps tells of steps to the end of a field that do not divide it, so that the distance is another
// where the field begins anew. A range has an end that its writer chose.
func (s *Schedule) unevenSteps() []Note {
	var notes []Note
	listed := [5]string{counted("minute", s.minute), counted("hour", s.hour), counted("day", s.dom),
		list(s.month, monthName), list(s.dow, weekdayName)}
	for i, text := range strings.Fields(s.expr) {
		f := fields[i]
		for item := range strings.SplitSeq(text, ",") {
			values, step, _ := strings.Cut(item, "/")
			n, stepped := number(step)
			if !stepped || f.size()%n == 0 || strings.Contains(values, "-") {
				continue
			}
			notes = append(notes, Note{NoteUnevenStep, fmt.Sprintf(
				"means %s and not every %d, because the step does not divide the %s field", listed[i], n, f.name)})
			break
		}
	}
	return notes
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
	first, ok := s.first(from)
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
	if second, _ := s.first(first.Add(1)); second.Before(to) {
		times += " (and more before " + to.Format("15:04") + ")"
	}
	return fmt.Sprintf("runs at %s, which %s in %s on %s; %s", times, what, s.zone, first.Format(time.DateOnly), then)
}

// zoneSign explains the names that mean the opposite of what they seem to say.
func (s *Schedule) zoneSign() []Note {
	hours, ok := strings.CutPrefix(s.zone.String(), "Etc/GMT")
	if !ok || strings.Trim(hours, "+-0") == "" {
		return nil
	}
	means, other := "UTC-"+hours[1:]+", which is behind", "-"
	if hours[0] == '-' {
		means, other = "UTC+"+hours[1:]+", which is ahead of", "+"
	}
	return []Note{{NoteZoneSign, fmt.Sprintf(
		"means %s UTC, as the sign in such a name is the other way round; the opposite is 'Etc/GMT%s%s'",
		means, other, hours[1:])}}
}
