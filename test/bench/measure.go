// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// call is one way of doing something that is compared with others.
type call struct {
	name string
	do   func(context.Context) error
}

// timings are the times of one call, sorted, a list per round.
type timings [][]time.Duration

// interleave makes n calls of each kind per round, each time in another order,
// so that the machine's noise, and the garbage that one leaves to the next,
// meet all of them alike. A first, unmeasured round warms up.
func (b *bench) interleave(ctx context.Context, n int, calls []call) ([]timings, error) {
	all := make([]timings, len(calls))
	order := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same orders in every run
	for round := range b.rounds + 1 {
		took := make([][]time.Duration, len(calls))
		for range n {
			for _, k := range order.Perm(len(calls)) {
				start := time.Now()
				if err := calls[k].do(ctx); err != nil {
					return nil, fmt.Errorf("%s: %w", calls[k].name, err)
				}
				took[k] = append(took[k], time.Since(start))
			}
		}
		for k := range calls {
			slices.Sort(took[k])
			if round > 0 {
				all[k] = append(all[k], took[k])
			}
		}
	}
	return all, nil
}

// at is the value that a share of a sorted list stays below.
func at(sorted []time.Duration, share float64) time.Duration {
	return sorted[int(float64(len(sorted)-1)*share)]
}

// quantile is the median of the rounds.
func (t timings) quantile(share float64) time.Duration {
	rounds := make([]time.Duration, len(t))
	for i := range t {
		rounds[i] = at(t[i], share)
	}
	slices.Sort(rounds)
	return at(rounds, .5)
}

// String is what stands in the table.
func (t timings) String() string {
	return fmt.Sprintf("p50 %s, p99 %s", short(t.quantile(.5)), short(t.quantile(.99)))
}

// ratio is how many times as long ours took as theirs in the median, a figure
// per round.
func ratio(ours, theirs timings) ratios { return ratioAt(ours, theirs, .5) }

// ratioAt compares what a share of each stays below.
func ratioAt(ours, theirs timings, share float64) ratios {
	r := make(ratios, len(ours))
	for i := range ours {
		r[i] = float64(at(ours[i], share)) / float64(at(theirs[i], share))
	}
	slices.Sort(r)
	return r
}

// ratios are those of the rounds, sorted.
type ratios []float64

func (r ratios) median() float64 { return r[len(r)/2] }

// String is the median and how far the rounds lie apart.
func (r ratios) String() string {
	if len(r) == 1 {
		return fmt.Sprintf("**%.2f**", r[0])
	}
	return fmt.Sprintf("**%.2f** (%.2f to %.2f)", r.median(), r[0], r[len(r)-1])
}

// short is a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
