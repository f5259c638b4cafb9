// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// planned is a plan in words that a table can hold.
type planned struct {
	Start   []string // scheduled times, or "request KEY at TIME"
	Replace []string
	Skip    string // "REASON COUNT TIME"
	Next    string
	Remove  []string
	Handled string
	Since   string // where the observed schedule is new
	Invalid bool
}

const layout = "2006-01-02 15:04:05"

func inWords(f facts, p plan) planned {
	w := planned{Handled: p.handled, Invalid: p.invalid != nil}
	for _, r := range p.start {
		words := r.at.UTC().Format(layout)
		if r.request != "" {
			words = "request " + r.request + " at " + words
		}
		w.Start = append(w.Start, words)
	}
	for _, j := range p.replace {
		w.Replace = append(w.Replace, j.name)
	}
	for _, j := range p.remove {
		w.Remove = append(w.Remove, j.name)
	}
	if p.skip != nil {
		w.Skip = p.skip.reason + " " + p.skip.count.String() + " " + p.skip.at.UTC().Format(layout)
	}
	if !p.next.IsZero() {
		w.Next = p.next.UTC().Format(layout)
	}
	if o := f.status().ObservedSchedule; o == nil || *o != p.observed {
		w.Since = p.observed.Since.UTC().Format(layout)
	}
	return w
}

// jobAt is a run of the schedule.
func jobAt(t *testing.T, name, when string, s state, ended ...string) job {
	t.Helper()
	j := job{run: run{at: at(t, when)}, name: name, state: s}
	for _, e := range ended {
		j.ended = at(t, e)
	}
	return j
}

func requested(t *testing.T, key, when string, s state) job {
	t.Helper()
	return job{run: run{at: at(t, when), request: key}, name: "r", state: s}
}

func ask(key string) func(*backupv1.BackupJob) {
	return func(b *backupv1.BackupJob) {
		b.Annotations = map[string]string{backupv1.AnnotationRunRequestedAt: key}
	}
}

func policy(p backupv1.ConcurrencyPolicy) func(*backupv1.BackupJob) {
	return func(b *backupv1.BackupJob) { b.Spec.ConcurrencyPolicy = p }
}

func suspend(b *backupv1.BackupJob) { b.Spec.Suspend = new(true) }

