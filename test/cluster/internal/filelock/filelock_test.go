// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// lockVariable makes the test binary hold a lock for its parent.
const lockVariable = "FILELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(lockVariable); path != "" {
		hold(path)
	}
	os.Exit(m.Run())
}

func hold(path string) {
	lock, err := Acquire(context.Background(), path, nil)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	// The parent never writes; it kills this process, or ends.
	_, err = io.Copy(io.Discard, os.Stdin)
	fmt.Println(errors.Join(err, lock.Release()))
	os.Exit(1)
}

func TestLockBelongsToOneProcessUntilItEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "lock")
	if got := Holder(path); got != 0 {
		t.Fatalf("holder of a missing lock = %d, want 0", got)
	}
	other := startHolder(t, path)
	if got := Holder(path); got != other.Process.Pid {
		t.Fatalf("holder = %d, want %d", got, other.Process.Pid)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	waitedFor := 0
	if _, err := Acquire(ctx, path, func(pid int) { waitedFor = pid }); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("second lock: %v, want it to wait", err)
	}
	if waitedFor != other.Process.Pid {
		t.Errorf("waited for %d, want %d", waitedFor, other.Process.Pid)
	}

	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	lock, err := Acquire(t.Context(), path, nil)
	if err != nil {
		t.Fatalf("lock of a killed process: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func startHolder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockVariable+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process says %q (%v)", line, err)
	}
	return cmd
}
