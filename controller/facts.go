// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// run is one run that is due.
type run struct {
	// at is the scheduled time; of a requested run, when it was started.
	at time.Time
	// request is the request's key, empty for a run of the schedule.
	request string
}

type state int

const (
	active state = iota
	succeeded
	failed
)

// job is one Job of the object, classified once.
type job struct {
	run     // zero if the Job's name is not the one that follows from it
	name    string
	uid     types.UID
	state   state
	why     string    // reason of the failure
	leaving bool      // it is being deleted
	started time.Time // by Kubernetes' own controller, zero before
	ended   time.Time
	report  report // of a run whose end is news
}

// facts are all that one pass knows.
type facts struct {
	now     time.Time
	backup  backupv1.Backup
	jobs    []job    // runs, in the order of their ends
	lost    []string // Jobs that the status calls active and that are gone
	trouble *metav1.Condition
	waiting *job      // the run that has the trouble
	look    time.Time // when to look again though nothing changes, zero if never
	cleanup *job
	// deadline is when the clean-up of an object that is being deleted ends.
	deadline time.Time
}

// clockTrust is how far ahead of now a stored time may be. It is more than a
// time daemon steps on its own (ntpd stops at 1,000 seconds), so that a clock
// that is set back a little repeats no run; and a time that is believed holds
// the schedule up for no longer than this.
const clockTrust = 20 * time.Minute

// future says that a clock was wrong when the time was taken.
func (f facts) future(t *metav1.Time) bool { return t != nil && t.Sub(f.now) > clockTrust }

// status is the object's. If it would hold the schedule up for a future that a
// wrong clock made up, the schedule counts from now instead.
func (f facts) status() *backupv1.BackupStatus {
	s := f.backup.RunStatus()
	ran, skipped := f.future(s.LastScheduleTime), f.future(s.LastSkippedTime)
	if !ran && !skipped && (s.ObservedSchedule == nil || !f.future(s.ObservedSchedule.Since)) {
		return s
	}
	s = s.DeepCopy()
	s.ObservedSchedule = nil
	if ran {
		s.LastScheduleTime = nil
	}
	if skipped {
		s.LastSkippedTime = nil
	}
	return s
}

// active are the runs that go on, those being deleted included.
func (f facts) active() []job {
	return slices.DeleteFunc(slices.Clone(f.jobs), func(j job) bool { return j.state != active })
}

// ending says that nothing goes on but runs that are being ended.
func (f facts) ending() bool {
	going := f.active()
	return len(going) > 0 && !slices.ContainsFunc(going, func(j job) bool { return !j.leaving })
}

// news says whether the end of the run is not in the status yet.
func news(s *backupv1.BackupStatus, j job) bool {
	return j.state != active && (s.LastBackupTime == nil || j.ended.After(s.LastBackupTime.Time) || slices.Contains(s.Active, j.name))
}

// observe reads everything that the pass needs.
func (r *reconciler) observe(ctx context.Context, backup backupv1.Backup) (facts, error) {
	f := facts{now: r.Clock.Now().UTC(), backup: backup}
	if r.lastWrite(backup).behind(backup) {
		return f, errBehind
	}
	if deleted := backup.GetDeletionTimestamp(); deleted != nil {
		f.deadline = deleted.Add(r.CleanupTimeout)
	}
	found, lost, err := r.jobsOf(ctx, backup)
	if err != nil {
		return f, err
	}
	f.lost = lost
	for i := range found {
		switch j := classify(backup, &found[i]); {
		case j.name == cleanupName(backup):
			f.cleanup = &j
		case metav1.IsControlledBy(&found[i], backup):
			f.jobs = append(f.jobs, j)
		}
	}
	slices.SortFunc(f.jobs, func(a, b job) int {
		return cmp.Or(a.ended.Compare(b.ended), a.at.Compare(b.at), cmp.Compare(a.name, b.name))
	})
	err = r.look(ctx, &f)
	return f, err
}

