// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cluster

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// Without Linux there is no node, and nothing of this file is reached but
// childAttributes, outerPIDs and cleanUp.

var errNoNode = errors.New("a node needs Linux")

func childAttributes(Config) *syscall.SysProcAttr { return nil }

// Init is only there so that the command compiles.
func Init(Layout) error { return errNoNode }

func makeNamespace(context.Context, Layout) error { return errNoNode }

func makeFolders(Layout) error { return errNoNode }

func makeCgroups(string) error { return errNoNode }

func bridgeFilter(context.Context) bool { return false }

func snapshotter(string) (string, error) { return "", errNoNode }

func execInside(Layout, string, []string, []string) error { return errNoNode }

func outerPIDs(int) (map[int]int, error) { return nil, errNoNode }

func cleanUp(ctx context.Context, l Layout, c Config) error {
	return errors.Join(killStrays(ctx, l, c), os.RemoveAll(l.Run))
}
