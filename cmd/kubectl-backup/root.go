// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/audit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/convert"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/history"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/lint"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/list"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/migrate"
	runcommand "example.com/backupjob-operator/cmd/kubectl-backup/internal/run"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/schedule"
)

const (
	inCluster = "cluster"
	offline   = "offline"
	other     = "other"
)

const long = `kubectl backup lists and runs scheduled backups of MySQL and MariaDB databases, and
judges, explains and converts their manifests.

 A NAME is bj/NAME for a BackupJob or mb/NAME for a MySQLBackup. The bare name will
do where no object of the other kind has it.

 The exit code is 0 for success, 1 if something was denied, failed or not found,
and 2 if the command line is wrong or an input cannot be read.`

const completionLong = `Print the script by which kubectl completes 'kubectl backup'.

 kubectl asks a program of the name kubectl_complete-backup, which has to be in the
PATH, and completion of kubectl itself has to be set up.`

const completionExample = `  # Set up completion for all shells
  kubectl backup completion > ~/.local/bin/kubectl_complete-backup
  chmod +x ~/.local/bin/kubectl_complete-backup`

const completionScript = `#!/bin/sh
exec kubectl backup __complete "$@"
`

func newRoot(c clock.WithTicker) (*cobra.Command, error) {
	root := &cobra.Command{
		Use:                        "kubectl-backup",
		SuggestionsMinimumDistance: 2,
		Short:                      "Work with scheduled database backups",
		Long:                       long,
		Annotations:                map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl backup"},
		SilenceErrors:              true, // run prints the error, once
		SilenceUsage:               true,
		Args:                       noUnknownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddGroup(
		&cobra.Group{ID: inCluster, Title: "Cluster Commands:"},
		&cobra.Group{ID: offline, Title: "Manifest Commands (no cluster needed):"},
		&cobra.Group{ID: other, Title: "Other Commands:"},
	)
	root.SetHelpCommandGroupID(other)
	root.SetHelpFunc(printHelp)
	root.SetUsageFunc(printUsage)
	root.SetFlagErrorFunc(misuse)
	if err := addCommands(root, c); err != nil {
		return nil, err
	}
	return root, nil
}

// noUnknownCommand refuses what is left over when no command has the name.
func noUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		meant = "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return misuse(cmd, fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), meant))
}

// misuse adds to an error about the command line where it is explained.
func misuse(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return exit.Misusef("%w\nSee '%s --help'", err, cmd.CommandPath())
}

func addCommands(root *cobra.Command, c clock.WithTicker) error {
	groups := []struct {
		id   string
		make func() (*cobra.Command, error)
	}{
		{inCluster, func() (*cobra.Command, error) { return list.Command(c) }},
		{inCluster, func() (*cobra.Command, error) { return runcommand.Command(c) }},
		{inCluster, func() (*cobra.Command, error) { return history.Command(c) }},
		{inCluster, func() (*cobra.Command, error) { return audit.Command(c, version) }},
		{inCluster, func() (*cobra.Command, error) { return migrate.Command(c) }},
		{offline, func() (*cobra.Command, error) { return lint.Command(c) }},
		{offline, func() (*cobra.Command, error) { return schedule.Command(c) }},
		{offline, convert.Command},
		{other, completionCommand},
		{other, optionsCommand},
		{other, versionCommand},
	}
	for _, group := range groups {
		cmd, err := group.make()
		if err != nil {
			return err
		}
		cmd.GroupID = group.id
		cmd.DisableFlagsInUseLine = true
		if cmd.HasSubCommands() {
			cmd.Args, cmd.SuggestionsMinimumDistance = noUnknownCommand, root.SuggestionsMinimumDistance
		}
		root.AddCommand(cmd)
	}
	return nil
}

func completionCommand() (*cobra.Command, error) {
	return &cobra.Command{
		Use: "completion", Short: "Set up completion in the shell", Long: completionLong, Example: completionExample, Args: exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), completionScript)
			return err
		},
	}, nil
}

func optionsCommand() (*cobra.Command, error) {
	return &cobra.Command{
		Use: "options", Short: "Print the flags by which the cluster commands find their server", Args: exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			(&cluster.Access{}).AddFlags(flags)
			_, err := fmt.Fprint(cmd.OutOrStdout(), "The following options can be passed to any cluster command:\n\n"+flagTexts(flags))
			return err
		},
	}, nil
}

func versionCommand() (*cobra.Command, error) {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "kubectl-backup %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}, nil
}
