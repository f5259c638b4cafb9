// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package schedule is the command that explains a schedule.
package schedule

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"example.com/backupjob-operator/api/schedule"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

const (
	// someRuns is how many runs are shown if nothing is said about an end.
	someRuns = 5
	// maxRuns keeps a window of many years from filling the memory.
	maxRuns = 100_000
)

const long = `Explain what a schedule means, without a cluster.

 Prints in words when it runs, the runs in a window of time, and what the clock
changes of the next year do to it. It is the same code that the operator runs
by, so a daily time that a clock change skips or doubles is one run here too.

 EXPR is five fields (minute, hour, day of month, month, day of week) or one of
@hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually.

 The exit code is 1 if schedule or zone are not right.`

const example = `  # When does this run?
  kubectl backup schedule '30 2 * * *' --time-zone Europe/Berlin

  # Every run of a weekend with a clock change, both ends included
  kubectl backup schedule '30 2 * * *' --time-zone Europe/Berlin --from 2027-03-27 --to 2027-03-29

  # The next twenty runs for a script
  kubectl backup schedule '@daily' -n 20 -o json`

type options struct {
	expr, zone, from, to string
	number               int
	format               output.Format
	clock                clock.PassiveClock
	out, errOut          io.Writer
}

// Command is 'kubectl backup schedule'.
func Command(c clock.PassiveClock) (*cobra.Command, error) {
	o := &options{clock: c}
	cmd := &cobra.Command{
		Use:     "schedule EXPR [--time-zone=ZONE]",
		Short:   "Explain a schedule: when it runs, and what clock changes do to it",
		Long:    long,
		Example: example,
		Args:    oneExpression,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.expr, o.out, o.errOut = args[0], cmd.OutOrStdout(), cmd.ErrOrStderr()
			return o.run()
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.zone, "time-zone", "UTC", "IANA name of the zone in which the schedule is read, such as Europe/Berlin.")
	flags.StringVar(&o.from, "from", "", "Begin of the window: RFC 3339, or a date with or without a time, which is read in the zone. Unset means now.")
	flags.StringVar(&o.to, "to", "", "End of the window, in the same forms. Unset means no end.")
	flags.IntVarP(&o.number, "number", "n", 0, fmt.Sprintf("How many runs to show at most. 0 means %d, or all if --to is given.", someRuns))
	zones := cobra.FixedCompletions(schedule.Zones(), cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("time-zone", zones); err != nil {
		return nil, err
	}
	return cmd, o.format.AddFlag(cmd, output.Text, output.JSON)
}

func oneExpression(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return exit.Misusef("name the schedule to explain, in quotes: kubectl backup schedule '0 2 * * *'")
	case len(args) > 1:
		return exit.Misusef("%d arguments are too many: put the schedule in quotes, so that the shell leaves it whole", len(args))
	}
	return nil
}

func (o *options) run() error {
	if o.number < 0 {
		return exit.Misusef("-n must be a number of runs, 0 or more, but is %d", o.number)
	}
	s, err := schedule.Parse(o.expr, o.zone)
	if err != nil {
		return err
	}
	now := o.clock.Now()
	from, to := now, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if o.from != "" {
		if from, err = readTime("--from", o.from, s.Location()); err != nil {
			return err
		}
	}
	if o.to != "" {
		if to, err = readTime("--to", o.to, s.Location()); err != nil {
			return err
		}
	}
	if to.Before(from) {
		return exit.Misusef("--to %s is before the begin of the window, %s", o.to, from.Format(time.RFC3339))
	}
	a := answer{schedule: s, expr: o.expr, from: from, notes: s.Notes(from)}
	a.runs, a.more = some(s, from, to, o.limit())
	if a.more && o.number == 0 && o.to != "" {
		_, _ = fmt.Fprintf(o.errOut, "Only the first %d runs are shown: narrow the window.\n", maxRuns)
	}
	if o.format.String() == output.JSON {
		return output.WriteJSON(o.out, a.document())
	}
	return a.write(o.out, now)
}

func (o *options) limit() int {
	switch {
	case o.number > 0:
		return o.number
	case o.to != "":
		return maxRuns
	}
	return someRuns
}

// some returns at most n runs, and whether there are more in the window.
func some(s *schedule.Schedule, from, to time.Time, n int) (runs []time.Time, more bool) {
	if n == math.MaxInt {
		n--
	}
	runs = s.Between(from, to, n+1)
	if len(runs) > n {
		return runs[:n], true
	}
	return runs, false
}

// layouts are what --from and --to may look like beside RFC 3339.
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

func readTime(flag, text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, exit.Misusef("%s must be a time such as 2027-03-28T01:00:00Z, '2027-03-28 01:00' or 2027-03-28, but is %q", flag, text)
}
