// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// mostStart is P8's aim.
const mostStart = 500 * time.Millisecond

// start is P8.
func (b *bench) start(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", dir+"/", "./cmd/manager", "./cmd/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the binaries: %w\n%s", err, out)
	}
	certificate, key, err := servingPair()
	if err != nil {
		return err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600),
	); err != nil {
		return err
	}
	took := make([]time.Duration, b.rounds)
	for i := range took {
		if took[i], err = firstAnswer(ctx, dir); err != nil {
			return err
		}
	}
	slices.Sort(took)
	reached := "reached"
	if took[len(took)/2] > mostStart {
		reached = "**missed**"
	}
	b.rows = append(b.rows, row{
		id: "P8", what: "`manager webhook`: start of the process to the first TLS answer", ours: short(took[len(took)/2]), peer: "itself",
		note: fmt.Sprintf("%s to %s", short(took[0]), short(took[len(took)-1])), aimText: fmt.Sprintf("under %s: %s", mostStart, reached),
	})
	for _, name := range []string{"manager", "agent"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row{id: "P8", what: "size of `" + name + "`", ours: fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), peer: "itself", aimText: "together under 80 MB"})
	}
	return nil
}

// firstAnswer starts a webhook process and asks for a TLS handshake until it
// gets one.
func firstAnswer(ctx context.Context, dir string) (time.Duration, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := listener.Close(); err != nil {
		return 0, err
	}
	process := exec.CommandContext(ctx, filepath.Join(dir, "manager"), "webhook", "--bind-address=127.0.0.1", "--port="+port,
		"--cert-dir="+dir, "--reference-authorization=off", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	start := time.Now()
	if err := process.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = process.Process.Kill()
		_ = process.Wait() // it was killed
	}()
	for time.Since(start) < time.Minute {
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // whether it answers is all that is asked
		if err == nil {
			return time.Since(start), conn.Close()
		}
		time.Sleep(time.Millisecond)
	}
	return 0, errors.New("the webhook server gave no answer within a minute")
}
