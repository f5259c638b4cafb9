// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/store"
)

const (
	outputTable = "table"
	outputJSON  = "json"
)

// listed is one backup in the JSON output.
type listed struct {
	// Location is the file relative to the root of the volume.
	Location string `json:"location"`
	store.Backup
}

// listing is the JSON output.
type listing struct {
	Backups    []listed `json:"backups"`
	Unfinished []string `json:"unfinished"`
	Unknown    []string `json:"unknown"`
}

func (a *app) listCommand() *cobra.Command {
	var (
		place  placeFlags
		output string
	)
	cmd := &cobra.Command{
		Use:   agent.CommandList,
		Short: "Show the backups on the volume",
		Long: `Show the backups in the object's folder, the oldest first, also those of
another object of the same name. With --uid the others are counted, not shown.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if output != outputTable && output != outputJSON {
				return fmt.Errorf("the output %q is not known: use %s or %s", output, outputTable, outputJSON)
			}
			var (
				l   store.Listing
				out = listing{Backups: []listed{}, Unfinished: []string{}, Unknown: []string{}}
			)
			err := inFolder(place, func(folder *store.Folder) (err error) {
				if l, err = folder.List(); err != nil {
					return err
				}
				for _, b := range chosen(l, place.owner.UID) {
					out.Backups = append(out.Backups, listed{Location: folder.Location(b.File), Backup: b})
				}
				return nil
			})
			if err != nil {
				return err
			}
			out.Unfinished = append(out.Unfinished, l.Unfinished...)
			out.Unknown = append(out.Unknown, l.Unknown...)
			if output == outputJSON {
				return writeJSON(a.out, out)
			}
			return writeTable(a.out, out, len(l.Backups)-len(out.Backups))
		},
	}
	place.add(cmd)
	cmd.Flags().StringVarP(&output, agent.FlagOutput, "o", outputTable, "table or json")
	return cmd
}

// chosen are the backups of one object, or all.
func chosen(l store.Listing, uid string) []store.Backup {
	if uid == "" {
		return l.Backups
	}
	return l.Of(uid)
}

func writeJSON(w io.Writer, out listing) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func writeTable(w io.Writer, out listing, others int) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "SCHEDULED\tFILE\tSTATE\tSIZE\tDATABASES\tKIND\tUID") // an error shows at Flush
	for _, b := range out.Backups {
		_, _ = fmt.Fprintf(t, "%s\t%q\t%s\t%s\t%s\t%s\t%s\n", b.ScheduledTime.UTC().Format(time.RFC3339),
			b.File, b.State, size(b.SizeBytes), databases(b.Databases), b.Object.Kind, b.Object.UID)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var notes []string
	if others > 0 {
		notes = append(notes, fmt.Sprintf("%d backups of other objects of this name are not shown", others))
	}
	for _, name := range out.Unfinished {
		notes = append(notes, fmt.Sprintf("unfinished: %q", name))
	}
	for _, name := range out.Unknown {
		notes = append(notes, fmt.Sprintf("not a backup: %q", name))
	}
	for _, note := range notes {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

// maxShown is how many databases fit into a table.
const maxShown = 3

func databases(names []string) string {
	shown := names[:min(maxShown, len(names))]
	text := strings.Join(shown, ",")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(",+%d", more)
	}
	return text
}

// size is a number of bytes for people.
func size(bytes int64) string {
	const unit = 1024
	if bytes < unit {
		return fmt.Sprintf("%d B", bytes)
	}
	value, prefix := float64(bytes)/unit, 0
	for value >= unit && prefix < len("KMGTP")-1 {
		value /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[prefix])
}
