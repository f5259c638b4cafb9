// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log"
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
		c.Out.Printf("Cluster %q is up already.", c.Name)
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
	c.Out.Printf("Cluster %q is ready after %.1fs.", c.Name, time.Since(started).Seconds())
	explain(c.Out, c, parts.Node)
	return nil
}

func announce(ctx context.Context, c cluster.Cluster, parts cluster.Parts) error {
	c.Out.Printf("Starting cluster %q.", c.Name)
	if !parts.Node {
		c.Out.Printf("WARNING: %v. Only the control plane starts: etcd, API server, controller-manager\n"+
			"and cert-manager. Pods stay Pending, Services lead nowhere, and there are no volumes.", cluster.CanRunNode())
		return nil
	}
	version, err := image.DatabaseVersion(ctx)
	if err != nil {
		return err
	}
	c.Out.Printf("The images %s both hold Debian's MariaDB %s.", strings.Join(image.DatabaseTags, " and "), version)
	return nil
}

func explain(out *log.Logger, c cluster.Cluster, node bool) {
	out.Printf("  use it     cluster exec --name=%s -- kubectl get pods -A", c.Name)
	out.Printf("  stop it    cluster down --name=%s", c.Name)
	out.Printf("  logs       %s", c.Logs())
	out.Printf("  kubeconfig %s", c.Kubeconfig())
	if node {
		out.Printf("  It works only inside the network namespace %s, which 'exec' enters.", c.Namespace())
	}
}

func down(ctx context.Context, c cluster.Cluster, keepLogs bool) error {
	if err := c.Down(ctx, keepLogs); err != nil {
		return err
	}
	c.Out.Printf("Cluster %q is down; nothing of it is left.", c.Name)
	if keepLogs {
		c.Out.Printf("Its logs stay in %s.", c.Logs())
	}
	return nil
}

// downAfter takes the cluster down although ctx may have ended, and keeps the
// logs if something went wrong.
func downAfter(ctx context.Context, c cluster.Cluster, failure error) error {
	return errors.Join(failure, down(context.WithoutCancel(ctx), c, failure != nil))
}
