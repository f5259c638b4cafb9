// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// maxRequest is how many bytes of a request the status holds.
	maxRequest = 256
	// maxQuoted is how many characters of a value a message shows.
	maxQuoted = 60
	// historyGrace is how long a finished Job stays whatever the history
	// limits say. It outlasts the pass of a leader that was frozen before it
	// created the same Job, and meets AlreadyExists when it goes on.
	historyGrace = 2 * passTimeout
)

// plan is what a pass is going to do.
type plan struct {
	observed backupv1.ObservedSchedule
	invalid  error // why the schedule cannot be read
	replace  []job // active runs to end first
	start    []run
	held     []string // Jobs that are due and were refused since the last edit
	handled  string   // the request that needs nothing more
	skip     *skip
	next     time.Time // the next scheduled run, zero if there is none
	interval time.Duration
	remove   []job     // finished Jobs beyond the history limits
	look     time.Time // when more of them may go, zero if none
}

// skip is a scheduled time that is spent without a run.
type skip struct {
	at     time.Time
	count  schedule.Count // how many, this one included
	reason string
}

// decide says what is due. It is a function of the facts alone.
func decide(f facts) plan {
	policy := f.backup.Policy()
	p := plan{observed: observedSchedule(f), handled: f.status().LastHandledRunRequest}
	p.remove, p.look = surplus(f)
	s, err := schedule.Parse(policy.Schedule, policy.Zone())
	if err != nil {
		p.invalid = cmp.Or(faults(policy), err)
		return p
	}
	base := baseOf(f, p.observed)
	request := f.request()
	if slices.ContainsFunc(f.jobs, func(j job) bool { return request != "" && j.request == request }) {
		p.handled, request = request, "" // a crash kept it out of the status
	}
	if !policy.Suspended() {
		p.tick(f, s, base, request != "" && !f.refusedBefore(run{request: request}))
		p.next, _ = s.Next(later(base, f.now))
		p.interval = s.Interval(f.now)
	}
	p.request(f, request)
	return p
}

// faults name what cannot be read of the schedule and the zone, both if both.
func faults(p *backupv1.BackupPolicy) error {
	var expr, zone error
	if err := schedule.CheckExpression(p.Schedule); err != nil {
		expr = fmt.Errorf("spec.schedule %.*q %w", maxQuoted, p.Schedule, err)
	}
	if err := schedule.CheckZone(p.Zone()); err != nil && p.Zone() != "" {
		zone = fmt.Errorf("spec.timeZone %.*q %w", maxQuoted, p.Zone(), err)
	}
	if expr != nil && zone != nil {
		return fmt.Errorf("%w; %w", expr, zone)
	}
	return cmp.Or(expr, zone)
}

// tick decides about the newest scheduled time after base. Its cost does not
// grow with the time that was missed.
func (p *plan) tick(f facts, s *schedule.Schedule, base time.Time, requested bool) {
	at, count, due := s.Latest(base, f.now)
	if !due {
		return
	}
	busy := len(f.active()) > 0
	switch concurrency := f.concurrency(); {
	case f.now.Sub(at) > f.backup.Policy().StartingDeadline():
		p.skip = &skip{at, count, backupv1.ReasonRunMissed}
	case busy && concurrency == backupv1.ConcurrencyForbid, requested && concurrency == backupv1.ConcurrencyReplace:
		p.skip = &skip{at, count, backupv1.ReasonRunSkipped}
	case busy && concurrency == backupv1.ConcurrencyReplace:
		p.replace = f.active()
	default:
		p.due(f, run{at: at})
		if earlier, n, more := s.Latest(base, at.Add(-1)); more {
			p.skip = &skip{earlier, n, backupv1.ReasonRunMissed}
		}
	}
}

// request decides about a run that was asked for. It does not touch the
// schedule: under Forbid it waits, also for a scheduled run that starts now.
func (p *plan) request(f facts, key string) {
	busy := len(f.active())+len(p.start) > 0
	switch concurrency := f.concurrency(); {
	case key == "", busy && concurrency == backupv1.ConcurrencyForbid:
	case busy && concurrency == backupv1.ConcurrencyReplace:
		p.replace = f.active()
	default:
		p.due(f, run{at: requestTime(f), request: key})
	}
}

