// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// killStrays ends the components of a cluster without a node whose supervisor
// was killed: they have no namespace whose end would end them.
func killStrays(ctx context.Context, l Layout, c Config) error {
	out, err := exec.CommandContext(ctx, "ps", "-A", "-ww", "-o", "pid=", "-o", "command=").Output()
	if err != nil {
		return fmt.Errorf("list the processes: %w", err)
	}
	var errs []error
	for _, pid := range strays(string(out), l, c) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("kill process %d: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}

// strays picks from a listing the processes that run one of our programs on
// this cluster's folder.
func strays(listing string, l Layout, c Config) []int {
	var pids []int
	for line := range strings.Lines(listing) {
		number, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		for _, program := range c.Programs {
			ours := strings.HasPrefix(strings.TrimSpace(command), program+" ")
			if ours && strings.Contains(command, l.Dir+string(os.PathSeparator)) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
