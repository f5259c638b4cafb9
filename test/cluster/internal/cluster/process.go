// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	restartDelay = time.Second
	probeEvery   = 100 * time.Millisecond
	readyLimit   = 90 * time.Second
	logTailLines = 15
)

// process is a component and, most of the time, its running program.
type process struct {
	component
	logPath string
	client  *http.Client
	out     *log.Logger // for what people should know

	mu       sync.Mutex
	cmd      *exec.Cmd
	exited   chan struct{} // closed when cmd has ended
	wanted   bool          // false while it is stopped on purpose
	restarts int
}

// start runs the program, unless it runs already. If the program ends without
// having been asked to, it is started again.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	return p.startLocked()
}

func (p *process) startLocked() error {
	if p.cmd != nil {
		return nil
	}
	file, err := openLog(p.logPath)
	if err != nil {
		return err
	}
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = file, file
	if err := errors.Join(cmd.Start(), file.Close()); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	exited := make(chan struct{})
	p.cmd, p.exited = cmd, exited
	go p.wait(cmd, exited)
	return nil
}

func (p *process) wait(cmd *exec.Cmd, exited chan struct{}) {
	err := cmd.Wait()
	p.mu.Lock()
	p.cmd = nil
	unexpected := p.wanted
	p.mu.Unlock()
	close(exited)
	if !unexpected {
		return
	}
	p.out.Printf("%s ended by itself (%v); starting it again", p.name, err)
	time.AfterFunc(restartDelay, p.restart)
}

func (p *process) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted || p.cmd != nil {
		return
	}
	p.restarts++
	if err := p.startLocked(); err != nil {
		p.out.Print(err)
	}
}

// stop ends the program and returns when it is gone: asked first, killed when
// its grace is over, or killed at once.
func (p *process) stop(kill bool) {
	p.mu.Lock()
	p.wanted = false
	cmd, exited := p.cmd, p.exited
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	defer func(since time.Time) {
		p.out.Printf("%s is stopped after %s", p.name, time.Since(since).Round(time.Millisecond))
	}(time.Now())
	if !kill {
		// A program that has just ended cannot be signalled, which is fine.
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
			return
		case <-time.After(p.grace):
			p.out.Printf("%s is still there after %s; killing it", p.name, p.grace)
		}
	}
	_ = cmd.Process.Kill()
	<-exited
}

func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// health is nil if the program runs and answers.
func (p *process) health(ctx context.Context) error {
	p.mu.Lock()
	running, wanted := p.cmd != nil, p.wanted
	p.mu.Unlock()
	switch {
	case !wanted:
		return errStopped
	case !running:
		return errors.New("not running")
	}
	return p.probe.ask(ctx, p.client)
}

var errStopped = errors.New("stopped")

// awaitReady returns when the component answers. If it does not in time, the
// error holds the end of its log.
func (p *process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		err := p.health(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w): %w\n%s", p.name, ctx.Err(), err, tailOf(p.logPath))
		case <-tick.C:
		}
	}
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

// tailOf is the end of a log, or nothing if it cannot be read.
func tailOf(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-logTailLines):], "\n")
}
