// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// row is one comparison.
type row struct {
	id, what      string
	ours          string
	peer, theirs  string
	ratio         ratios
	aim           float64 // the most that the ratio may be; 0 is none
	aimText, note string  // of rows without a ratio
}

func (r row) cells() []string {
	ratio, aim := r.note, r.aimText
	if len(r.ratio) > 0 {
		ratio = r.ratio.String()
	}
	if r.aim > 0 {
		reached := "reached"
		if r.ratio.median() > r.aim {
			reached = "**missed**"
		}
		aim = fmt.Sprintf("at most %.2f: %s", r.aim, reached)
	}
	return []string{r.id, r.what, r.ours, r.peer, r.theirs, ratio, aim}
}

// writeTable is the one table of a run.
func writeTable(rows []row, machine, command string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Made by `%s` on %s.\n\n", command, machine)
	line := func(cells ...string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	line("#", "what", "ours", "against", "theirs", "ratio of the medians (lowest to highest round)", "aim")
	line(strings.Split(strings.Repeat("---,", 6)+"---", ",")...)
	for _, r := range rows {
		line(r.cells()...)
	}
	return out.String()
}

// describeMachine says what a reader must know to compare.
func describeMachine() string {
	return fmt.Sprintf("%d cores, %s, %s/%s, load %s", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, loadNow())
}

// loadNow is the load average of the last minute.
func loadNow() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
