// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package audit is the command that inspects the admission path of an
// installed operator. It reads a snapshot of the cluster, judges it with pure
// functions, and writes the same rows as text, JSON or a page to file.
package audit

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

const long = `Inspect the admission path of the operator that is installed in a cluster.

 Each row says what must hold, what was seen and, where it is not well, what to do:
webhooks and their exemptions, CA bundles against the certificate that is really
served, conversion, stored versions, the second lock, replicas, NetworkPolicies,
our own rights, and who else can change any of it. The numbers are those of the
threats in docs/security.md.

 Nothing is changed. To get and to list is all the right that is needed; what you
may not read is told as not checked. The served certificate is looked at by way of
a port-forward, which takes create on pods/portforward, or straight where the Pods
can be reached.

 The exit code is 0 if nothing fails, 1 if something does (with --strict, or warns,
or could not be checked) and 2 if the command line is wrong.`

const example = `  # Inspect the cluster of the current context
  kubectl backup audit

  # A page for the reviewer's files
  kubectl backup audit -o html >audit.html

  # In CI: everything must be checked and be well, but for what is known
  kubectl backup audit --strict --accept client-authentication --accept Group:platform-admins

  # What warns or fails, for a program
  kubectl backup audit -o json | jq '.rows[] | select(.status != "pass")'`

const html = "html"

// Options are what the command line says.
type Options struct {
	Namespace string
	Accepted  []string
	Strict    bool
	Format    output.Format
	Version   string

	Clock clock.PassiveClock
	Out   io.Writer
}

// Command is 'kubectl backup audit'. The version is that of the program.
func Command(c clock.PassiveClock, version string) (*cobra.Command, error) {
	o, access := &Options{Clock: c, Version: version}, &cluster.Access{}
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "Inspect the admission path of an installed operator",
		Long:    long,
		Example: example,
		Args:    exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// What the server says of the old version is no news here.
			connection, err := access.Connect(io.Discard)
			if err != nil {
				return err
			}
			o.Out = cmd.OutOrStdout()
			return o.Run(cmd.Context(), connection)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Namespace, "operator-namespace", "", "The operator's namespace. Empty means the one that the API server calls.")
	flags.StringSliceVar(&o.Accepted, "accept", nil,
		"What is known and need not warn: the id of a row, or a subject such as Group:NAME, User:NAME or ServiceAccount:NAMESPACE/NAME. May be repeated.")
	flags.BoolVar(&o.Strict, "strict", false, "If present, a warning makes the exit code 1 too.")
	if err := o.Format.AddFlag(cmd, output.Text, output.JSON, html); err != nil {
		return nil, err
	}
	access.AddFlags(flags)
	return cmd, access.CompleteFlags(cmd)
}

// Run inspects the cluster and writes the report.
func (o *Options) Run(ctx context.Context, c *cluster.Connection) error {
	reader, err := newClient(c.Config)
	if err != nil {
		return err
	}
	snapshot, err := Gather(ctx, reader, o.Namespace, o.Clock.Now())
	if err != nil {
		return err
	}
	snapshot.Server = c.Config.Host
	snapshot.Look(ctx, forwarder{c.Config})
	return o.tell(snapshot)
}

// tell judges a snapshot and writes the report; a failure is its error.
func (o *Options) tell(s *Snapshot) error {
	report := o.report(s)
	if err := o.write(report); err != nil {
		return err
	}
	if report.Summary.Fail > 0 || o.Strict && report.Summary.Warn > 0 {
		return exit.ErrSaid
	}
	return nil
}

func (o *Options) report(s *Snapshot) *Report {
	r := &Report{
		CheckedAt: s.Now.UTC().Truncate(time.Second), Plugin: o.Version, Server: s.Server, Namespace: s.Namespace,
		Rows: Judge(s, o.Accepted), MissingRights: s.missing(),
	}
	r.count()
	return r
}

func (o *Options) write(r *Report) error {
	switch o.Format.String() {
	case output.JSON:
		return output.WriteJSON(o.Out, r)
	case html:
		return writeHTML(o.Out, r)
	}
	return writeText(o.Out, r)
}

func (s Summary) String() string {
	text := fmt.Sprintf("%d pass, %d warn, %d fail", s.Pass, s.Warn, s.Fail)
	if s.NotChecked > 0 {
		text += fmt.Sprintf("; %d could not be checked", s.NotChecked)
	}
	return text
}
