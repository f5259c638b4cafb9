// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tailLines is how much of a failed build's output is worth showing.
const tailLines = 20

// job is one program to build.
type job struct {
	module  module
	program program
}

func (t *Toolchain) buildAll(ctx context.Context, jobs []job) error {
	started := time.Now()
	for i, j := range jobs {
		label := fmt.Sprintf("[%d/%d] %s", i+1, len(jobs), j.program.name)
		err := watch(t.out, label, "building "+j.program.pkg, func() error { return t.build(ctx, j) })
		if err != nil {
			return err
		}
	}
	if len(jobs) > 0 {
		t.out.Printf("Built %d programs in %s.", len(jobs), rounded(time.Since(started)))
	}
	return nil
}

// build leaves either a whole program or none: the compiler writes beside the
// place, and the program moves there when all that belongs to it is done.
func (t *Toolchain) build(ctx context.Context, j job) (err error) {
	dir := t.dir(j.module)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	part := filepath.Join(dir, fmt.Sprintf(".%s.%d", j.program.name, os.Getpid()))
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	for _, c := range j.module.copies {
		if err := t.copyFiles(ctx, j.module, c, dir); err != nil {
			return err
		}
	}
	ldflags, err := t.ldflags(ctx, j.module)
	if err != nil {
		return err
	}
	// The state of this repository does not belong into what is built.
	args := slices.Concat([]string{"build", "-buildvcs=false", "-ldflags", ldflags, "-o", part}, j.module.flags, []string{j.program.pkg})
	if _, err := t.goCommand(ctx, j.module, args...); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(dir, j.program.name))
}

func (t *Toolchain) ldflags(ctx context.Context, m module) (string, error) {
	flags := "-s -w"
	if m.stamp.module == "" {
		return flags, nil
	}
	version, err := t.goCommand(ctx, m, "list", "-m", "-f", "{{.Version}}", m.stamp.module)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s -X %s=%s", flags, m.stamp.variable, version), nil
}

func (t *Toolchain) copyFiles(ctx context.Context, m module, c copies, dir string) error {
	// On a fresh machine nothing has fetched the module yet, and it then has no folder.
	if _, err := t.goCommand(ctx, m, "mod", "download", c.module); err != nil {
		return err
	}
	from, err := t.goCommand(ctx, m, "list", "-m", "-f", "{{.Dir}}", c.module)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, c.to)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range c.files {
		content, err := os.ReadFile(filepath.Join(from, c.from, name))
		if err != nil {
			return fmt.Errorf("copy from module %s: %w", c.module, err)
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goCommand runs the go tool in the module's folder and returns what it printed.
func (t *Toolchain) goCommand(ctx context.Context, m module, args ...string) (string, error) {
	cgo := "CGO_ENABLED=0"
	if m.cgo {
		cgo = "CGO_ENABLED=1"
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(t.source, m.dir)
	cmd.Env = append(os.Environ(), cgo, "GOWORK=off")
	// The compilers that it starts must end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("in %s: %s go %s: %w\n%s", cmd.Dir, cgo, strings.Join(args, " "), err, tail(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
