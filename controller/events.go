// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// announce tells what the new status says and the old one did not.
func (r *reconciler) announce(f facts, p plan, before, after backupv1.BackupStatus) {
	for _, name := range after.Active {
		if !slices.Contains(before.Active, name) {
			r.event(f.backup, corev1.EventTypeNormal, backupv1.ReasonRunStarted, "Started Job %s", name)
		}
	}
	if s := p.skip; s != nil && s.reason == backupv1.ReasonRunSkipped {
		r.event(f.backup, corev1.EventTypeNormal, s.reason, "Left out the run of %s: another one was active", s.at.Format(time.RFC3339))
	} else if s != nil {
		r.event(f.backup, corev1.EventTypeWarning, s.reason, "Left out %s run(s), the last of %s: too late to start", s.count, s.at.Format(time.RFC3339))
	}
	for _, j := range f.jobs {
		if news(&before, j) {
			c := outcome(f.backup, j, meta.FindStatusCondition(before.Conditions, backupv1.ConditionBackupSucceeded))
			r.event(f.backup, map[state]string{succeeded: corev1.EventTypeNormal, failed: corev1.EventTypeWarning}[j.state], c.Reason, "%s", c.Message)
		}
	}
	for _, c := range after.Conditions {
		was := meta.FindStatusCondition(before.Conditions, c.Type)
		flipped := was == nil || was.Status != c.Status || was.Reason != c.Reason
		bad := c.Status == metav1.ConditionFalse && (c.Type != backupv1.ConditionBackupSucceeded || isTrouble(&c))
		if flipped && (bad || c.Reason == backupv1.ReasonJobDeleted) {
			r.event(f.backup, corev1.EventTypeWarning, c.Reason, "%s", c.Message)
		}
	}
}

// event records an event. The reference carries no resourceVersion, so that
// the recorder can count events that repeat instead of writing each.
func (r *reconciler) event(b backupv1.Backup, kind, reason, note string, args ...any) {
	ref := &corev1.ObjectReference{
		APIVersion: backupv1.GroupVersion.String(), Kind: b.Kind(), Namespace: b.GetNamespace(), Name: b.GetName(), UID: b.GetUID(),
	}
	r.events.Eventf(ref, nil, kind, reason, "Reconcile", note, args...)
}
