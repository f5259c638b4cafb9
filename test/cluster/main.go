// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command cluster runs a real Kubernetes on this machine, without Docker: every
// program is built from pinned Go modules, and everything that runs lives in
// namespaces that go with it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/test/cluster/internal/cluster"
	"example.com/backupjob-operator/test/cluster/internal/toolchain"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRootCommand().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "cluster: %v\n", err)
	if code := exitCode(0); errors.As(err, &code) {
		os.Exit(int(code))
	}
	os.Exit(1)
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "cluster",
		Short:         "Run a real Kubernetes from plain programs",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newBuildCommand(), newAssetsCommand(),
		newUpCommand(), newDownCommand(), newStatusCommand(),
		newExecCommand(), newRunCommand(), newImageCommand(),
		newComponentCommand("stop", "Stop one component"),
		newComponentCommand("start", "Start a component that was stopped"),
		newComponentCommand("restart", "Stop one component and start it again"),
		newKeepCommand(), newInitCommand(), newSuperviseCommand(),
	)
	return root
}

// named adds the flag --name and returns what makes the cluster from it.
func named(cmd *cobra.Command) func() (cluster.Cluster, error) {
	name := cmd.Flags().String("name", "demo", "name of the cluster; clusters of different names run side by side")
	return func() (cluster.Cluster, error) {
		cache, err := toolchain.DefaultCache()
		if err != nil {
			return cluster.Cluster{}, err
		}
		layout, err := cluster.NewLayout(cache, *name)
		return cluster.Cluster{Layout: layout, Out: log.New(os.Stderr, "", 0)}, err
	}
}

func newToolchain() (*toolchain.Toolchain, error) {
	source, err := toolchain.DefaultSource()
	if err != nil {
		return nil, err
	}
	cache, err := toolchain.DefaultCache()
	if err != nil {
		return nil, err
	}
	return toolchain.New(source, cache, log.New(os.Stderr, "", 0))
}
