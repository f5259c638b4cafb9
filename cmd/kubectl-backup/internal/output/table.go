// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// The widths of kubectl's tables.
const (
	minWidth = 6
	tabWidth = 4
	padding  = 3
)

// None stands for a value that there is not.
const None = "<none>"

// WriteTable writes rows below a header, which may be nil. An empty cell gets
// None, and what would break the line is shown escaped.
func WriteTable(w io.Writer, header []string, rows [][]string) error {
	table := tabwriter.NewWriter(w, minWidth, tabWidth, padding, ' ', 0)
	if header != nil {
		rows = append([][]string{header}, rows...)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = clean(cell); cell == "" {
				cells[i] = None
			}
		}
		if _, err := fmt.Fprintln(table, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return table.Flush()
}

// clean keeps a value that a stranger wrote from moving the cursor or the
// columns.
func clean(cell string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '\x7f' {
			return ' '
		}
		return r
	}, cell)
}

// Ago is how long ago a time was, as kubectl shows ages; empty if it is unset.
func Ago(now, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return duration.HumanDuration(now.Sub(at))
}

// In is how far ahead a time is; empty if it is unset.
func In(now, at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case !at.After(now):
		return "due"
	}
	return "in " + duration.HumanDuration(at.Sub(now))
}

// Stamp is a time in UTC; empty if it is unset.
func Stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// Size is a number of bytes in a unit that a person reads; empty for none.
func Size(bytes int64) string {
	const step = 1024
	switch {
	case bytes <= 0:
		return ""
	case bytes < step:
		return fmt.Sprintf("%d B", bytes)
	}
	value, units := float64(bytes)/step, []string{"KiB", "MiB", "GiB", "TiB"}
	for value >= step && len(units) > 1 {
		value, units = value/step, units[1:]
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}
