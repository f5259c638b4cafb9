// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// kubectl-backup is the kubectl plugin 'kubectl backup': it judges, explains and
// converts manifests without a cluster, and lists and runs backups in one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/utils/clock"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
)

// version is set by the build.
var version = "devel"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	// A second signal ends the process the hard way.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], clock.RealClock{}, os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, c clock.WithTicker, stdin io.Reader, stdout, stderr io.Writer) int {
	root, err := newRoot(c)
	if err == nil {
		root.SetArgs(args)
		root.SetIn(stdin)
		root.SetOut(stdout)
		root.SetErr(stderr)
		err = root.ExecuteContext(ctx)
	}
	if err != nil && !errors.Is(err, exit.ErrSaid) {
		// There is no one left to tell if this cannot be written.
		_, _ = fmt.Fprintln(stderr, "error: "+err.Error())
	}
	return exit.Code(err)
}
