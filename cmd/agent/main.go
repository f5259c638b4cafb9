// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// The agent runs in the Pod of a backup's Job: it makes a backup of MySQL or
// MariaDB databases on a volume, applies the retention, verifies and
// restores. It is one static binary that knows nothing of Kubernetes beyond
// its arguments and files.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// umask leaves the group its rights: what one Pod stores another one of the
// same fsGroup may restore and prune.
const umask = 0o007

func main() {
	unix.Umask(umask)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	// A second signal ends the process the hard way.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code. Whatever goes
// wrong is the last line on stderr and in the termination message.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := newApp(stdout, stderr)
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		a.result.Error = oneLine(err)
	}
	if reportErr := report(terminationLog(args), a.result); reportErr != nil {
		a.log.Warn("The result could not be reported", "reason", reportErr.Error())
	}
	if err == nil {
		return 0
	}
	// There is no one left to tell if this cannot be written.
	_, _ = fmt.Fprintln(stderr, "Failed: "+a.result.Error)
	return 1
}
