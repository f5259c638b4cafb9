// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures how fast the operator is, against peers that do the
// same work or none, in turn on the same machine. It writes one table in
// markdown: machines are shared and noisy, so what matters is the ratio of two
// things that were measured one after the other. It is no test and fails on no
// figure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := choose(ctx, os.Args[1:])
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// bench is one run of measurements.
type bench struct {
	rounds    int
	objects   int
	megabytes int
	profile   string
	attack    string
	progress  io.Writer
	rows      []row
}

// measurements are in the order of the table.
var measurements = []struct {
	id  string
	run func(*bench, context.Context) error
}{
	{"P1", (*bench).conversion},
	{"P2", (*bench).writes},
	{"P3", (*bench).restarts},
	{"P4", (*bench).admission},
	{"P7", (*bench).agent},
	{"P8", (*bench).start},
	{"S1", (*bench).attacks},
}

// choose runs the measurements, or with "serve" in front the server that they
// send to, or with "attack" somebody who keeps them from it.
func choose(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "serve":
			return serve(ctx, args[1:], os.Stdin, os.Stdout)
		case "attack":
			return runAttacker(ctx, args[1:], os.Stdin)
		}
	}
	return run(ctx, args)
}

// run parses and measures.
func run(ctx context.Context, args []string) error {
	b := &bench{progress: os.Stderr}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", "", "comma-separated `names` of the measurements to run, such as P1,P3 (default: all)")
	out := flags.String("out", "", "`file` to write the table to as well")
	flags.IntVar(&b.rounds, "rounds", 7, "how often each pair is measured; figures are medians of the rounds")
	flags.IntVar(&b.objects, "objects", 10000, "how many objects P3 stores")
	flags.IntVar(&b.megabytes, "megabytes", 2048, "how many MiB of dump P7 makes")
	flags.StringVar(&b.profile, "profile", "", "`file` to write a CPU profile to of the server while it answers /convert; nothing else is measured")
	flags.StringVar(&b.attack, "attack", "", "`name` of the one attack that S1 makes, such as 'deep JSON' (default: all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if b.rounds < 1 || b.objects < 1 {
		return errors.New("-rounds and -objects must be at least 1")
	}
	if b.profile != "" {
		return b.profileConversion(ctx)
	}
	machine := describeMachine()
	for _, m := range measurements {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), m.id) {
			continue
		}
		_, _ = fmt.Fprintf(b.progress, "%s …\n", m.id)
		if err := m.run(b, ctx); err != nil {
			return fmt.Errorf("measure %s: %w", m.id, err)
		}
	}
	table := writeTable(b.rows, machine+" before, "+loadNow()+" after", command(flags))
	if *out != "" {
		if err := os.WriteFile(*out, []byte(table), 0o644); err != nil { //nolint:gosec // everybody may read a table
			return err
		}
	}
	_, err := fmt.Print(table)
	return err
}

// command is what makes such a table again, wherever it is written to.
func command(flags *flag.FlagSet) string {
	text := "go run ./test/bench"
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "out" {
			text += fmt.Sprintf(" -%s %s", f.Name, f.Value)
		}
	})
	return text
}
