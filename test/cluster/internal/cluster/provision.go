// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const applyEvery = 250 * time.Millisecond

// Images that the cluster itself needs.
const (
	PauseImage = "local/pause:1"
	DNSImage   = "local/coredns:1"
)

// applyManifests tries again until the API server has made the namespaces that
// every cluster has; it calls itself ready a little earlier.
func (s *supervisor) applyManifests(ctx context.Context) error {
	tick := time.NewTicker(applyEvery)
	defer tick.Stop()
	for {
		err := s.kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-f", s.layout.manifests())
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
	return s.kubectl(ctx, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
}

// awaitNode returns when Pods can be started and can find each other.
func (s *supervisor) awaitNode(ctx context.Context) error {
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready", "node/"+nodeName, "--timeout=90s"); err != nil {
		return err
	}
	return s.kubectl(ctx, "--namespace=kube-system", "rollout", "status", "deployment/coredns", "--timeout=90s")
}

func (s *supervisor) importImages(ctx context.Context) error {
	for _, archive := range s.config.Images {
		if err := importImage(ctx, s.layout, s.config, archive); err != nil {
			return err
		}
	}
	return nil
}

// importImage hands an archive to containerd, which completes names without a
// host the way the kubelet does when it looks for them.
func importImage(ctx context.Context, l Layout, c Config, archive string) error {
	return runQuietly(exec.CommandContext(ctx, c.Programs["ctr"],
		"--address="+l.containerdSocket(), "--namespace=k8s.io",
		"images", "import", "--local", "--snapshotter="+c.Snapshotter, archive))
}

func (s *supervisor) kubectl(ctx context.Context, args ...string) error {
	args = append([]string{"--kubeconfig=" + s.layout.Kubeconfig(), "--cache-dir=" + s.layout.data("kubectl")}, args...)
	return runQuietly(exec.CommandContext(ctx, s.config.Programs["kubectl"], args...))
}

// runQuietly shows what a command said only if it fails.
func runQuietly(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, strings.TrimSpace(out.String()))
	}
	return nil
}
