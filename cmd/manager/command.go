// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "manager",
		Short: "The processes of backupjob-operator",
		Long: `manager runs one of the operator's two processes.

The webhook server defaults, validates and converts BackupJobs and
MySQLBackups. The controller runs their backups as Jobs. They share nothing at
run time, so that trouble in one never stops the other.`,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w; '%s --help' lists the flags", err, command.CommandPath())
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newWebhookCommand(runWebhook), newControllerCommand(runController), newVersionCommand())
	return root
}

// settings are the flags of a process.
type settings interface {
	addFlags(flags *pflag.FlagSet)
	check() error
}

// complete finishes the command of one of the two processes: its flags are
// read and checked, and its log is set up, before it runs.
func complete(command *cobra.Command, s settings, logs *logOptions, run func(context.Context, logr.Logger) error) *cobra.Command {
	command.Args = cobra.NoArgs
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := s.check(); err != nil {
			return err
		}
		log, err := logs.setUp(command.ErrOrStderr())
		if err != nil {
			return err
		}
		return run(command.Context(), log)
	}
	command.Flags().SortFlags = false
	s.addFlags(command.Flags())
	return command
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version of this binary",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), buildVersion())
			return err
		},
	}
}
