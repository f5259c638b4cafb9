// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const bridge = "cni0"

// makeNamespace makes the network namespace with the bridge that Pods attach
// to. The bridge is there from the start because it carries the node's address.
func makeNamespace(ctx context.Context, l Layout) error {
	ns := l.Namespace()
	for _, args := range [][]string{
		{"netns", "add", ns},
		{"-n", ns, "link", "set", "lo", "up"},
		{"-n", ns, "link", "add", bridge, "type", "bridge"},
		{"-n", ns, "address", "add", nodeIP + "/" + podPrefix, "dev", bridge},
		{"-n", ns, "link", "set", bridge, "up"},
		// Without any route to Services a packet ends before its address is translated.
		{"-n", ns, "route", "add", serviceRange, "dev", bridge, "src", nodeIP},
	} {
		if err := runQuietly(exec.CommandContext(ctx, "ip", args...)); err != nil {
			return err
		}
	}
	return nil
}

// removeNamespace takes the interfaces and packet filters along.
func removeNamespace(ctx context.Context, l Layout) error {
	if _, err := os.Stat(l.NamespacePath()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return runQuietly(exec.CommandContext(ctx, "ip", "netns", "delete", l.Namespace()))
}

// bridgeFilter tells whether the kernel translates addresses back for packets
// that stay on a bridge.
func bridgeFilter(ctx context.Context) bool {
	// Loading fails where it is built in; only the outcome counts.
	_ = exec.CommandContext(ctx, "modprobe", "br_netfilter").Run()
	setting, err := os.ReadFile("/proc/sys/net/bridge/bridge-nf-call-iptables")
	return err == nil && strings.TrimSpace(string(setting)) == "1"
}

// execInside replaces the calling process by a command in the cluster's network
// namespace.
func execInside(l Layout, path string, args, env []string) error {
	runtime.LockOSThread()
	if err := joinNetwork(l); err != nil {
		return err
	}
	return syscall.Exec(path, args, env)
}

// outerPIDs maps ids in the process namespace of the cluster to those that the
// rest of the machine uses.
func outerPIDs(keeper int) (map[int]int, error) {
	statuses, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return nil, err
	}
	inner, parents := map[int]int{}, map[int]int{}
	for _, path := range statuses {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // It has ended meanwhile.
		}
		pid, parent, in := parseStatus(string(content))
		inner[pid], parents[pid] = in, parent
	}
	outer := map[int]int{}
	for pid, in := range inner {
		if in != 0 && descends(parents, pid, keeper) {
			outer[in] = pid
		}
	}
	return outer, nil
}

// parseStatus reads from /proc/PID/status the id, the parent's id and, if the
// process is in a process namespace below ours, the id in that one. Containers
// are yet another namespace below.
func parseStatus(content string) (pid, parent, inner int) {
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "Pid:":
			pid = number(fields[1])
		case "PPid:":
			parent = number(fields[1])
		case "NSpid:":
			if len(fields) > 2 {
				inner = number(fields[2])
			}
		}
	}
	return pid, parent, inner
}

// number parses what the kernel wrote as a number.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

func descends(parents map[int]int, pid, ancestor int) bool {
	for pid > 1 {
		if pid = parents[pid]; pid == ancestor {
			return true
		}
	}
	return false
}

// snapshotter is overlayfs, except where the cache itself lies on one.
func snapshotter(dir string) (string, error) {
	const overlay = 0x794c7630
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return "", fmt.Errorf("ask for the file system of %s: %w", dir, err)
	}
	if fs.Type == overlay {
		return "native", nil
	}
	return "overlayfs", nil
}
