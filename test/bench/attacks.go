// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/conversion"
	"example.com/backupjob-operator/test/attack"
	"example.com/backupjob-operator/webhooks"
)

const (
	// settle is how long an attack goes on, or its traces fade, before anybody
	// measures.
	settle = 3 * time.Second
	// watch is how long is measured each time.
	watch = 5 * time.Second
	// pace is how often somebody honest writes.
	pace = 10 * time.Millisecond
	// memoryLimit is the Deployment's GOMEMLIMIT.
	memoryLimit = 600 << 20
)

// attacks is S1: what honest callers see of each attack.
func (b *bench) attacks(ctx context.Context) error {
	for _, a := range attack.All {
		if b.attack != "" && b.attack != a.Name {
			continue
		}
		_, _ = fmt.Fprintf(b.progress, "  %s …\n", a.Name)
		if err := b.attacked(ctx, a); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return nil
}

// attacked compares an attack upon the server with none, and with the same one
// upon another server of the same machine: that costs its cores as much, and
// is no doing of the server that is measured.
func (b *bench) attacked(ctx context.Context, a attack.Attack) (err error) {
	args := []string{fmt.Sprintf("-http2=%t", a.HTTP2), fmt.Sprintf("-memory-limit=%d", memoryLimit)}
	ours, err := startServer(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.stop()) }()
	neighbour, err := startServer(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, neighbour.stop()) }()
	write, err := honestWrite(ours)
	if err != nil {
		return err
	}
	victims := []*server{nil, ours, neighbour}
	took := make([]timings, len(victims))
	order := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same orders in every run
	for range b.rounds {
		for _, k := range order.Perm(len(victims)) {
			times, err := underAttack(ctx, a, victims[k], write)
			if err != nil {
				return err
			}
			took[k] = append(took[k], times)
		}
	}
	peak, err := ours.peak()
	if err != nil {
		return err
	}
	for _, peer := range []struct {
		name string
		took timings
		aim  float64
	}{{"the same, quiet", took[0], 2}, {"the same while its neighbour is attacked", took[2], 0}} {
		b.rows = append(b.rows, row{
			id: "S1", what: "`/mutate` and `/validate` of a write, during " + a.Name,
			ours: fmt.Sprintf("%s (%.2f times theirs); peak memory %d MiB", took[1], ratioAt(took[1], peer.took, .99).median(), peak>>20),
			peer: peer.name, theirs: peer.took.String(),
			ratio: ratio(took[1], peer.took), aim: peer.aim,
		})
	}
	return nil
}

// honestWrite is what the API server asks about an update.
func honestWrite(s *server) (func(context.Context) error, error) {
	hub, err := stored(backupv1.KindBackupJob)
	if err != nil {
		return nil, err
	}
	raw, err := conversion.Convert(hub, backupv1.GroupVersion.String())
	if err != nil {
		return nil, err
	}
	body, err := admissionReview(backupv1.GroupVersion.String(), admissionv1.Update, raw)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		for _, path := range []string{webhooks.PathMutateBackupJob, webhooks.PathValidateBackupJob} {
			if err := s.post(ctx, path, body, io.Discard); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// underAttack measures honest writes while a server is attacked; no server is
// no attack.
func underAttack(ctx context.Context, a attack.Attack, victim *server, write func(context.Context) error) ([]time.Duration, error) {
	if victim != nil {
		stop, err := startAttacker(ctx, a, victim)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	time.Sleep(settle)
	var took []time.Duration
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	for end := time.Now().Add(watch); time.Now().Before(end); {
		<-ticks.C
		start := time.Now()
		if err := write(ctx); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took, nil
}

// startAttacker attacks from a process that has the cores only while nobody
// else wants them, as if it ran somewhere else.
func startAttacker(ctx context.Context, a attack.Attack, victim *server) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "nice", "-n", "19", self, "attack", "-name", a.Name)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = input.Close()
		_ = command.Wait()
	}, json.NewEncoder(input).Encode(victim.greeting)
}

// runAttacker attacks the server that greets it, until its input ends.
func runAttacker(ctx context.Context, args []string, in io.Reader) error {
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	name := flags.String("name", "", "`name` of the attack")
	if err := flags.Parse(args); err != nil {
		return err
	}
	i := slices.IndexFunc(attack.All, func(a attack.Attack) bool { return a.Name == *name })
	if i < 0 {
		return fmt.Errorf("there is no attack %q", *name)
	}
	var victim greeting
	if err := json.NewDecoder(in).Decode(&victim); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(victim.Bundle)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	var progress attack.Progress
	start := time.Now()
	attack.All[i].Run(ctx, attack.Target{Address: victim.Address, Roots: roots, From: net.IPv4(127, 0, 0, 2)}, &progress)
	_, _ = fmt.Fprintf(os.Stderr, "    %d strikes in %s %s\n", progress.Dealt(), short(time.Since(start)), progress.Wrong())
	return nil
}
