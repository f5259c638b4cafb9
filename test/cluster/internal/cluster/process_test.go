// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"log"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// buffer is what several goroutines write to.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newProcess is a shell that runs script; it counts as ready when socket is
// listened on.
func newProcess(t *testing.T, script string) (*process, *buffer) {
	t.Helper()
	dir := t.TempDir()
	out := &buffer{}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{
		component: component{name: "unit", args: []string{"/bin/sh", "-c", script}, probe: probe{socket: socket}, grace: 200 * time.Millisecond},
		logPath:   filepath.Join(dir, "log"),
		out:       log.New(out, "", 0),
	}
	t.Cleanup(func() {
		p.stop(true)
		_ = listener.Close()
	})
	return p, out
}

func TestProcessStopsWhenAsked(t *testing.T) {
	p, out := newProcess(t, "exec sleep 600")
	if err := errors.Join(p.start(), p.awaitReady(t.Context())); err != nil {
		t.Fatal(err)
	}
	pid := p.pid()
	p.stop(false)
	if p.pid() != 0 || syscall.Kill(pid, 0) == nil {
		t.Error("it still runs")
	}
	if err := p.health(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("health after the stop: %v", err)
	}
	if strings.Contains(out.String(), "killing") {
		t.Error(out.String())
	}
}

func TestProcessThatIgnoresTheQuestionIsKilled(t *testing.T) {
	p, out := newProcess(t, `trap "" TERM; echo deaf; while :; do sleep 1; done`)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	if err := poll(t.Context(), func() error {
		if tailOf(p.logPath) != "deaf" {
			return errors.New("the trap is not set")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p.stop(false)
	if p.pid() != 0 || !strings.Contains(out.String(), "killing it") {
		t.Errorf("pid %d, said %q", p.pid(), out)
	}
}

func TestProcessThatEndsByItselfIsStartedAgain(t *testing.T) {
	p, out := newProcess(t, "exec sleep 600")
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	first := p.pid()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := poll(t.Context(), func() error {
		if pid := p.pid(); pid == 0 || pid == first {
			return errors.New("not started again")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if p.restarts != 1 || !strings.Contains(out.String(), "starting it again") {
		t.Errorf("%d restarts, said %q", p.restarts, out)
	}
}

func TestProcessThatIsNotReadyShowsItsLog(t *testing.T) {
	p, _ := newProcess(t, "echo the cause; exec sleep 600")
	p.probe = probe{socket: filepath.Join(t.TempDir(), "nobody")}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := p.awaitReady(ctx); err == nil || !strings.Contains(err.Error(), "the cause") {
		t.Errorf("error %v", err)
	}
}
