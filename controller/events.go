// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// announce tells what the new status says and the old one did not.
func (r *reconciler) announce(f facts, p plan, a acted, before, after backupv1.BackupStatus) {
	for _, j := range slices.Concat(f.jobs, a.started) {
		if slices.Contains(after.Active, j.name) && !slices.Contains(before.Active, j.name) {
			r.event(f.backup, &j, corev1.EventTypeNormal, backupv1.ReasonRunStarted, "Started Job %s", j.name)
		}
	}
	r.announceLosses(f, p, before)
	for _, j := range f.jobs {
		if news(&before, j) {
			c := outcome(f.backup, j, find(&before, backupv1.ConditionBackupSucceeded))
			r.event(f.backup, &j, map[state]string{succeeded: corev1.EventTypeNormal, failed: corev1.EventTypeWarning}[j.state], c.Reason, "%s", c.Message)
		}
	}
	for _, c := range after.Conditions {
		was := meta.FindStatusCondition(before.Conditions, c.Type)
		if worthAWarning(&c) && (was == nil || was.Reason != c.Reason) {
			r.event(f.backup, f.about(&c, after), corev1.EventTypeWarning, c.Reason, "%s", c.Message)
		}
	}
}

// announceLosses tells of Jobs that are gone and of runs that never were.
func (r *reconciler) announceLosses(f facts, p plan, before backupv1.BackupStatus) {
	for _, name := range f.lost {
		if c := f.vanished(name, find(&before, backupv1.ConditionBackupSucceeded)); c.Reason == backupv1.ReasonJobDeleted {
			r.event(f.backup, &job{name: name}, corev1.EventTypeWarning, c.Reason, "%s", c.Message)
		}
	}
	if p.skip != nil { // related to the Job that never was, which keeps it apart from other times
		r.event(f.backup, &job{name: jobName(f.backup, run{at: p.skip.at})}, corev1.EventTypeWarning, p.skip.reason, "Left out %s run(s), the last of %s: %s",
			p.skip.count, stamp(p.skip.at), map[string]string{
				backupv1.ReasonRunSkipped: "another run was active", backupv1.ReasonRunMissed: "too late to start",
			}[p.skip.reason])
	}
}

// about is the run that a warning is about, nil if it is none.
func (f facts) about(c *metav1.Condition, s backupv1.BackupStatus) *job {
	switch {
	case c.Type == backupv1.ConditionPruned && s.LastBackup != nil:
		return &job{name: s.LastBackup.JobName}
	case c.Type == backupv1.ConditionBackupSucceeded:
		return f.waiting
	}
	return nil
}

// worthAWarning is what somebody should do something about, outcomes apart,
// which are told one by one. A namespace that is being deleted takes no events.
func worthAWarning(c *metav1.Condition) bool {
	switch c.Type {
	case backupv1.ConditionReady:
		return c.Status == metav1.ConditionFalse && c.Reason != backupv1.ReasonTerminating && c.Reason != backupv1.ReasonNamespaceTerminating
	case backupv1.ConditionBackupSucceeded:
		return isTrouble(c)
	}
	return c.Status == metav1.ConditionFalse
}

// event records an event about the object and, if there is one, a run. The
// recorder counts events that repeat instead of writing each, whatever they
// say: the run keeps its events apart from those of other runs, and a reference
// without a resourceVersion lets the others repeat.
func (r *reconciler) event(b backupv1.Backup, about *job, kind, reason, note string, args ...any) {
	ref := &corev1.ObjectReference{
		APIVersion: backupv1.GroupVersion.String(), Kind: b.Kind(), Namespace: b.GetNamespace(), Name: b.GetName(), UID: b.GetUID(),
	}
	var related runtime.Object // a nil pointer would not be nil
	if about != nil {
		related = &corev1.ObjectReference{
			APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Namespace: b.GetNamespace(), Name: about.name, UID: about.uid,
		}
	}
	r.events.Eventf(ref, related, kind, reason, "Reconcile", note, args...)
}