// due starts the run, unless its Job was refused and nothing has changed since.
func (p *plan) due(f facts, r run) {
	if f.refusedBefore(r) {
		p.held = append(p.held, jobName(f.backup, r))
		return
	}
	p.start = append(p.start, r)
}

func (f facts) concurrency() backupv1.ConcurrencyPolicy {
	return cmp.Or(f.backup.Policy().ConcurrencyPolicy, backupv1.ConcurrencyForbid)
}

// request is the key of the request that is not handled yet, empty if there
// is none. A value that the status cannot hold stands for its hash.
func (f facts) request() string {
	key := f.backup.GetAnnotations()[backupv1.AnnotationRunRequestedAt]
	if len(key) > maxRequest {
		key = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(key)))
	}
	if key == f.status().LastHandledRunRequest {
		return ""
	}
	return key
}

// requestTime is now, moved off whole minutes, which belong to the schedule,
// and off other runs: a backup's file is named by its second.
func requestTime(f facts) time.Time {
	at := f.now.Truncate(time.Second)
	taken := func(j job) bool { return j.at.Equal(at) }
	for at.Second() == 0 || slices.ContainsFunc(f.jobs, taken) {
		at = at.Add(time.Second)
	}
	return at
}

// observedSchedule is the schedule and since when it is known. Creating an
// object or editing its schedule starts nothing: runs count from then on.
func observedSchedule(f facts) backupv1.ObservedSchedule {
	policy := f.backup.Policy()
	if o := f.status().ObservedSchedule; o != nil && o.Since != nil && o.Schedule == policy.Schedule && ptr.Equal(o.TimeZone, policy.TimeZone) {
		return *o
	}
	return backupv1.ObservedSchedule{Schedule: policy.Schedule, TimeZone: policy.TimeZone, Since: second(f.now)}
}

// baseOf is the time up to which every scheduled run is spent.
func baseOf(f facts, o backupv1.ObservedSchedule) time.Time {
	base := o.Since.Time
	if skipped := f.status().LastSkippedTime; skipped != nil {
		base = later(base, skipped.Time)
	}
	if last := lastScheduled(f, nil); last != nil {
		base = later(base, last.Time)
	}
	return base
}

// lastScheduled is the newest scheduled time that was started: by the status,
// by the Jobs, which know it also if a crash kept it out of the status, and by
// those just started.
func lastScheduled(f facts, started []job) *metav1.Time {
	last := f.status().LastScheduleTime
	for _, j := range slices.Concat(f.jobs, started) {
		if j.request == "" && !j.at.IsZero() && !f.future(second(j.at)) && (last == nil || j.at.After(last.Time)) {
			last = second(j.at)
		}
	}
	return last
}

// surplus are the oldest finished Jobs beyond the history limits, and look is
// when those follow that ended too short a while ago.
func surplus(f facts) (remove []job, look time.Time) {
	policy := f.backup.Policy()
	keep := map[state]int{
		succeeded: int(ptr.Deref(policy.SuccessfulJobsHistoryLimit, backupv1.DefaultSuccessfulJobsHistory)),
		failed:    int(ptr.Deref(policy.FailedJobsHistoryLimit, backupv1.DefaultFailedJobsHistory)),
	}
	for _, j := range slices.Backward(f.jobs) {
		if j.state == active || j.leaving {
			continue
		}
		switch keep[j.state]--; {
		case keep[j.state] >= 0:
		case f.now.Sub(j.ended).Abs() < historyGrace:
			look = soonest(look, j.ended.Add(historyGrace))
		default:
			remove = append(remove, j)
		}
	}
	slices.Reverse(remove)
	return remove, look
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// second cuts a time to what the API stores, so that it equals what is read
// back.
func second(t time.Time) *metav1.Time {
	cut := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &cut
}
