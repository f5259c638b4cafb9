// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster runs a real Kubernetes from plain programs, without Docker.
// A cluster with a node lives in a network namespace of its own; where that
// cannot be had, the control plane runs alone.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.com/backupjob-operator/test/cluster/internal/filelock"
)

const (
	pollEvery  = 100 * time.Millisecond
	retryLimit = 20 * time.Second
)

// Cluster is what a command works on.
type Cluster struct {
	Layout
	// Out is told what happens.
	Out *log.Logger
}

// Running returns the id of the outermost process of the cluster, or 0.
func (c Cluster) Running() int { return filelock.Holder(c.keeperLock()) }

// Status asks the supervisor. Process ids are those of the calling process's
// namespace.
func (c Cluster) Status(ctx context.Context) (Status, error) {
	keeper := c.Running()
	if keeper == 0 {
		return Status{}, c.notUp()
	}
	status, err := newControl(c.Layout).status(ctx)
	if err != nil || !status.Node {
		return status, err
	}
	outer, err := outerPIDs(keeper)
	if err != nil {
		return Status{}, err
	}
	for i := range status.Components {
		status.Components[i].PID = outer[status.Components[i].PID]
	}
	return status, nil
}

// Act stops, starts or restarts one component.
func (c Cluster) Act(ctx context.Context, component, action string, kill bool) error {
	if c.Running() == 0 {
		return c.notUp()
	}
	return newControl(c.Layout).act(ctx, component, action, kill)
}

// Import makes the image in an archive known to the cluster's node.
func (c Cluster) Import(ctx context.Context, archive string) error {
	if c.Running() == 0 {
		return c.notUp()
	}
	config, err := readConfig(c.Layout)
	if err != nil {
		return err
	}
	if !config.Node {
		return fmt.Errorf("cluster %q has no node that could use an image", c.Name)
	}
	return importImage(ctx, c.Layout, config, archive)
}

func (c Cluster) notUp() error {
	return fmt.Errorf("cluster %q is not up; start it with: cluster up --name=%s", c.Name, c.Name)
}

// Exec replaces the calling process by a command inside the cluster.
func (c Cluster) Exec(args []string) error {
	if c.Running() == 0 {
		return c.notUp()
	}
	config, err := readConfig(c.Layout)
	if err != nil {
		return err
	}
	path := strings.Join(append(config.Folders, os.Getenv("PATH")), string(os.PathListSeparator))
	for name, value := range map[string]string{
		"PATH":               path,
		"KUBECONFIG":         c.Kubeconfig(),
		"KUBEBUILDER_ASSETS": filepath.Dir(config.Programs["kube-apiserver"]),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	if config.Node {
		return execInside(c.Layout, program, args, os.Environ())
	}
	return syscall.Exec(program, args, os.Environ())
}

// Down stops the cluster and removes what there is of it, also what an
// interrupted start or a killed supervisor has left.
func (c Cluster) Down(ctx context.Context, keepLogs bool) (err error) {
	lock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return c.takeDown(ctx, keepLogs)
}

func (c Cluster) lock(ctx context.Context) (*filelock.Lock, error) {
	return filelock.Acquire(ctx, c.operationLock(), func(pid int) {
		c.Out.Printf("Waiting for process %d, which starts or stops cluster %q.", pid, c.Name)
	})
}

func (c Cluster) takeDown(ctx context.Context, keepLogs bool) error {
	if pid := c.Running(); pid != 0 {
		if err := c.stop(ctx, pid); err != nil {
			return err
		}
	}
	config, err := readConfig(c.Layout)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		config.Node = canRunNode()
	case err != nil:
		return err
	}
	if err := cleanUp(ctx, c.Layout, config); err != nil {
		return err
	}
	// Processes that were killed may write a last file.
	return eventually(ctx, func() error { return c.removeState(keepLogs) })
}

// stop ends the keeper, with force if it does not end in time.
func (c Cluster) stop(ctx context.Context, pid int) error {
	for _, attempt := range []struct {
		signal syscall.Signal
		limit  time.Duration
	}{{syscall.SIGTERM, stopLimit + retryLimit}, {syscall.SIGKILL, retryLimit}} {
		if err := syscall.Kill(pid, attempt.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop process %d: %w", pid, err)
		}
		gone := func() error {
			if c.Running() == pid {
				return fmt.Errorf("process %d does not end", pid)
			}
			return nil
		}
		limited, cancel := context.WithTimeout(ctx, attempt.limit)
		err := poll(limited, gone)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("process %d of cluster %q does not end", pid, c.Name)
}

func (c Cluster) removeState(keepLogs bool) error {
	if !keepLogs {
		return os.RemoveAll(c.Dir)
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		path := filepath.Join(c.Dir, e.Name())
		if path == c.Logs() {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eventually repeats what fails only as long as killed processes are not quite
// gone.
func eventually(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	return poll(ctx, do)
}

// poll repeats do until it succeeds or ctx ends.
func poll(ctx context.Context, do func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}
