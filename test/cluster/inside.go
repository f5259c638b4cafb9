// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/test/cluster/internal/cluster"
	"example.com/backupjob-operator/test/cluster/internal/image"
)

// endGrace is how long a command may take to end when the run is interrupted.
const endGrace = 30 * time.Second

func newExecCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exec -- COMMAND...",
		Short: "Run a command inside the cluster's network, with KUBECONFIG and PATH set",
		Args:  cobra.MinimumNArgs(1),
	}
	target := named(cmd)
	// What follows the command belongs to it.
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		return c.Exec(args)
	}
	return cmd
}

func newRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run -- COMMAND...",
		Short: "Start a cluster, run a command inside it, and take it down whatever happens",
		Args:  cobra.MinimumNArgs(1),
	}
	target := named(cmd)
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		if err := up(cmd.Context(), c); err != nil {
			return err
		}
		return downAfter(cmd.Context(), c, inside(cmd.Context(), c, args))
	}
	return cmd
}

// exitCode is what a command inside the cluster ended with, and what this
// command ends with too.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("the command ended with exit code %d", int(c)) }

// inside runs a command like exec does, but comes back.
func inside(ctx context.Context, c cluster.Cluster, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"exec", "--name=" + c.Name, "--"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endGrace
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exitCode(exit.ExitCode())
	}
	return err
}

func newStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the components of a cluster and how they are",
		Args:  cobra.NoArgs,
	}
	target := named(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		status, err := c.Status(cmd.Context())
		if err != nil {
			return err
		}
		if err := printStatus(cmd.OutOrStdout(), c, status); err != nil {
			return err
		}
		if !status.Healthy() {
			return fmt.Errorf("cluster %q is not healthy", c.Name)
		}
		return nil
	}
	return cmd
}

func printStatus(to io.Writer, c cluster.Cluster, status cluster.Status) error {
	var text strings.Builder
	text.WriteString("COMPONENT\tPID\tRESTARTS\tHEALTH\n")
	for _, s := range status.Components {
		fmt.Fprintf(&text, "%s\t%d\t%d\t%s\n", s.Name, s.PID, s.Restarts, s.Health)
	}
	fmt.Fprintf(&text, "\nphase\t%s\nsupervisor\t%d\nkubeconfig\t%s\nlogs\t%s\n",
		status.Phase, c.Running(), c.Kubeconfig(), c.Logs())
	if status.Node {
		fmt.Fprintf(&text, "netns\t%s\n", c.Namespace())
	}
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	_, err := io.WriteString(out, text.String())
	return errors.Join(err, out.Flush())
}

func newComponentCommand(action, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   action + " COMPONENT",
		Short: short,
		Args:  cobra.ExactArgs(1),
	}
	target := named(cmd)
	kill := false
	if action != "start" {
		cmd.Flags().BoolVar(&kill, "kill", false, "kill it at once instead of asking it to stop")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		return c.Act(cmd.Context(), args[0], action, kill)
	}
	return cmd
}

func newImageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image --tag TAG --file SOURCE=TARGET...",
		Short: "Make an image from files and give it to a cluster's node",
		Args:  cobra.NoArgs,
	}
	target := named(cmd)
	var (
		spec       image.Spec
		files      []string
		entrypoint string
	)
	cmd.Flags().StringArrayVar(&spec.Tags, "tag", nil, "name of the image; may be repeated")
	cmd.Flags().StringArrayVar(&files, "file", nil, "file or folder of this machine and its place in the image; may be repeated")
	cmd.Flags().StringVar(&entrypoint, "entrypoint", "", "program that the image starts")
	cmd.Flags().StringVar(&spec.User, "user", "", "user that it runs as")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := target()
		if err != nil {
			return err
		}
		if len(spec.Tags) == 0 {
			return errors.New("an image needs a name: --tag=example:1")
		}
		if entrypoint != "" {
			spec.Entrypoint = []string{entrypoint}
		}
		if spec.Entries, err = entries(files); err != nil {
			return err
		}
		return importSpec(cmd.Context(), c, spec)
	}
	return cmd
}

func entries(files []string) ([]image.Entry, error) {
	var all []image.Entry
	for _, f := range files {
		source, target, ok := strings.Cut(f, "=")
		if !ok || source == "" || target == "" {
			return nil, fmt.Errorf("--file=%s must be SOURCE=TARGET, such as --file=bin/agent=/agent", f)
		}
		found, err := image.Files(source, target)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func importSpec(ctx context.Context, c cluster.Cluster, spec image.Spec) (err error) {
	dir, err := os.MkdirTemp("", "cluster-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	archive := filepath.Join(dir, "image.tar")
	if err := image.Write(archive, spec); err != nil {
		return err
	}
	return c.Import(ctx, archive)
}
