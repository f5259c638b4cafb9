// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/backupjob-operator/api/schedule"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

// answer is what there is to say about a schedule.
type answer struct {
	schedule *schedule.Schedule
	expr     string
	from     time.Time
	runs     []time.Time
	more     bool
	notes    []schedule.Note
}

// document is the answer for programs.
type document struct {
	Schedule string   `json:"schedule"`
	TimeZone string   `json:"timeZone"`
	Words    string   `json:"words"`
	Runs     []string `json:"runs"`
	Notes    []note   `json:"notes"`
}

type note struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

func (a answer) document() document {
	d := document{
		Schedule: a.expr, TimeZone: a.schedule.Location().String(), Words: a.schedule.Words(),
		Runs: []string{}, Notes: []note{},
	}
	for _, run := range a.runs {
		d.Runs = append(d.Runs, output.Stamp(run))
	}
	for _, n := range a.notes {
		d.Notes = append(d.Notes, note{Kind: n.Kind, Message: n.Message})
	}
	return d
}

// write is the answer for a person: each run by the clock on the wall, by UTC
// and from now.
func (a answer) write(w io.Writer, now time.Time) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Runs %s.\n\n", a.schedule.Words())
	if len(a.runs) == 0 {
		text.WriteString("No run in this window.\n")
	} else if err := output.WriteTable(&text, []string{"RUN", "UTC", "FROM NOW"}, a.rows(now)); err != nil {
		return err
	}
	if len(a.notes) > 0 {
		text.WriteString("\nTake note:\n")
	}
	for _, n := range a.notes {
		fmt.Fprintf(&text, "  %s: %s\n", subject(n.Kind), n.Message)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (a answer) rows(now time.Time) [][]string {
	rows := make([][]string, 0, len(a.runs))
	for _, run := range a.runs {
		local := run.In(a.schedule.Location())
		rows = append(rows, []string{local.Format("Mon 2006-01-02 15:04 -07:00"), output.Stamp(run), distance(now, run)})
	}
	return rows
}

func distance(now, run time.Time) string {
	if run.After(now) {
		return output.In(now, run)
	}
	return output.Ago(now, run) + " ago"
}

// subject is what a note is about: its message begins with a verb.
func subject(kind string) string {
	if kind == schedule.NoteZoneSign {
		return "time zone"
	}
	return "schedule"
}
