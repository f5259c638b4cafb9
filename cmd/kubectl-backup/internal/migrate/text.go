// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

// mostShown is how many problems a person is shown; -o json has all.
const mostShown = 20

// column is one of the table of resources.
type column struct {
	name string
	cell func(*Resource) string
}

func number(get func(*Resource) int64) func(*Resource) string {
	return func(r *Resource) string { return strconv.FormatInt(get(r), 10) }
}

var (
	columnStored  = column{"STORED VERSIONS", func(r *Resource) string { return strings.Join(r.StoredVersions, ",") }}
	columnServed  = column{"SERVED VERSIONS", func(r *Resource) string { return strings.Join(r.ServedVersions, ",") }}
	columnObjects = column{"OBJECTS", number(func(r *Resource) int64 { return r.Objects })}
	columnWritten = column{"WRITTEN", number(func(r *Resource) int64 { return r.Written })}
	columnRefused = column{"REFUSED", number(func(r *Resource) int64 { return r.Refused })}
	columnDiffer  = column{"DIFFERENT", number(func(r *Resource) int64 { return r.Different })}
	columnMethod  = column{"METHOD", func(r *Resource) string { return r.Method }}
	columnSum     = column{"CHECKSUM", func(r *Resource) string { return r.Checksum[:min(len(r.Checksum), 12)] }}
	columnAccept  = column{"ACCEPTED", number(func(r *Resource) int64 { return r.Accepted })}
)

// columns are those of a command's table.
func columns(command string) []column {
	switch command {
	case "plan":
		return []column{columnStored, columnServed, columnObjects, columnAccept, columnRefused, columnDiffer, columnSum}
	case "run":
		return []column{columnStored, columnMethod, columnObjects, columnWritten, columnRefused}
	case "verify":
		return []column{columnStored, columnServed, columnObjects, columnDiffer, columnSum}
	case "finish":
		return []column{columnStored, columnServed, columnObjects, columnWritten, columnRefused}
	}
	return []column{columnStored, columnServed}
}

// write prints a report for a person.
func (r *Report) write(w io.Writer, now time.Time) error {
	parts := []func(io.Writer, time.Time) error{r.writeResources, r.writeManagers, r.writeChecks, r.writeProblems, r.writeWords}
	for _, part := range parts {
		if err := part(w, now); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) writeResources(w io.Writer, _ time.Time) error {
	header, shown := []string{"RESOURCE"}, columns(r.Command)
	for _, c := range shown {
		header = append(header, c.name)
	}
	var rows [][]string
	for _, resource := range r.Resources {
		row := []string{resource.Name}
		for _, c := range shown {
			row = append(row, c.cell(resource))
		}
		rows = append(rows, row)
	}
	return output.WriteTable(w, header, rows)
}

func (r *Report) writeManagers(w io.Writer, now time.Time) error {
	if len(r.Managers) == 0 {
		return nil
	}
	if _, err := fmt.Fprint(w, "\nWho wrote fields in v1alpha1:\n"); err != nil {
		return err
	}
	var rows [][]string
	for _, m := range r.Managers {
		last := ""
		if m.LastTime != nil {
			last = output.Ago(now, *m.LastTime) + " ago"
		}
		rows = append(rows, []string{m.Name, m.Operation, m.Subresource, m.Resource, strconv.FormatInt(m.Objects, 10), last})
	}
	return output.WriteTable(w, []string{"MANAGER", "OPERATION", "SUBRESOURCE", "RESOURCE", "OBJECTS", "LAST CHANGE"}, rows)
}

func (r *Report) writeChecks(w io.Writer, _ time.Time) error {
	if len(r.Checks) == 0 {
		return nil
	}
	var rows [][]string
	for _, c := range r.Checks {
		rows = append(rows, []string{c.Name, c.Result, c.Message})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := output.WriteTable(w, []string{"CHECK", "RESULT", "WHAT WAS FOUND"}, rows); err != nil {
		return err
	}
	for _, c := range r.Checks {
		if c.Advice == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s: %s\n  %s\n", c.Result, c.Name, c.Advice); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) writeProblems(w io.Writer, _ time.Time) error {
	for i, p := range r.Problems {
		if i == mostShown {
			_, err := fmt.Fprintf(w, "\nThese are %d of %d objects that stand in the way; -o json names all.\n", i, len(r.Problems))
			return err
		}
		if _, err := fmt.Fprintf(w, "\n%s: %s\n  %s\n  %s\n", p.Reason, p.where(), p.Message, p.Advice); err != nil {
			return err
		}
	}
	return nil
}

func (p *Problem) where() string {
	return fmt.Sprintf("%s in namespace %s", cluster.ShortName(p.Kind, p.Name), p.Namespace)
}

func (r *Report) writeWords(w io.Writer, _ time.Time) error {
	for _, words := range [][]string{r.Notes, r.Next} {
		if len(words) == 0 {
			continue
		}
		if _, err := fmt.Fprintln(w, "\n"+strings.Join(words, "\n")); err != nil {
			return err
		}
	}
	return nil
}