func TestDecide(t *testing.T) {
	lastNight := func(b *backupv1.BackupJob) { b.Status.LastScheduleTime = atPtr(t, "2027-03-10 02:00:00") }
	every := func(expr string) func(*backupv1.BackupJob) {
		return func(b *backupv1.BackupJob) {
			b.Spec.Schedule, b.Status.ObservedSchedule.Schedule = expr, expr
		}
	}
	edit := func(expr string) func(*backupv1.BackupJob) {
		return func(b *backupv1.BackupJob) { b.Spec.Schedule = expr }
	}
	zone := func(name string) func(*backupv1.BackupJob) {
		return func(b *backupv1.BackupJob) { b.Spec.TimeZone = &name }
	}
	ranAt := func(when string) func(*backupv1.BackupJob) {
		return func(b *backupv1.BackupJob) { b.Status.LastScheduleTime = atPtr(t, when) }
	}
	skippedAt := func(when string) func(*backupv1.BackupJob) {
		return func(b *backupv1.BackupJob) { b.Status.LastSkippedTime = atPtr(t, when) }
	}
	cases := map[string]struct {
		now    string
		change []func(*backupv1.BackupJob)
		jobs   []job
		want   planned
	}{
		"creating an object starts nothing, also at its scheduled time": {
			now:    "2027-03-10 02:00:00",
			change: []func(*backupv1.BackupJob){func(b *backupv1.BackupJob) { b.Status = backupv1.BackupStatus{} }},
			want:   planned{Since: "2027-03-10 02:00:00", Next: "2027-03-11 02:00:00"},
		},
		"an object created just before its time runs at its time": {
			now:    "2027-03-10 02:00:00",
			change: []func(*backupv1.BackupJob){func(b *backupv1.BackupJob) { b.Status.ObservedSchedule.Since = atPtr(t, "2027-03-10 01:59:59") }},
			want:   planned{Start: []string{"2027-03-10 02:00:00"}, Next: "2027-03-11 02:00:00"},
		},
		"a second before the time nothing runs": {
			now: "2027-03-11 01:59:59", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"at the time one run starts": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"our clock a second late: the run keeps its scheduled time": {
			now: "2027-03-11 02:00:01", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"the server's clock a second early: a run that ended before it was due is no other run": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight},
			jobs: []job{jobAt(t, "a", "2027-03-11 02:00:00", succeeded, "2027-03-11 01:59:59")},
			want: planned{Next: "2027-03-12 02:00:00"},
		},
		"the schedule was edited while we were down over its old time: nothing is made up for": {
			now: "2027-03-11 02:10:00", change: []func(*backupv1.BackupJob){lastNight, edit("5 2 * * *")},
			want: planned{Since: "2027-03-11 02:10:00", Next: "2027-03-12 02:05:00"},
		},
		"edited and set back before anybody saw it": {
			now: "2027-03-11 02:10:00", change: []func(*backupv1.BackupJob){lastNight, edit("5 2 * * *"), edit("0 2 * * *")},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"the zone is edited while a run goes on: it goes on, and the next one is that of the new zone": {
			now: "2027-03-10 02:05:00", jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			change: []func(*backupv1.BackupJob){lastNight, zone("America/New_York")},
			want:   planned{Since: "2027-03-10 02:05:00", Next: "2027-03-10 07:00:00"},
		},
		"the zone is edited in the hour that does not exist there": {
			now: "2027-03-28 01:00:00", // 03:00 in Berlin, where 02:00 is left out and runs now
			change: []func(*backupv1.BackupJob){func(b *backupv1.BackupJob) {
				b.Status.LastScheduleTime = atPtr(t, "2027-03-27 02:00:00")
			}, zone("Europe/Berlin")},
			want: planned{Since: "2027-03-28 01:00:00", Next: "2027-03-29 00:00:00"},
		},
		"the zone is edited between the two times that a clock shows": {
			now: "2027-10-31 00:30:00", // 02:30 in Berlin for the first time
			change: []func(*backupv1.BackupJob){every("45 2 * * *"), func(b *backupv1.BackupJob) {
				b.Status.LastScheduleTime = atPtr(t, "2027-10-30 02:45:00")
			}, zone("Europe/Berlin")},
			want: planned{Since: "2027-10-31 00:30:00", Next: "2027-10-31 00:45:00"},
		},
		"suspended and resumed between two times": {
			now: "2027-03-10 14:00:00", change: []func(*backupv1.BackupJob){lastNight, func(b *backupv1.BackupJob) { b.Spec.Suspend = new(false) }},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"a restart in the middle of the day starts nothing": {
			now: "2027-03-10 15:14:00", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"a restart right after the run starts nothing": {
			now: "2027-03-10 02:00:01", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"a clock that goes back a second starts nothing and shows the run after": {
			now: "2027-03-10 01:59:59", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"a crash before the status was written: the Job says that the run was started": {
			now:  "2027-03-10 02:00:01",
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			change: []func(*backupv1.BackupJob){func(b *backupv1.BackupJob) {
				b.Status.LastScheduleTime = atPtr(t, "2027-03-09 02:00:00")
			}},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"the same under Replace does not replace the run by itself": {
			now:  "2027-03-10 02:00:01",
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			change: []func(*backupv1.BackupJob){policy(backupv1.ConcurrencyReplace), func(b *backupv1.BackupJob) {
				b.Status.LastScheduleTime = atPtr(t, "2027-03-09 02:00:00")
			}},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"down at the time and back inside the deadline: one late run": {
			now: "2027-03-11 02:59:59", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"back exactly at the deadline: one late run": {
			now: "2027-03-11 03:00:00", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"back after the deadline: no run, and it is told": {
			now: "2027-03-11 03:00:01", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Skip: "RunMissed 1 2027-03-11 02:00:00", Next: "2027-03-12 02:00:00"},
		},
		"what was told is spent": {
			now: "2027-03-11 03:00:02", change: []func(*backupv1.BackupJob){lastNight, skippedAt("2027-03-11 02:00:00")},
			want: planned{Next: "2027-03-12 02:00:00"},
		},
		"a deadline of its own": {
			now: "2027-03-11 02:00:11",
			change: []func(*backupv1.BackupJob){lastNight, func(b *backupv1.BackupJob) {
				b.Spec.StartingDeadlineSeconds = new(int64(10))
			}},
			want: planned{Skip: "RunMissed 1 2027-03-11 02:00:00", Next: "2027-03-12 02:00:00"},
		},
		"twelve hours of five minutes missed: one run, and it is told how many were not": {
			now: "2027-03-11 12:01:00",
			change: []func(*backupv1.BackupJob){every("*/5 * * * *"), func(b *backupv1.BackupJob) {
				b.Status.LastScheduleTime = atPtr(t, "2027-03-11 11:00:00")
			}},
			want: planned{Start: []string{"2027-03-11 12:00:00"}, Skip: "RunMissed 11 2027-03-11 11:55:00", Next: "2027-03-11 12:05:00"},
		},
		"resumed after a year: at most one run": {
			now: "2028-03-10 02:30:00", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{
				Start: []string{"2028-03-10 02:00:00"}, Skip: "RunMissed more than 100 2028-03-09 02:00:00", Next: "2028-03-11 02:00:00",
			},
		},
		"resumed after a year outside the deadline: none": {
			now: "2028-03-10 14:00:00", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Skip: "RunMissed more than 100 2028-03-10 02:00:00", Next: "2028-03-11 02:00:00"},
		},
		"suspended: nothing, and no next time": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, suspend},
			want: planned{},
		},
		"edited in the afternoon to a time that was": {
			now: "2027-03-10 14:00:00", change: []func(*backupv1.BackupJob){lastNight, edit("30 13 * * *")},
			want: planned{Since: "2027-03-10 14:00:00", Next: "2027-03-11 13:30:00"},
		},
		"edited from monthly to every five minutes": {
			now: "2027-03-10 14:02:00", change: []func(*backupv1.BackupJob){every("@monthly"), edit("*/5 * * * *")},
			want: planned{Since: "2027-03-10 14:02:00", Next: "2027-03-10 14:05:00"},
		},
		"edited at the very moment of the old time": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, edit("0 5 * * *")},
			want: planned{Since: "2027-03-11 02:00:00", Next: "2027-03-11 05:00:00"},
		},
		"edited at the very moment of the new time": {
			now: "2027-03-11 05:00:00", change: []func(*backupv1.BackupJob){lastNight, edit("0 5 * * *")},
			want: planned{Since: "2027-03-11 05:00:00", Next: "2027-03-12 05:00:00"},
		},
		"edited a second before the new time": {
			now: "2027-03-11 04:59:59", change: []func(*backupv1.BackupJob){lastNight, edit("0 5 * * *")},
			want: planned{Since: "2027-03-11 04:59:59", Next: "2027-03-11 05:00:00"},
		},
		"the zone edited so that today's time lies behind": {
			now: "2027-03-10 12:00:00",
			change: []func(*backupv1.BackupJob){lastNight, func(b *backupv1.BackupJob) {
				b.Spec.TimeZone = new("Asia/Tokyo")
			}},
			want: planned{Since: "2027-03-10 12:00:00", Next: "2027-03-10 17:00:00"},
		},
		"edited while suspended": {
			now: "2027-03-10 12:00:00", change: []func(*backupv1.BackupJob){lastNight, suspend, edit("0 12 * * *")},
			want: planned{Since: "2027-03-10 12:00:00"},
		},
		"a retention edit changes nothing": {
			now: "2027-03-10 12:00:00",
			change: []func(*backupv1.BackupJob){lastNight, func(b *backupv1.BackupJob) {
				b.Generation, b.Spec.Retention = 2, &backupv1.Retention{Days: new(int32(30))}
			}},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"a schedule that cannot be read": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, edit("abc"), ask("x")},
			want: planned{Since: "2027-03-11 02:00:00", Invalid: true},
		},
		"a zone that is not there": {
			now: "2027-03-11 02:00:00",
			change: []func(*backupv1.BackupJob){lastNight, func(b *backupv1.BackupJob) {
				b.Spec.TimeZone = new("Europe/Berln")
			}},
			want: planned{Since: "2027-03-11 02:00:00", Invalid: true},
		},
		"corrected: nothing is made up for": {
			now:    "2027-03-11 02:30:00",
			change: []func(*backupv1.BackupJob){lastNight, every("abc"), edit("0 2 * * *")},
			want:   planned{Since: "2027-03-11 02:30:00", Next: "2027-03-12 02:00:00"},
		},
		"Forbid and a run that goes on: the time is spent": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			want: planned{Skip: "RunSkipped 1 2027-03-11 02:00:00", Next: "2027-03-12 02:00:00"},
		},
		"Forbid, the run has ended: what was skipped does not run late": {
			now:    "2027-03-11 02:10:00",
			change: []func(*backupv1.BackupJob){lastNight, skippedAt("2027-03-11 02:00:00")},
			jobs:   []job{jobAt(t, "a", "2027-03-10 02:00:00", succeeded, "2027-03-11 02:09:00")},
			want:   planned{Next: "2027-03-12 02:00:00"},
		},
		"Allow starts beside it": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, policy(backupv1.ConcurrencyAllow)},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"Replace ends it first": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, policy(backupv1.ConcurrencyReplace)},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			want: planned{Replace: []string{"a"}, Next: "2027-03-12 02:00:00"},
		},
		"Replace starts when it is gone": {
			now: "2027-03-11 02:00:40", change: []func(*backupv1.BackupJob){lastNight, policy(backupv1.ConcurrencyReplace)},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"Replace that waits for longer than the deadline": {
			now: "2027-03-11 03:00:01", change: []func(*backupv1.BackupJob){lastNight, policy(backupv1.ConcurrencyReplace)},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			want: planned{Skip: "RunMissed 1 2027-03-11 02:00:00", Next: "2027-03-12 02:00:00"},
		},
		"a failed run does not stop the schedule": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", failed, "2027-03-10 02:05:00")},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"a Job that was deleted by hand is not run again": {
			now: "2027-03-10 02:10:00", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"a run that was asked for": {
			now: "2027-03-10 12:00:05", change: []func(*backupv1.BackupJob){lastNight, ask("now")},
			want: planned{Start: []string{"request now at 2027-03-10 12:00:05"}, Next: "2027-03-11 02:00:00"},
		},
		"a run that was asked for and handled": {
			now: "2027-03-10 12:00:05",
			change: []func(*backupv1.BackupJob){lastNight, ask("now"), func(b *backupv1.BackupJob) {
				b.Status.LastHandledRunRequest = "now"
			}},
			want: planned{Handled: "now", Next: "2027-03-11 02:00:00"},
		},
		"a run that was asked for, and a crash before the status was written": {
			now: "2027-03-10 12:00:05", change: []func(*backupv1.BackupJob){lastNight, ask("now")},
			jobs: []job{requested(t, "now", "2027-03-10 12:00:04", active)},
			want: planned{Handled: "now", Next: "2027-03-11 02:00:00"},
		},
		"asked for while suspended": {
			now: "2027-03-10 12:00:05", change: []func(*backupv1.BackupJob){lastNight, suspend, ask("now")},
			want: planned{Start: []string{"request now at 2027-03-10 12:00:05"}},
		},
		"asked for while a run goes on: under Forbid it waits": {
			now: "2027-03-10 02:05:00", change: []func(*backupv1.BackupJob){lastNight, ask("now")},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"asked for while a run goes on: Allow": {
			now: "2027-03-10 02:05:07", change: []func(*backupv1.BackupJob){lastNight, ask("now"), policy(backupv1.ConcurrencyAllow)},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			want: planned{Start: []string{"request now at 2027-03-10 02:05:07"}, Next: "2027-03-11 02:00:00"},
		},
		"asked for while a run goes on: Replace": {
			now: "2027-03-10 02:05:07", change: []func(*backupv1.BackupJob){lastNight, ask("now"), policy(backupv1.ConcurrencyReplace)},
			jobs: []job{jobAt(t, "a", "2027-03-10 02:00:00", active)},
			want: planned{Replace: []string{"a"}, Next: "2027-03-11 02:00:00"},
		},
		"asked for at the scheduled time: under Forbid the schedule goes first": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, ask("now")},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"asked for at the scheduled time: Allow, and no two of one second": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, ask("now"), policy(backupv1.ConcurrencyAllow)},
			want: planned{
				Start: []string{"2027-03-11 02:00:00", "request now at 2027-03-11 02:00:01"}, Next: "2027-03-12 02:00:00",
			},
		},
		"asked for at the scheduled time: under Replace the request takes its place": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight, ask("now"), policy(backupv1.ConcurrencyReplace)},
			want: planned{
				Start: []string{"request now at 2027-03-11 02:00:01"}, Skip: "RunSkipped 1 2027-03-11 02:00:00", Next: "2027-03-12 02:00:00",
			},
		},
		"a requested run does not move the schedule": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight},
			jobs: []job{requested(t, "now", "2027-03-11 01:00:04", succeeded)},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"a requested run that goes on is a run: under Forbid the time is spent": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight},
			jobs: []job{requested(t, "now", "2027-03-11 01:59:04", active)},
			want: planned{Skip: "RunSkipped 1 2027-03-11 02:00:00", Next: "2027-03-12 02:00:00"},
		},
		"two requests within a second": {
			now: "2027-03-10 12:00:05", change: []func(*backupv1.BackupJob){lastNight, ask("two"), policy(backupv1.ConcurrencyAllow)},
			jobs: []job{requested(t, "one", "2027-03-10 12:00:05", active)},
			want: planned{Start: []string{"request two at 2027-03-10 12:00:06"}, Next: "2027-03-11 02:00:00"},
		},
		"a last run in a far future, from a clock that was wrong": {
			now: "2027-03-10 12:00:00", change: []func(*backupv1.BackupJob){ranAt("2099-01-01 02:00:00")},
			want: planned{Since: "2027-03-10 12:00:00", Next: "2027-03-11 02:00:00"},
		},
		"the same of a time that was left out": {
			now: "2027-03-10 12:00:00", change: []func(*backupv1.BackupJob){lastNight, skippedAt("2099-01-01 02:00:00")},
			want: planned{Since: "2027-03-10 12:00:00", Next: "2027-03-11 02:00:00"},
		},
		"the same of when the schedule was seen": {
			now: "2027-03-10 12:00:00",
			change: []func(*backupv1.BackupJob){lastNight, func(b *backupv1.BackupJob) {
				b.Status.ObservedSchedule.Since = atPtr(t, "2099-01-01 02:00:00")
			}},
			want: planned{Since: "2027-03-10 12:00:00", Next: "2027-03-11 02:00:00"},
		},
		"a Job from a far future does not move the schedule": {
			now: "2027-03-11 02:00:00", change: []func(*backupv1.BackupJob){lastNight},
			jobs: []job{jobAt(t, "a", "2099-01-01 02:00:00", succeeded, "2099-01-01 02:09:00")},
			want: planned{Start: []string{"2027-03-11 02:00:00"}, Next: "2027-03-12 02:00:00"},
		},
		"a clock that is set back a little is believed: what ran does not run again": {
			now: "2027-03-10 01:40:00", change: []func(*backupv1.BackupJob){lastNight},
			want: planned{Next: "2027-03-11 02:00:00"},
		},
		"history: the oldest go, each kind by its own limit": {
			now: "2027-03-10 12:00:00", change: []func(*backupv1.BackupJob){lastNight},
			jobs: []job{
				jobAt(t, "s1", "2027-03-04 02:00:00", succeeded, "2027-03-04 02:09:00"),
				jobAt(t, "f1", "2027-03-05 02:00:00", failed, "2027-03-05 02:09:00"),
				jobAt(t, "s2", "2027-03-06 02:00:00", succeeded, "2027-03-06 02:09:00"),
				jobAt(t, "s3", "2027-03-07 02:00:00", succeeded, "2027-03-07 02:09:00"),
				jobAt(t, "f2", "2027-03-08 02:00:00", failed, "2027-03-08 02:09:00"),
				jobAt(t, "s4", "2027-03-09 02:00:00", succeeded, "2027-03-09 02:09:00"),
				jobAt(t, "a", "2027-03-10 02:00:00", active),
			},
			want: planned{Remove: []string{"s1", "f1"}, Next: "2027-03-11 02:00:00"},
		},
		"history: limits of zero, and a Job that goes already": {
			now: "2027-03-10 12:00:00",
			change: []func(*backupv1.BackupJob){lastNight, func(b *backupv1.BackupJob) {
				b.Spec.SuccessfulJobsHistoryLimit, b.Spec.FailedJobsHistoryLimit = new(int32(0)), new(int32(0))
			}},
			jobs: []job{
				jobAt(t, "s1", "2027-03-09 02:00:00", succeeded, "2027-03-09 02:09:00"),
				{name: "s2", state: succeeded, leaving: true},
				jobAt(t, "f1", "2027-03-10 02:00:00", failed, "2027-03-10 02:09:00"),
			},
			want: planned{Remove: []string{"s1", "f1"}, Next: "2027-03-11 02:00:00"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := facts{now: at(t, tc.now), backup: nightly(t, tc.change...), jobs: tc.jobs}
			before := f.backup.DeepCopyObject()
			got := inWords(f, decide(f))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if diff := cmp.Diff(before, f.backup.DeepCopyObject()); diff != "" {
				t.Errorf("the object was changed:\n%s", diff)
			}
		})
	}
}

