// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// maxActive is how many names the status holds.
const maxActive = 256

// statusOf is the status after a pass. It is a function of what was seen, what
// was planned and what was done.
func statusOf(f facts, p plan, a acted) backupv1.BackupStatus {
	s := *f.status().DeepCopy()
	s.ObservedGeneration = f.backup.GetGeneration()
	s.ObservedSchedule = &p.observed
	s.LastScheduleTime = lastScheduled(f, a.started)
	s.LastHandledRunRequest = p.handled
	if p.skip != nil {
		s.LastSkippedTime = second(p.skip.at)
	}
	for _, r := range a.started {
		if r.request != "" {
			s.LastHandledRunRequest = r.request
		}
	}
	s.Active = activeNames(f, a)
	s.NextScheduleTime = nil
	if !p.next.IsZero() {
		s.NextScheduleTime = second(p.next)
	}
	set(f, &s, readyAfter(f, p, a))
	if c := f.suspended(); c != nil {
		set(f, &s, c)
	}
	f.tell(&s, p)
	s.Phase = phaseOf(f, s)
	return s
}

func activeNames(f facts, a acted) []string {
	var names []string
	for _, j := range f.active() {
		names = append(names, j.name)
	}
	for _, r := range a.started {
		names = append(names, r.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxActive)]
}

// readyAfter keeps a refusal until something starts or the spec changes: the
// last try to start a run is what there is to know.
func readyAfter(f facts, p plan, a acted) *metav1.Condition {
	before := f.standingRefusal()
	switch {
	case f.backup.GetDeletionTimestamp() != nil:
		return f.terminating(a.refusal)
	case p.invalid != nil:
		return invalidSchedule(p.invalid)
	case a.refusal != nil:
		return a.refusal
	case before != nil && len(a.started) == 0:
		return before
	case f.backup.Policy().Suspended():
		return ready(backupv1.ReasonSuspended, "Only requested runs start, because spec.suspend is true")
	}
	return ready(backupv1.ReasonScheduled, "Runs start by the schedule")
}

// suspended is nil for an object that never was.
func (f facts) suspended() *metav1.Condition {
	switch {
	case f.backup.Policy().Suspended():
		return condition(backupv1.ConditionSuspended, metav1.ConditionTrue, backupv1.ReasonRunsSuspended, "spec.suspend is true")
	case meta.FindStatusCondition(f.status().Conditions, backupv1.ConditionSuspended) != nil:
		return condition(backupv1.ConditionSuspended, metav1.ConditionFalse, backupv1.ReasonRunsResumed, "Runs start by the schedule again")
	}
	return nil
}

// tell puts the outcomes that are news into the status, in the order of the
// ends, and says what an active run waits for. Each condition is set once, so
// that a detour within a pass is no flip.
func (f facts) tell(s *backupv1.BackupStatus, p plan) {
	verdict := find(s, backupv1.ConditionBackupSucceeded)
	prunes := find(s, backupv1.ConditionPruned)
	for _, name := range f.lost {
		verdict = f.vanished(name, verdict)
	}
	for _, j := range f.jobs {
		if !news(f.status(), j) {
			continue
		}
		// One that ended before what the status has, and is seen late, does
		// not go in front of it.
		if s.LastBackupTime == nil || f.future(s.LastBackupTime) || !j.ended.Before(s.LastBackupTime.Time) {
			verdict = outcome(f.backup, j, verdict)
			s.LastBackupTime, s.LastResult = second(j.ended), backupv1.ResultFailed
			if j.state == succeeded {
				s.LastResult = backupv1.ResultSucceeded
			}
		}
		if j.state == succeeded && (s.LastSuccessfulTime == nil || f.future(s.LastSuccessfulTime) || !j.ended.Before(s.LastSuccessfulTime.Time)) {
			prunes = pruned(j.report)
			s.LastSuccessfulTime, s.LastBackup = second(j.ended), lastBackup(j)
		}
	}
	if len(s.Active) > 0 {
		verdict = f.goesOn(p, verdict)
	}
	set(f, s, verdict)
	set(f, s, prunes)
}

// vanished says why a run's Job is gone without an outcome.
func (f facts) vanished(name string, before *metav1.Condition) *metav1.Condition {
	switch {
	case f.backup.GetDeletionTimestamp() != nil:
		return endedByUs(name, backupv1.ReasonRunStopped, "because the object is being deleted")
	case before.Reason == backupv1.ReasonRunReplaced:
		return before
	}
	return jobDeleted(name)
}

// goesOn says what there is to know while a run is active. That it is ended for
// the next one is kept until it is gone.
func (f facts) goesOn(p plan, before *metav1.Condition) *metav1.Condition {
	replaced := before.Reason == backupv1.ReasonRunReplaced
	switch {
	case len(p.replace) > 0, replaced && f.ending():
		return endedByUs(f.active()[0].name, backupv1.ReasonRunReplaced, "for the next run")
	case f.trouble != nil:
		return f.trouble
	case replaced, isTrouble(before), before.Reason == backupv1.ReasonNoRunYet, before.Reason == backupv1.ReasonJobDeleted:
		return running()
	}
	return before
}

// find is the condition as it stands.
func find(s *backupv1.BackupStatus, kind string) *metav1.Condition {
	if c := meta.FindStatusCondition(s.Conditions, kind); c != nil {
		return c
	}
	return noRunYet(kind)
}

func lastBackup(j job) *backupv1.LastBackup {
	r := j.report.result
	b := &backupv1.LastBackup{
		JobName: j.name, Location: r.Location, SHA256: r.SHA256,
		StartTime: second(ptr.Deref(r.StartTime, j.started)), CompletionTime: second(ptr.Deref(r.CompletionTime, j.ended)),
	}
	if j.report.found {
		b.SizeBytes = &r.SizeBytes
	}
	return b
}

// phaseOf sums the status up; the first that holds is taken. Pending is never
// written: it is an object that has no status yet.
func phaseOf(f facts, s backupv1.BackupStatus) backupv1.Phase {
	switch {
	case f.backup.GetDeletionTimestamp() != nil:
		return backupv1.PhaseTerminating
	case len(s.Active) > 0:
		return backupv1.PhaseRunning
	case f.backup.Policy().Suspended():
		return backupv1.PhaseSuspended
	case meta.IsStatusConditionFalse(s.Conditions, backupv1.ConditionReady):
		return backupv1.PhaseFailed
	}
	return backupv1.PhaseScheduled
}

// set stamps the condition; its transition time moves only when it flips.
func set(f facts, s *backupv1.BackupStatus, c *metav1.Condition) {
	stamped := *c
	stamped.ObservedGeneration, stamped.LastTransitionTime = f.backup.GetGeneration(), *second(f.now)
	meta.SetStatusCondition(&s.Conditions, stamped)
}