// jobsOf lists the object's Jobs from the cache. Those that should be there
// are asked for by name if the cache does not have them: it may be behind.
func (r *reconciler) jobsOf(ctx context.Context, backup backupv1.Backup) (found []batchv1.Job, lost []string, err error) {
	var list batchv1.JobList
	if err := r.client.List(ctx, &list, client.InNamespace(backup.GetNamespace()), client.MatchingFields{indexObject: string(backup.GetUID())}); err != nil {
		return nil, nil, fmt.Errorf("list the object's Jobs: %w", err)
	}
	names := slices.Concat(backup.RunStatus().Active, r.lastWrite(backup).jobs)
	if backup.GetDeletionTimestamp() != nil {
		names = append(names, cleanupName(backup)) // one that is not seen would go on
	}
	for _, name := range names {
		if slices.ContainsFunc(list.Items, func(j batchv1.Job) bool { return j.Name == name }) {
			continue
		}
		var missing batchv1.Job
		err := r.reader.Get(ctx, types.NamespacedName{Namespace: backup.GetNamespace(), Name: name}, &missing)
		switch {
		case apierrors.IsNotFound(err) || err == nil && missing.Labels[backupv1.LabelUID] != string(backup.GetUID()):
			if slices.Contains(backup.RunStatus().Active, name) {
				lost = append(lost, name)
			}
		case err != nil:
			return nil, nil, fmt.Errorf("look for Job %s: %w", name, err)
		default:
			list.Items = append(list.Items, missing)
		}
	}
	return list.Items, lost, nil
}

// look reads the Pods of those Jobs that need it.
func (r *reconciler) look(ctx context.Context, f *facts) error {
	for i := range f.jobs {
		if j := &f.jobs[i]; j.state == active || news(f.status(), *j) {
			if err := r.lookAt(ctx, f, j); err != nil {
				return err
			}
		}
	}
	if f.cleanup == nil || f.cleanup.state != active {
		return nil
	}
	return r.lookAt(ctx, f, f.cleanup)
}

func (r *reconciler) lookAt(ctx context.Context, f *facts, j *job) error {
	pods, err := r.podsOf(ctx, f.backup, *j)
	if err != nil {
		return err
	}
	if j.state != active {
		j.report = reportOf(pods, j.state)
		return nil
	}
	t, err := r.troubleOf(ctx, f, *j, pods)
	if t != nil && f.trouble == nil {
		f.trouble, f.waiting = t, j
	}
	return err
}

// podsOf lists the Job's Pods from the cache, and anew if the run has ended
// and the cache does not show how.
func (r *reconciler) podsOf(ctx context.Context, backup backupv1.Backup, j job) ([]corev1.Pod, error) {
	var pods corev1.PodList
	namespace := client.InNamespace(backup.GetNamespace())
	err := r.client.List(ctx, &pods, namespace, client.MatchingFields{indexJob: string(j.uid)})
	if err == nil && j.state != active && j.why != batchv1.JobReasonDeadlineExceeded && !reportOf(pods.Items, j.state).found {
		err = r.reader.List(ctx, &pods, namespace, client.MatchingLabels{batchv1.ControllerUidLabel: string(j.uid)})
	}
	if err != nil {
		return nil, fmt.Errorf("list the Pods of Job %s: %w", j.name, err)
	}
	return pods.Items, nil
}

// classify reads a Job. The run is taken from its annotations only if its name
// proves them, so that an edited annotation moves nothing.
func classify(backup backupv1.Backup, from *batchv1.Job) job {
	j := job{name: from.Name, uid: from.UID, leaving: from.DeletionTimestamp != nil}
	at, err := time.Parse(time.RFC3339, from.Annotations[backupv1.AnnotationScheduledTime])
	claimed := run{at: at, request: from.Annotations[backupv1.AnnotationRunRequestedAt]}
	if err == nil && jobName(backup, claimed) == from.Name {
		j.run = claimed
	}
	if from.Status.StartTime != nil {
		j.started = from.Status.StartTime.Time
	}
	ends := map[batchv1.JobConditionType]state{batchv1.JobComplete: succeeded, batchv1.JobFailed: failed}
	for _, c := range from.Status.Conditions {
		if s, ended := ends[c.Type]; ended && c.Status == corev1.ConditionTrue {
			j.state, j.ended, j.why = s, c.LastTransitionTime.Time, c.Reason
		}
	}
	return j
}
