// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package run is the command that asks for a run now.
package run

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
)

const long = `Ask for a run now, whatever the schedule says.

 Sets the annotation backup.example.com/run-requested-at to a new value, for
which the controller starts one Job. That works for a suspended object too. With
concurrencyPolicy Forbid the run waits for an active one to end. The schedule
goes on as if nothing had been asked for.

 NAME is bj/NAME for a BackupJob or mb/NAME for a MySQLBackup. The bare name will
do where no object of the other kind has it.

 With --wait the exit code is 0 if the run succeeds, and 1 if it fails or the time
is up.`

const example = `  # Ask for a run, and look later
  kubectl backup run bj/nightly
  kubectl backup history bj/nightly

  # Back up before a change, and go on only if that worked
  kubectl backup run mb/shop --wait --timeout=30m && ./change.sh`

// fieldManager owns the annotation in managedFields.
const fieldManager = "kubectl-backup"

// Options are what the command line says.
type Options struct {
	Name    string
	Wait    bool
	Timeout time.Duration

	Clock clock.WithTicker
	Out   io.Writer
}

// Command is 'kubectl backup run'.
func Command(c clock.WithTicker) (*cobra.Command, error) {
	o, access := &Options{Clock: c}, &cluster.Access{}
	cmd := &cobra.Command{
		Use:     "run NAME [--wait]",
		Short:   "Run a backup now",
		Long:    long,
		Example: example,
		Args:    exit.OneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("timeout") && !o.Wait || o.Timeout < 0 {
				return exit.Misusef("--timeout must be 0 or more, and needs --wait")
			}
			connection, err := access.Connect(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			o.Name, o.Out = args[0], cmd.OutOrStdout()
			return o.Run(cmd.Context(), connection)
		},
		ValidArgsFunction: access.CompleteNames,
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Wait, "wait", false, "If present, show the progress and wait until the run has ended.")
	flags.DurationVar(&o.Timeout, "timeout", 0, "How long to wait, such as 30m. 0 means until the run ends.")
	access.AddFlags(flags)
	return cmd, access.CompleteFlags(cmd)
}

// Run asks for a run and, if it is told to, waits for its end.
func (o *Options) Run(ctx context.Context, c *cluster.Connection) error {
	object, err := c.Find(ctx, o.Name)
	if err != nil {
		return err
	}
	name := cluster.FullName(object.Kind(), object.GetName())
	if object.GetDeletionTimestamp() != nil {
		return fmt.Errorf("%s is being deleted: nothing runs for it any more", name)
	}
	request := newRequest(o.Clock.Now())
	if err := ask(ctx, c.Client, object, request); err != nil {
		return fmt.Errorf("ask for a run of %s: %w", name, err)
	}
	if _, err := fmt.Fprintln(o.Out, name+" run requested"); err != nil || !o.Wait {
		return err
	}
	return o.wait(ctx, c.Client, object, request)
}

// newRequest is a value that nobody has used: the time, for people, and a few
// bytes for two who ask at once.
func newRequest(now time.Time) string {
	var unique [4]byte
	_, _ = rand.Read(unique[:]) // never fails, says its documentation
	return now.UTC().Format(time.RFC3339Nano) + "-" + hex.EncodeToString(unique[:])
}

func ask(ctx context.Context, c client.Client, object backupv1.Backup, request string) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{backupv1.AnnotationRunRequestedAt: request}},
	})
	if err != nil {
		return err
	}
	return c.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldManager))
}
