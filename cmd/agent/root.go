// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"example.com/backupjob-operator/api/agent"
)

// app is what the commands share.
type app struct {
	out   io.Writer
	log   *slog.Logger
	clock clock.PassiveClock
	// result is what the command reports.
	result agent.Result
}

func newApp(stdout, stderr io.Writer) *app {
	return &app{
		out:   stdout,
		log:   slog.New(slog.NewTextHandler(stderr, nil)),
		clock: clock.RealClock{},
	}
}

const longHelp = `The agent makes, keeps and restores backups of MySQL and MariaDB databases.

It runs in the Pod of a backup's Job, beside the database's own client, which
does the dumping. Every backup is two files in <root>/<namespace>/<name>:

  20270328T020000Z.sql.zst   the dump (.sql, .sql.zst or .sql.gz)
  20270328T020000Z.json      its manifest: what it is, its size and checksum

A backup exists when both are there. Files that begin with ".tmp-" are being
written, or were left by an attempt that was killed and go at the next start.

Passwords are read from files only. Every flag takes its value as
--flag=value. The exit code is 0 for success and 1 for everything else; the
last line on stderr says what went wrong and what to do.`

const examples = `  # What is there, and is the newest one good?
  agent list --namespace=shop --name=nightly
  agent verify --namespace=shop --name=nightly --latest

  # Restore the state of Tuesday evening into an empty server.
  agent restore --namespace=shop --name=nightly --before=2027-03-30T22:00:00Z \
    --host=mysql-restore --username-file=/secrets/username --password-file=/secrets/password`

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "agent",
		Short:         "Make, keep and restore backups of MySQL and MariaDB databases",
		Long:          longHelp,
		Example:       examples,
		Version:       builtAs(),
		Args:          cobra.NoArgs,
		SilenceErrors: true, // run prints the error, once
		SilenceUsage:  true,
		// Without this an unknown subcommand, as of a newer controller, would
		// show the help and count as a success.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: '%s --help' lists the flags of this agent (%s)", err, cmd.CommandPath(), builtAs())
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().String(agent.FlagTerminationLog, "", "file into which the result is written as JSON, for the kubelet")
	root.AddCommand(
		a.backupCommand(), a.listCommand(), a.verifyCommand(), a.restoreCommand(),
		a.pruneCommand(), a.purgeCommand(), a.installCommand(),
	)
	return root
}

// version is set by the linker.
var version string

// builtAs is the version, or, of a build without one, the module's.
func builtAs() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
