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
	"syscall"
	"time"

	"example.com/backupjob-operator/test/cluster/internal/filelock"
)

// Names of the commands that the background processes are started with.
const (
	KeepCommand      = "keep"
	InitCommand      = "init"
	SuperviseCommand = "supervise"
)

// stopLimit is how long a cluster may take to stop before it is killed.
const stopLimit = 45 * time.Second

// Keep is the outermost background process. It starts the supervisor in
// namespaces of its own, holds the lock that says that this cluster runs, and
// cleans up when the supervisor is gone, for whatever reason. If Keep itself is
// killed, the kernel kills everything below it.
func Keep(ctx context.Context, l Layout) (err error) {
	// The kernel kills a child when the thread that made it ends, so this one
	// has to stay.
	runtime.LockOSThread()
	c, err := readConfig(l)
	if err != nil {
		return err
	}
	lock, err := announce(ctx, l, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanUp(context.WithoutCancel(ctx), l, c), lock.Release()) }()
	cmd, err := child(l, c)
	if err != nil {
		return err
	}
	// The supervisor writes to the same log by itself.
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		return fmt.Errorf("the supervisor ended by itself: %w", err)
	case <-ctx.Done():
	}
	// It may have ended just now.
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-exited:
		return err
	case <-time.After(stopLimit):
		return errors.Join(fmt.Errorf("the supervisor was killed; it did not stop within %s", stopLimit), cmd.Process.Kill(), <-exited)
	}
}

// announce takes the lock that says that this cluster runs. Where there is a
// node, no other cluster may remove shared folders in that moment.
func announce(ctx context.Context, l Layout, c Config) (lock *filelock.Lock, err error) {
	machine, err := filelock.Acquire(ctx, l.machineLock(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, machine.Release()) }()
	if c.Node {
		if err := makeFolders(l); err != nil {
			return nil, err
		}
	}
	return filelock.Acquire(ctx, l.keeperLock(), nil)
}

// child is the supervisor, behind an init process where there is a node.
func child(l Layout, c Config) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := SuperviseCommand
	if c.Node {
		name = InitCommand
	}
	cmd := exec.Command(self, name, "--name="+l.Name)
	cmd.SysProcAttr = childAttributes(c)
	return cmd, nil
}
