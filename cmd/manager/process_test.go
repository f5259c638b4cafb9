// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// asManager makes the test binary behave as the manager, so that the tests
// start real processes without building another one.
const asManager = "TEST_RUNS_THE_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(asManager) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// process is a manager that was started.
type process struct {
	command *exec.Cmd
	log     *lockedBuffer
	ended   chan error
}

// startManager starts one, with an environment that leads to no cluster.
func startManager(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{command: exec.CommandContext(t.Context(), os.Args[0], args...), log: &lockedBuffer{}, ended: make(chan error, 1)}
	p.command.Env = []string{asManager + "=1", "HOME=" + t.TempDir()}
	p.command.Stdout, p.command.Stderr = p.log, p.log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.command.Wait() }()
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		if t.Failed() {
			t.Logf("log of the manager:\n%s", p.log)
		}
	})
	return p
}

func (p *process) askToStop(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// wait returns how the process ended.
func (p *process) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("the manager does not end")
		return nil
	}
}

// lockedBuffer is written by the process while the test reads it.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// freePort is a port that nothing listened on a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // it only told a number
	return strings.TrimPrefix(listener.Addr().String(), "127.0.0.1:")
}

func waitFor(t *testing.T, check func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("gave up waiting: %v", last)
	}
}

func wantExit(t *testing.T, err error, code int) {
	t.Helper()
	got := 0
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Wait does not wrap it
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
}

func wantText(got string, words ...string) error {
	for _, word := range words {
		if !strings.Contains(got, word) {
			return fmt.Errorf("got %q, want %q in it", got, word)
		}
	}
	return nil
}
