// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

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
	if p.skip != nil {
		r.event(f.backup, corev1.EventTypeWarning, p.skip.reason, "Left out %s run(s), the last of %s: %s",
			p.skip.count, stamp(p.skip.at), map[string]string{
				backupv1.ReasonRunSkipped: "another run was active", backupv1.ReasonRunMissed: "too late to start",
			}[p.skip.reason])
	}
	for _, j := range f.jobs {
		if news(&before, j) {
			c := outcome(f.backup, j, find(&before, backupv1.ConditionBackupSucceeded))
			r.event(f.backup, map[state]string{succeeded: corev1.EventTypeNormal, failed: corev1.EventTypeWarning}[j.state], c.Reason, "%s", c.Message)
		}
	}
	for _, c := range after.Conditions {
		was := meta.FindStatusCondition(before.Conditions, c.Type)
		if worthAWarning(&c) && (was == nil || was.Reason != c.Reason) {
			r.event(f.backup, corev1.EventTypeWarning, c.Reason, "%s", c.Message)
		}
	}
}

// worthAWarning is what somebody should do something about, outcomes apart,
// which are told one by one. A namespace that is being deleted takes no events.
func worthAWarning(c *metav1.Condition) bool {
	switch c.Type {
	case backupv1.ConditionReady:
		return c.Status == metav1.ConditionFalse && c.Reason != backupv1.ReasonTerminating && c.Reason != backupv1.ReasonNamespaceTerminating
	case backupv1.ConditionBackupSucceeded:
		return isTrouble(c) || c.Reason == backupv1.ReasonJobDeleted
	}
	return c.Status == metav1.ConditionFalse
}

// event records an event. The reference carries no resourceVersion, so that
// the recorder can count events that repeat instead of writing each.
func (r *reconciler) event(b backupv1.Backup, kind, reason, note string, args ...any) {
	ref := &corev1.ObjectReference{
		APIVersion: backupv1.GroupVersion.String(), Kind: b.Kind(), Namespace: b.GetNamespace(), Name: b.GetName(), UID: b.GetUID(),
	}
	r.events.Eventf(ref, nil, kind, reason, "Reconcile", note, args...)
}
