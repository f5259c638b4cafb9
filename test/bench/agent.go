// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/backupjob-operator/api/agent"
)

const (
	// mostAgentMemory is P7's second aim.
	mostAgentMemory = 96 << 20
	// password is of a database that lives for one run.
	password = "only-for-the-benchmark"
)

// agentBench is what P7 works with.
type agentBench struct {
	dir, binary string
	database    *mariaDB
	runs        int
	memory      int64 // the most that the agent and its client took, in bytes
}

// agent is P7. Everything is in memory where there is room, so that no disk is
// measured.
func (b *bench) agent(ctx context.Context) error {
	dir, err := os.MkdirTemp(roomy(), "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	a := &agentBench{dir: dir, binary: filepath.Join(dir, "agent")}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", a.binary, "./cmd/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the agent: %w\n%s", err, out)
	}
	if a.database, err = startMariaDB(ctx, dir); err != nil {
		return err
	}
	defer a.database.stop()
	if err := a.prepare(ctx, b.megabytes); err != nil {
		return err
	}
	size, err := a.dumpSize(ctx)
	if err != nil {
		return err
	}
	// A round is one backup of each, and takes long enough.
	few := bench{rounds: max(b.rounds/2-1, 1)}
	took, err := few.interleave(ctx, 1, []call{{"agent", a.backup}, {"pipe", a.pipe}})
	if err != nil {
		return err
	}
	speed := func(t timings) string {
		d := t.quantile(.5)
		return fmt.Sprintf("%.0f MiB/s (%s)", float64(size)/(1<<20)/d.Seconds(), short(d))
	}
	b.rows = append(b.rows, row{
		id: "P7", what: fmt.Sprintf("agent: backup of tables of %.2f GiB as a dump", float64(size)/(1<<30)),
		ours: speed(took[0]), peer: "`mariadb-dump`, the same options, piped to `zstd -3`", theirs: speed(took[1]),
		ratio: ratio(took[0], took[1]), aim: 1 / .95,
	})
	reached := "reached"
	if a.memory > mostAgentMemory {
		reached = "**missed**"
	}
	b.rows = append(b.rows, row{
		id: "P7", what: "agent: peak memory of it or its client", ours: fmt.Sprintf("%d MiB", a.memory>>20), peer: "itself",
		aimText: fmt.Sprintf("under %d MiB: %s", mostAgentMemory>>20, reached),
	})
	return nil
}

// roomy is a folder in memory, if there is one with room for the database and
// its backups. Empty means the usual place.
func roomy() string {
	const dir, enough = "/dev/shm", 8 << 30
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil || s.Bavail*uint64(s.Bsize) < enough {
		return ""
	}
	return dir
}

func (a *agentBench) prepare(ctx context.Context, megabytes int) error {
	for _, name := range []string{"volume", "work", "credentials"} {
		if err := os.Mkdir(filepath.Join(a.dir, name), 0o755); err != nil { //nolint:gosec // a temporary folder
			return err
		}
	}
	return errors.Join(
		os.WriteFile(filepath.Join(a.dir, "credentials", "username"), []byte("backup"), 0o600),
		os.WriteFile(filepath.Join(a.dir, "credentials", "password"), []byte(password), 0o600),
		os.WriteFile(filepath.Join(a.dir, "options"), []byte("[client]\nuser=backup\npassword="+password+"\n"), 0o600),
		a.database.sql(ctx, "CREATE USER backup@'%' IDENTIFIED BY '"+password+"'; GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON *.* TO backup@'%';"),
		a.database.fill(ctx, max(megabytes/64, 1)),
	)
}

// dump is the command line that the agent's own client gets.
func (a *agentBench) dump() string {
	return "mariadb-dump --defaults-file=" + filepath.Join(a.dir, "options") + " --host=127.0.0.1 --port=" + a.database.port +
		" --hex-blob --no-tablespaces --quick --comments --dump-date --routines --triggers --events --single-transaction --skip-lock-tables --databases shop"
}

func (a *agentBench) shell(ctx context.Context, script string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "bash", "-c", "set -o pipefail; "+script).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return out, nil
}

func (a *agentBench) dumpSize(ctx context.Context) (size int64, err error) {
	out, err := a.shell(ctx, a.dump()+" | wc -c")
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(string(out), &size)
	return size, err
}

// pipe does what people do without an operator, and waits for the file as the
// agent does.
func (a *agentBench) pipe(ctx context.Context) error {
	file := filepath.Join(a.dir, "pipe.sql.zst")
	_, err := a.shell(ctx, a.dump()+" | zstd -3 -q -f -o "+file+" && sync "+file)
	return errors.Join(err, os.Remove(file))
}

// watch looks at the memory of the agent and of its client until they end.
func (a *agentBench) watch(ctx context.Context, pid int) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		processes := []byte(strconv.Itoa(pid))
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, task := range tasks {
			children, _ := os.ReadFile(task) //nolint:gosec // the system's own names
			processes = append(append(processes, ' '), children...)
		}
		for name := range strings.FieldsSeq(string(processes)) {
			id, _ := strconv.Atoi(name)
			peak, _ := peakOfProcess(id) // nothing once it has ended
			a.memory = max(a.memory, peak)
		}
	}
}

func (a *agentBench) backup(ctx context.Context) error {
	a.runs++
	volume := filepath.Join(a.dir, "volume")
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(a.runs) * time.Hour)
	process := exec.CommandContext(ctx, a.binary, slices.Concat([]string{agent.CommandBackup}, []string{
		"--root=" + volume, "--namespace=shop", "--name=nightly", "--uid=11111111-aaaa-4aaa-8aaa-111111111111", "--kind=BackupJob",
		"--termination-log=" + filepath.Join(a.dir, "termination-log"), "--scheduled-time=" + at.Format(time.RFC3339),
		"--engine=MariaDB", "--host=127.0.0.1", "--port=" + a.database.port, "--database=shop",
		"--username-file=" + filepath.Join(a.dir, "credentials", "username"), "--password-file=" + filepath.Join(a.dir, "credentials", "password"),
		"--work-dir=" + filepath.Join(a.dir, "work"),
	})...)
	var out bytes.Buffer
	process.Stdout, process.Stderr = &out, &out
	if err := process.Start(); err != nil {
		return err
	}
	watched, stop := context.WithCancel(ctx)
	group := errgroup.Group{}
	group.Go(func() error { a.watch(watched, process.Process.Pid); return nil })
	err := process.Wait()
	stop()
	if err := errors.Join(err, group.Wait()); err != nil {
		return fmt.Errorf("%w: %s", err, out.Bytes())
	}
	return errors.Join(os.RemoveAll(volume), os.Mkdir(volume, 0o755)) //nolint:gosec // a temporary folder
}
