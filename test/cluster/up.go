// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/test/cluster/internal/cluster"
	"example.com/backupjob-operator/test/cluster/internal/image"
)

func newUpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster in the background and wait until it is ready",
		Args:  cobra.NoArgs,
	}
	target := named(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		return up(cmd.Context(), c)
	}
	return cmd
}

func newDownCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a cluster and remove everything of it",
		Args:  cobra.NoArgs,
	}
	target := named(cmd)
	keep := cmd.Flags().Bool("keep-logs", false, "leave the folder with the logs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		return down(cmd.Context(), c, *keep)
	}
	return cmd
}

// up says what it does, and what it cannot do here.
func up(ctx context.Context, c cluster.Cluster) error {
	started := time.Now()
	if c.Healthy(ctx) {
		fmt.Fprintf(c.Out, "Cluster %q is up already.\n", c.Name)
		return nil
	}
	tools, err := newToolchain()
	if err != nil {
		return err
	}
	parts, err := makeParts(ctx, tools)
	if err != nil {
		return err
	}
	if err := announce(ctx, c, parts); err != nil {
		return err
	}
	if err := c.Up(ctx, parts); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Cluster %q is ready after %.1fs.\n", c.Name, time.Since(started).Seconds())
	explain(c.Out, c, parts.Node)
	return nil
}

func announce(ctx context.Context, c cluster.Cluster, parts cluster.Parts) error {
	fmt.Fprintf(c.Out, "Starting cluster %q.\n", c.Name)
	if !parts.Node {
		fmt.Fprintf(c.Out, "WARNING: %v. Only the control plane starts: etcd, API server, controller-manager\n"+
			"and cert-manager. Pods stay Pending, Services lead nowhere, and there are no volumes.\n", cluster.CanRunNode())
		return nil
	}
	version, err := image.DatabaseVersion(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "The images %s both hold Debian's MariaDB %s.\n", strings.Join(image.DatabaseTags, " and "), version)
	return nil
}

func explain(out io.Writer, c cluster.Cluster, node bool) {
	fmt.Fprintf(out, "  use it     cluster exec --name=%s -- kubectl get pods -A\n", c.Name)
	fmt.Fprintf(out, "  stop it    cluster down --name=%s\n", c.Name)
	fmt.Fprintf(out, "  logs       %s\n", c.Logs())
	fmt.Fprintf(out, "  kubeconfig %s\n", c.Kubeconfig())
	if node {
		fmt.Fprintf(out, "  It works only inside the network namespace %s, which 'exec' enters.\n", c.Namespace())
	}
}

func down(ctx context.Context, c cluster.Cluster, keepLogs bool) error {
	if err := c.Down(ctx, keepLogs); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Cluster %q is down; nothing of it is left.\n", c.Name)
	if keepLogs {
		fmt.Fprintf(c.Out, "Its logs stay in %s.\n", c.Logs())
	}
	return nil
}

// downAfter takes the cluster down although ctx may have ended, and keeps the
// logs if something went wrong.
func downAfter(ctx context.Context, c cluster.Cluster, failure error) error {
	return errors.Join(failure, down(context.WithoutCancel(ctx), c, failure != nil))
}
