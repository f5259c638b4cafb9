// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
)

// printHelp writes a command's help in the order and the words of kubectl's.
func printHelp(cmd *cobra.Command, _ []string) {
	parts := []string{longOf(cmd)}
	if cmd.Example != "" {
		parts = append(parts, "Examples:\n"+cmd.Example)
	}
	parts = append(parts, commandTexts(cmd)...)
	own := ownFlags(cmd)
	if own.HasAvailableFlags() {
		parts = append(parts, "Options:\n"+strings.TrimSuffix(flagTexts(own), "\n\n"))
	}
	parts = append(parts, usageOf(cmd))
	if also := seeAlso(cmd); also != "" {
		parts = append(parts, also)
	}
	_, _ = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(parts, "\n\n"))
}

func printUsage(cmd *cobra.Command) error {
	_, err := fmt.Fprintln(cmd.OutOrStderr(), usageOf(cmd))
	return err
}

func longOf(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return cmd.Long
}

func usageOf(cmd *cobra.Command) string {
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " [command]"
	}
	return "Usage:\n  " + line + " [options]"
}

func seeAlso(cmd *cobra.Command) string {
	var lines []string
	if cmd.HasAvailableSubCommands() {
		lines = append(lines, fmt.Sprintf("Use \"%s <command> --help\" for more information about a given command.", cmd.CommandPath()))
	}
	if cmd.HasAvailableSubCommands() || cmd.Flags().Lookup("kubeconfig") != nil {
		lines = append(lines, fmt.Sprintf("Use \"%s options\" for a list of the options that all cluster commands have.", cmd.Root().CommandPath()))
	}
	return strings.Join(lines, "\n")
}

func commandTexts(cmd *cobra.Command) []string {
	var parts []string
	for _, group := range cmd.Groups() {
		lines := []string{group.Title}
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID && sub.IsAvailableCommand() {
				lines = append(lines, fmt.Sprintf("  %-13s %s", sub.Name(), sub.Short))
			}
		}
		if len(lines) > 1 {
			parts = append(parts, strings.Join(lines, "\n"))
		}
	}
	return parts
}

// ownFlags are those that only this command has.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if _, global := flag.Annotations[cluster.GlobalFlag]; !global && flag.Name != "help" {
			own.AddFlag(flag)
		}
	})
	return own
}

// flagTexts lists flags as kubectl does: name and default, then what it is.
func flagTexts(flags *pflag.FlagSet) string {
	var text strings.Builder
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		short := "    "
		if flag.Shorthand != "" {
			short = "-" + flag.Shorthand + ", "
		}
		value := flag.DefValue
		if flag.Value.Type() == "string" {
			value = "'" + value + "'"
		}
		fmt.Fprintf(&text, "    %s--%s=%s:\n\t%s\n\n", short, flag.Name, value, flag.Usage)
	})
	return text.String()
}
