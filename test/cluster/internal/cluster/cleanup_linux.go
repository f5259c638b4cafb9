// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// cleanUp removes what a cluster leaves outside of its folder. It may be called
// for a cluster that was killed, and more than once.
func cleanUp(ctx context.Context, l Layout, c Config) error {
	if !c.Node {
		return errors.Join(killStrays(ctx, l, c), os.RemoveAll(l.Run))
	}
	return errors.Join(
		removeNamespace(ctx, l),
		eventually(ctx, func() error { return removeCgroups(l.cgroup()) }),
		removeFolders(ctx, l),
		os.RemoveAll(l.Run),
		removeFolder(filepath.Dir(l.Run)),
	)
}