func TestAScheduleThatCannotBeReadIsNamedWithItsValue(t *testing.T) {
	for name, tc := range map[string]struct {
		expr, zone string
		want       []string // in this order
	}{
		"the schedule": {"abc", "UTC", []string{`spec.schedule "abc" must have five fields`}},
		"the zone":     {"0 2 * * *", "Europe/Berln", []string{`spec.timeZone "Europe/Berln" must`}},
		"both":         {"0 2 * *", "Mars/Base", []string{`spec.schedule "0 2 * *" must`, `; spec.timeZone "Mars/Base" must`}},
		"a long one":   {strings.Repeat("ä", 500), "", []string{`spec.schedule "` + strings.Repeat("ä", maxQuoted) + `" must`}},
		"a line break": {"0 2\n* * *", "", []string{`spec.schedule "0 2\n* * *" must`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := decide(facts{now: at(t, "2027-03-10 12:00:00"), backup: nightly(t, func(b *backupv1.BackupJob) {
				b.Spec.Schedule, b.Spec.TimeZone = tc.expr, &tc.zone
			})})
			if p.invalid == nil {
				t.Fatal("got no error")
			}
			if got := p.invalid.Error(); !strings.HasPrefix(got, tc.want[0]) || !strings.Contains(got, tc.want[len(tc.want)-1]) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDecideReadsALongRequestByItsHash(t *testing.T) {
	long := strings.Repeat("ä", maxRequest)
	f := facts{now: at(t, "2027-03-10 12:00:05"), backup: nightly(t, ask(long), suspend)}
	p := decide(f)
	if len(p.start) != 1 || len(p.start[0].request) > maxRequest {
		t.Fatalf("got %+v, want one run with a request that the status can hold", p.start)
	}
	f.status().LastHandledRunRequest = p.start[0].request
	if again := decide(f); len(again.start) != 0 {
		t.Errorf("got %+v, want nothing once it is handled", again.start)
	}
}

// Every clock change of every case: the instants at which decide starts runs,
// asked every five minutes, are the ones that the list names.
func TestDecideFollowsClockChanges(t *testing.T) {
	cases := map[string]struct {
		expr, zone, from, to string
		want                 []string
	}{
		"02:30 comes twice; the first counts": {
			"30 2 * * *", "Europe/Berlin", "2026-10-24 12:00:00", "2026-10-25 12:00:00", []string{"2026-10-25 00:30:00"},
		},
		"02:30 does not exist; the first instant after the gap": {
			"30 2 * * *", "Europe/Berlin", "2026-03-28 12:00:00", "2026-03-29 12:00:00", []string{"2026-03-29 01:00:00"},
		},
		"hourly follows real time": {
			"0 * * * *", "Europe/Berlin", "2026-10-24 23:30:00", "2026-10-25 02:30:00",
			[]string{"2026-10-25 00:00:00", "2026-10-25 01:00:00", "2026-10-25 02:00:00"},
		},
		"midnight does not exist": {
			"0 0 * * *", "Africa/Cairo", "2026-04-23 12:00:00", "2026-04-24 12:00:00", []string{"2026-04-23 22:00:00"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := nightly(t, func(b *backupv1.BackupJob) {
				b.Spec.Schedule, b.Spec.TimeZone = tc.expr, &tc.zone
				b.Status.ObservedSchedule = &backupv1.ObservedSchedule{Schedule: tc.expr, TimeZone: &tc.zone, Since: atPtr(t, tc.from)}
			})
			var got []string
			for now := at(t, tc.from); !now.After(at(t, tc.to)); now = now.Add(5 * time.Minute) {
				p := decide(facts{now: now, backup: b})
				for _, r := range p.start {
					got = append(got, r.at.Format(layout))
					b.Status.LastScheduleTime = second(r.at)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// A decision after ten years costs no more than one after a day.
func TestDecideDoesNotCountToTheEnd(t *testing.T) {
	b := nightly(t, func(b *backupv1.BackupJob) {
		b.Spec.Schedule, b.Status.ObservedSchedule.Schedule = "* * * * *", "* * * * *"
	})
	p := decide(facts{now: at(t, "2037-03-10 12:00:05"), backup: b})
	if p.skip == nil || p.skip.count != schedule.MaxCount+1 || len(p.start) != 1 {
		t.Errorf("got %+v, want one run and more than %d left out", p, schedule.MaxCount)
	}
}
