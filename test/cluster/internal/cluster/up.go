// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"example.com/backupjob-operator/test/cluster/internal/filelock"
)

// longestSocketPath leaves room for the longest name that is put behind it;
// the kernel takes 107 bytes.
const longestSocketPath = 80

// Parts is what a cluster is started from.
type Parts struct {
	// Node asks for a node; without it the control plane runs alone.
	Node bool
	// Programs maps the name of each program to its path.
	Programs map[string]string
	// Folders are put in front of PATH.
	Folders []string
	// CRDs is the folder with cert-manager's definitions.
	CRDs string
	// Images are archives to import.
	Images []string
}

// CanRunNode tells whether this process may start a node here, and if not, why.
func CanRunNode() error {
	switch {
	case runtime.GOOS != "linux":
		return fmt.Errorf("a node needs Linux, and this is %s", runtime.GOOS)
	case os.Geteuid() != 0:
		return errors.New("a node needs root")
	}
	return nil
}

func canRunNode() bool { return CanRunNode() == nil }

// Healthy tells whether the cluster is up and all of its components answer.
func (c Cluster) Healthy(ctx context.Context) bool {
	status, err := c.Status(ctx)
	return err == nil && status.Healthy()
}

// Up starts the cluster in the background and returns when it is ready for
// Pods. It leaves a healthy cluster alone and replaces any other.
func (c Cluster) Up(ctx context.Context, parts Parts) (err error) {
	lock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if c.Healthy(ctx) {
		return nil
	}
	if _, err := os.Stat(c.config()); err == nil {
		c.Out.Printf("Cluster %q is not healthy, or was not stopped properly; cleaning up first.", c.Name)
	}
	if err := c.takeDown(ctx, false); err != nil {
		return fmt.Errorf("clean up before the start: %w", err)
	}
	err = c.bringUp(ctx, parts)
	if ctx.Err() != nil {
		err = fmt.Errorf("the start of cluster %q was interrupted", c.Name)
		return errors.Join(err, c.takeDown(context.WithoutCancel(ctx), false))
	}
	if err != nil {
		err = fmt.Errorf("cluster %q did not start: %w\nits logs are in %s", c.Name, err, c.Logs())
		return errors.Join(err, c.takeDown(context.WithoutCancel(ctx), true))
	}
	return nil
}

func (c Cluster) bringUp(ctx context.Context, parts Parts) error {
	config, err := newConfig(ctx, parts)
	if err != nil {
		return err
	}
	if err := c.prepare(ctx, config); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	keeper, ended, err := c.startKeeper()
	if err != nil {
		return err
	}
	if err := c.await(ctx, ended); err != nil {
		// It may be too young to hold its lock, by which others would find it.
		_ = keeper.Signal(syscall.SIGTERM)
		return errors.Join(err, <-ended)
	}
	return nil
}

func newConfig(ctx context.Context, parts Parts) (Config, error) {
	config := Config{
		Node:     parts.Node,
		Host:     loopback,
		Programs: parts.Programs,
		Folders:  parts.Folders,
		CRDs:     parts.CRDs,
		Images:   parts.Images,
	}
	if !parts.Node {
		ports, err := freePorts()
		config.Ports = ports
		return config, err
	}
	config.Host, config.Ports = nodeIP, nodePorts
	config.Masquerade = !bridgeFilter(ctx)
	return config, nil
}

// prepare makes all that the background processes expect to find.
func (c Cluster) prepare(ctx context.Context, config Config) error {
	if len(c.Run) > longestSocketPath {
		return fmt.Errorf("the path %s is too long for sockets; set XDG_CACHE_HOME to a shorter one", c.Run)
	}
	for _, dir := range []string{c.pki(""), c.Logs(), c.Run, c.data("etcd")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if config.Node {
		var err error
		if config.Snapshotter, err = snapshotter(c.Dir); err != nil {
			return err
		}
		if err := makeVolumes(c.Layout); err != nil {
			return err
		}
	}
	// The configuration comes first: with it a clean-up knows what to do.
	if err := config.write(c.Layout); err != nil {
		return err
	}
	if err := writePKI(c.Layout, config, time.Now()); err != nil {
		return err
	}
	if err := writeFiles(c.Layout, config); err != nil {
		return err
	}
	if config.Node {
		return c.prepareMachine(ctx)
	}
	return nil
}

// prepareMachine does what is visible outside of the cluster's folder.
func (c Cluster) prepareMachine(ctx context.Context) error {
	machine, err := filelock.Acquire(ctx, c.machineLock(), nil)
	if err != nil {
		return err
	}
	err = makeFolders(c.Layout)
	if err == nil {
		err = makeCgroups(c.cgroup())
	}
	if err == nil {
		err = makeNamespace(ctx, c.Layout)
	}
	return errors.Join(err, machine.Release())
}

// startKeeper starts the outermost background process in a session of its own,
// so that no terminal reaches it. The channel holds its result and is closed
// when it has ended.
func (c Cluster) startKeeper() (*os.Process, <-chan error, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	file, err := openLog(c.log("supervisor"))
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, KeepCommand, "--name="+c.Name)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), file.Close()); err != nil {
		return nil, nil, fmt.Errorf("start the background process: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- cmd.Wait()
	}()
	return cmd.Process, ended, nil
}

// await returns when the cluster is ready and tells what is done meanwhile.
func (c Cluster) await(ctx context.Context, ended <-chan error) error {
	told := map[string]bool{}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return fmt.Errorf("the background process ended (%w):\n%s", err, tailOf(c.log("supervisor")))
		case <-tick.C:
		}
		status, err := newControl(c.Layout).status(ctx)
		if err != nil {
			continue // It does not listen yet.
		}
		c.tell(status, told)
		switch status.Phase {
		case Starting:
		case Ready:
			return nil
		case Failed:
			return errors.New(status.Failure)
		}
	}
}

func (c Cluster) tell(status Status, told map[string]bool) {
	var fresh []string
	for name := range status.Reached {
		if !told[name] {
			fresh = append(fresh, name)
			told[name] = true
		}
	}
	slices.SortFunc(fresh, func(a, b string) int { return int(status.Reached[a] - status.Reached[b]) })
	for _, name := range fresh {
		c.Out.Printf("  %-24s ready after %4.1fs", name, status.Reached[name].Seconds())
	}
}
