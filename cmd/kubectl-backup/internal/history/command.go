// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package history is the command that lists the runs of our objects.
package history

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/runs"
)

const long = `Show the runs of one object, or of all in a namespace.

 Each run is a Job. The table has those that still exist: how many are kept is
said by successfulJobsHistoryLimit and failedJobsHistoryLimit. The backups
themselves are kept by retention, whatever becomes of their Jobs.

 NAME is bj/NAME for a BackupJob or mb/NAME for a MySQLBackup. The bare name will
do where no object of the other kind has it.`

const example = `  # The runs of one object
  kubectl backup history bj/nightly

  # All runs in all namespaces
  kubectl backup history -A

  # What did the newest run say?
  kubectl backup history bj/nightly -o json | jq -r '.runs[-1].message'`

// Options are what the command line says.
type Options struct {
	Name          string
	AllNamespaces bool
	NoHeaders     bool
	Format        output.Format

	Clock       clock.PassiveClock
	Out, ErrOut io.Writer
}

// Command is 'kubectl backup history'.
func Command(c clock.PassiveClock) (*cobra.Command, error) {
	o, access := &Options{Clock: c}, &cluster.Access{}
	cmd := &cobra.Command{
		Use:     "history [NAME]",
		Short:   "Show the runs of an object: when, how long, and how they ended",
		Long:    long,
		Example: example,
		Args:    o.takeName,
		RunE: func(cmd *cobra.Command, _ []string) error {
			connection, err := access.Connect(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			o.Out, o.ErrOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return o.Run(cmd.Context(), connection)
		},
		ValidArgsFunction: access.CompleteNames,
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "If present, show the runs of all objects in all namespaces.")
	flags.BoolVar(&o.NoHeaders, "no-headers", false, "If present, leave out the header of the table.")
	if err := o.Format.AddFlag(cmd, output.Table, output.Wide, output.JSON, output.YAML, output.Name); err != nil {
		return nil, err
	}
	access.AddFlags(flags)
	return cmd, access.CompleteFlags(cmd)
}

func (o *Options) takeName(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return exit.OneName(cmd, args)
	case len(args) == 1 && o.AllNamespaces:
		return exit.Misusef("a name cannot be looked up in all namespaces: leave out the name, or say -n NAMESPACE instead of -A")
	case len(args) == 1:
		o.Name = args[0]
	}
	return nil
}

// Run shows the runs.
func (o *Options) Run(ctx context.Context, c *cluster.Connection) error {
	objects, err := o.objects(ctx, c)
	if err != nil {
		return err
	}
	namespace := c.Namespace
	if o.AllNamespaces {
		namespace = ""
	}
	var found []runs.Run
	if len(objects) > 0 {
		if found, err = runs.Read(ctx, c.Client, namespace, objects); err != nil {
			return err
		}
	}
	return o.write(found, namespace)
}

// objects are those whose runs are wanted.
func (o *Options) objects(ctx context.Context, c *cluster.Connection) ([]backupv1.Backup, error) {
	if o.Name != "" {
		object, err := c.Find(ctx, o.Name)
		return []backupv1.Backup{object}, err
	}
	namespace := c.Namespace
	if o.AllNamespaces {
		namespace = ""
	}
	var objects []backupv1.Backup
	for _, kind := range cluster.Kinds {
		list := cluster.NewList(kind)
		if err := c.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, cluster.Explain(err)
		}
		for i := range list.Items {
			object, err := cluster.Decode(&list.Items[i])
			if err != nil {
				return nil, err
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// document is the answer for programs.
type document struct {
	Runs []runs.Run `json:"runs"`
}

func (o *Options) write(found []runs.Run, namespace string) error {
	switch o.Format.String() {
	case output.JSON:
		return output.WriteJSON(o.Out, document{Runs: append([]runs.Run{}, found...)})
	case output.YAML:
		return output.WriteYAML(o.Out, document{Runs: append([]runs.Run{}, found...)})
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(o.ErrOut, "No runs of %s found in %s.\n", cmp.Or(o.Name, "any object"), where(namespace))
		return err
	}
	if o.Format.String() == output.Name {
		for _, run := range found {
			if _, err := fmt.Fprintln(o.Out, "job.batch/"+run.Job); err != nil {
				return err
			}
		}
		return nil
	}
	rows := make([][]string, 0, len(found))
	for _, run := range found {
		rows = append(rows, o.row(run))
	}
	return output.WriteTable(o.Out, o.header(), rows)
}

func where(namespace string) string {
	if namespace == "" {
		return "any namespace"
	}
	return "namespace " + namespace
}

func (o *Options) header() []string {
	if o.NoHeaders {
		return nil
	}
	var header []string
	if o.AllNamespaces {
		header = append(header, "NAMESPACE")
	}
	if o.Name == "" {
		header = append(header, "OBJECT")
	}
	header = append(header, "JOB", "SCHEDULED", "STARTED", "DURATION", "RESULT", "MESSAGE")
	if o.Format.String() == output.Wide {
		header = append(header, "FAILED ATTEMPTS", "SHA256")
	}
	return header
}

func (o *Options) row(run runs.Run) []string {
	var row []string
	if o.AllNamespaces {
		row = append(row, run.Namespace)
	}
	if o.Name == "" {
		row = append(row, run.Object)
	}
	now, scheduled, started, took := o.Clock.Now(), "", "", ""
	if run.ScheduledTime != nil {
		scheduled = output.Stamp(run.ScheduledTime.Time)
	}
	if run.Request != "" {
		scheduled = "on request"
	}
	if run.StartTime != nil {
		started = output.Ago(now, run.StartTime.Time) + " ago"
		took = duration.HumanDuration(run.Duration(now))
	}
	row = append(row, run.Job, scheduled, started, took, run.Result, run.Message)
	if o.Format.String() == output.Wide {
		row = append(row, fmt.Sprintf("%d of %d", run.FailedAttempts, run.Attempts), run.SHA256)
	}
	return row
}
