// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package lint is the command that judges manifests without a cluster.
package lint

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/manifest"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
	"example.com/backupjob-operator/webhooks"
)

const long = `Judge manifests of BackupJobs and MySQLBackups without a cluster.

 The verdict is that of a create, from the very code and schemas that the
operator's webhooks and the API server use: unknown fields, wrong types, bounds,
schedules, time zones, all faults at once, each in the words of the version in
which it was written. Accepted objects are told with their next runs.

 Not checked is what only a cluster knows: whether the user may use the Secrets
that an object names, whether they exist, and what an update of an existing object
may change.

 Documents of other kinds are passed over and counted. Manifests of example.com/v1,
from the operators that came before this one, are told which line to change.

 The exit code is 0 if everything is accepted, 1 if something is denied (with
--strict, or warned about) and 2 if an input cannot be read.`

const example = `  # Judge one file, or all in a folder and below
  kubectl backup lint -f nightly.yaml
  kubectl backup lint -f deploy/ -R

  # Judge what a tool renders
  kustomize build . | kubectl backup lint -f -

  # In CI: warnings count too, and a program reads the answer
  kubectl backup lint -f deploy/ -R --strict -o json`

// Options are what the command line says.
type Options struct {
	Files     []string
	Recursive bool
	Strict    bool
	Format    output.Format

	Clock clock.PassiveClock
	In    io.Reader
	Out   io.Writer
}

// Command is 'kubectl backup lint'.
func Command(c clock.PassiveClock) (*cobra.Command, error) {
	o := &Options{Clock: c}
	cmd := &cobra.Command{
		Use:     "lint -f FILE",
		Short:   "Judge manifests without a cluster, as admission would",
		Long:    long,
		Example: example,
		Args:    exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.In, o.Out = cmd.InOrStdin(), cmd.OutOrStdout()
			return o.Run(cmd.Context())
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	if err := manifest.AddFlag(cmd, &o.Files); err != nil {
		return nil, err
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.Recursive, "recursive", "R", false, "If present, read the folders below a named one too.")
	flags.BoolVar(&o.Strict, "strict", false, "If present, a warning makes the exit code 1 too.")
	return cmd, o.Format.AddFlag(cmd, output.Text, output.JSON)
}

// Run judges the manifests. What cannot be read does not keep the rest from
// being judged.
func (o *Options) Run(ctx context.Context) error {
	if len(o.Files) == 0 {
		return exit.Misusef("name what to judge: -f FILE, -f FOLDER or -f - for standard input")
	}
	judge, err := webhooks.NewJudge(o.Clock)
	if err != nil {
		return err
	}
	documents, unread := manifest.Read(o.Files, o.Recursive, o.In)
	r := &report{now: o.Clock.Now(), documents: []*finding{}}
	for _, document := range documents {
		items, err := document.Items()
		unread = errors.Join(unread, err)
		for _, item := range items {
			if err := r.judge(ctx, judge, item); err != nil {
				return err
			}
		}
	}
	if err := o.write(r); err != nil {
		return err
	}
	if unread != nil {
		return exit.Misuse(unread)
	}
	if r.denied > 0 || o.Strict && r.warned > 0 {
		return exit.ErrSaid
	}
	return nil
}

func (o *Options) write(r *report) error {
	if o.Format.String() == output.JSON {
		return output.WriteJSON(o.Out, r.answer())
	}
	return r.write(o.Out)
}
