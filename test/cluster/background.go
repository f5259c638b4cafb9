// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log"
	"os"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/test/cluster/internal/cluster"
)

// These are not for people: 'up' starts the first, and each starts the next.

func newKeepCommand() *cobra.Command {
	return backgroundCommand(cluster.KeepCommand, func(ctx context.Context, c cluster.Cluster) error {
		return cluster.Keep(ctx, c.Layout)
	})
}

func newInitCommand() *cobra.Command {
	return backgroundCommand(cluster.InitCommand, func(_ context.Context, c cluster.Cluster) error {
		return cluster.Init(c.Layout)
	})
}

func newSuperviseCommand() *cobra.Command {
	return backgroundCommand(cluster.SuperviseCommand, func(ctx context.Context, c cluster.Cluster) error {
		return cluster.Supervise(ctx, c.Layout, c.Out)
	})
}

func backgroundCommand(name string, do func(context.Context, cluster.Cluster) error) *cobra.Command {
	cmd := &cobra.Command{Use: name, Hidden: true, Args: cobra.NoArgs}
	target := named(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		// What it says goes to a log.
		c.Out = log.New(os.Stderr, "", log.Ltime|log.Lmicroseconds)
		return do(cmd.Context(), c)
	}
	return cmd
}
