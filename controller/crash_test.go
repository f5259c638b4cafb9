// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"example.com/backupjob-operator/api/agent"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// stories are lives of an object as steps; each step changes the world before
// a pass.
func stories(t *testing.T) map[string]struct {
	change func(*backupv1.BackupJob)
	steps  []func(*world)
	jobs   int // that are ever created
} {
	t.Helper()
	time := func(now string) func(*world) { return func(w *world) { w.set(now) } }
	end := func(now string, how batchv1.JobConditionType) func(*world) {
		return func(w *world) {
			w.set(now)
			for _, job := range w.jobs() {
				if len(job.Status.Conditions) == 0 && job.DeletionTimestamp == nil {
					w.finish(&job, how, encoded(agent.Result{Location: job.Name, Error: "x"}))
				}
			}
		}
	}
	gone := func(now string) func(*world) {
		return func(w *world) {
			w.set(now)
			w.collect()
		}
	}
	ask := func(now, key string) func(*world) {
		return func(w *world) {
			w.set(now)
			w.edit(func(b backupv1.Backup) { b.SetAnnotations(map[string]string{backupv1.AnnotationRunRequestedAt: key}) })
		}
	}
	return map[string]struct {
		change func(*backupv1.BackupJob)
		steps  []func(*world)
		jobs   int
	}{
		"a run, a failure, a skip, a request and history of none": {
			change: func(b *backupv1.BackupJob) {
				b.Spec.SuccessfulJobsHistoryLimit, b.Spec.FailedJobsHistoryLimit = new(int32(0)), new(int32(0))
			},
			steps: []func(*world){
				time("2027-03-11 02:00:00"), end("2027-03-11 02:09:00", batchv1.JobComplete),
				time("2027-03-12 02:00:00"), end("2027-03-12 02:09:00", batchv1.JobFailed),
				time("2027-03-13 02:00:00"), time("2027-03-14 02:00:00"), ask("2027-03-14 02:00:05", "one"),
				end("2027-03-14 02:09:00", batchv1.JobComplete), end("2027-03-14 02:19:00", batchv1.JobComplete),
			},
			jobs: 4,
		},
		"Replace, with the finalizer": {
			change: func(b *backupv1.BackupJob) {
				b.Spec.ConcurrencyPolicy, b.Spec.DeletionPolicy = backupv1.ConcurrencyReplace, backupv1.DeletionDelete
			},
			steps: []func(*world){
				time("2027-03-11 02:00:00"), time("2027-03-12 02:00:00"), gone("2027-03-12 02:00:30"),
				ask("2027-03-12 02:01:05", "one"), gone("2027-03-12 02:01:30"), end("2027-03-12 02:09:00", batchv1.JobComplete),
			},
			jobs: 3,
		},
		"Allow, late after a stop": {
			change: func(b *backupv1.BackupJob) { b.Spec.ConcurrencyPolicy = backupv1.ConcurrencyAllow },
			steps: []func(*world){
				ask("2027-03-11 02:30:00", "one"), ask("2027-03-11 02:30:00", "two"), time("2027-03-12 02:00:00"),
				time("2027-03-14 05:00:00"), end("2027-03-14 05:09:00", batchv1.JobFailed),
			},
			jobs: 4,
		},
	}
}

// tell lives a story. At every pass the process ends at one call, before or
// after the server did what it was asked; then a new one makes the pass.
func tell(t *testing.T, change func(*backupv1.BackupJob), steps []func(*world), crashAt int, done bool) *world {
	t.Helper()
	w := newWorld(t, "2027-03-10 12:00:00", fresh(t, change))
	w.settle()
	for _, step := range steps {
		step(w)
		w.broken[crashAt] = broken{err: errCrash, done: done}
		_, _ = w.pass()
		delete(w.broken, crashAt)
		w.restart()
		w.settle()
	}
	return w
}

// settle makes passes until one writes nothing.
func (w *world) settle() {
	w.t.Helper()
	for range 20 {
		w.mustPass()
		if len(w.writes()) == 0 {
			return
		}
	}
	w.t.Fatalf("got no rest: %v", w.calls)
}

// A crash at any call, before or after it was done, leaves the same Jobs and
// the same status as no crash at all.
func TestACrashBetweenAnyTwoCallsChangesNothing(t *testing.T) {
	for name, story := range stories(t) {
		t.Run(name, func(t *testing.T) {
			want := tell(t, story.change, story.steps, 0, false)
			if len(want.created) != story.jobs {
				t.Fatalf("got Jobs %v, want %d", want.created, story.jobs)
			}
			for call := 1; call <= 12; call++ {
				for _, done := range []bool{false, true} {
					got := tell(t, story.change, story.steps, call, done)
					where := fmt.Sprintf("call %d, done %v", call, done)
					for job, times := range got.created {
						if times != 1 || want.created[job] != 1 {
							t.Errorf("%s: Job %s was created %d times", where, job, times)
						}
					}
					if g, w := summary(got), summary(want); g != w {
						t.Errorf("%s:\ngot  %s\nwant %s", where, g, w)
					}
				}
			}
		})
	}
}

// summary is what must not depend on crashes.
func summary(w *world) string {
	s := w.status()
	var jobs []string
	for _, job := range w.jobs() {
		jobs = append(jobs, job.Name)
	}
	slices.Sort(jobs)
	backup := ""
	if s.LastBackup != nil {
		backup = s.LastBackup.Location
	}
	return fmt.Sprint(s.Phase, s.LastResult, s.LastScheduleTime, s.LastSkippedTime, s.LastBackupTime, s.LastSuccessfulTime, s.NextScheduleTime,
		s.LastHandledRunRequest, s.Active, backup, strings.Join(jobs, ","), w.condition(backupv1.ConditionBackupSucceeded), w.condition(backupv1.ConditionReady))
}
