// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// cleanupRetry is how soon a clean-up that was refused is tried again.
const cleanupRetry = 30 * time.Second

// hold puts the finalizer on an object whose backups go with it, and takes it
// off one whose backups stay.
func (r *reconciler) hold(ctx context.Context, b backupv1.Backup) error {
	return r.setFinalizer(ctx, b, b.Policy().DeletionPolicy == backupv1.DeletionDelete)
}

func (r *reconciler) setFinalizer(ctx context.Context, b backupv1.Backup, wanted bool) error {
	if wanted == controllerutil.ContainsFinalizer(b, backupv1.FinalizerCleanup) {
		return nil
	}
	change := func() { controllerutil.RemoveFinalizer(b, backupv1.FinalizerCleanup) }
	if wanted {
		change = func() { controllerutil.AddFinalizer(b, backupv1.FinalizerCleanup) }
	}
	if err := r.patch(b, change, func(p client.Patch) error { return r.client.Patch(ctx, b, p) }); err != nil {
		return fmt.Errorf("write the finalizer: %w", err)
	}
	return nil
}

// finalize is the pass over an object that is being deleted.
func (r *reconciler) finalize(ctx context.Context, f facts) (time.Time, error) {
	held := controllerutil.ContainsFinalizer(f.backup, backupv1.FinalizerCleanup)
	if err := r.report(ctx, f, plan{observed: observedSchedule(f), handled: f.status().LastHandledRunRequest}, acted{}); err != nil || !held {
		return time.Time{}, err
	}
	deadline := f.backup.GetDeletionTimestamp().Add(r.CleanupTimeout)
	reason, err := r.cleanUp(ctx, f, deadline)
	if err != nil {
		return time.Time{}, err
	}
	if reason == "" {
		return soonest(f.now.Add(cleanupRetry), deadline), nil
	}
	if err := r.setFinalizer(ctx, f.backup, false); err != nil {
		return time.Time{}, err
	}
	ctrl.LoggerFrom(ctx).Info("Let the object go", "reason", reason)
	cleanups.WithLabelValues(f.backup.Kind(), f.backup.GetNamespace(), reason).Inc()
	if words := farewell[reason]; words != "" {
		r.event(f.backup, corev1.EventTypeNormal, reason, "%s", words)
	}
	return time.Time{}, nil
}

// farewell says what became of the backups. A namespace that is being deleted
// takes no events.
var farewell = map[string]string{
	backupv1.ReasonCleanupSucceeded: "The object's backups are removed",
	backupv1.ReasonCleanupFailed:    "The object's backups stay: the clean-up failed",
	backupv1.ReasonCleanupTimedOut:  "The object's backups stay: the clean-up took too long",
	backupv1.ReasonCleanupSkipped:   "The object's backups stay, as was asked for",
}

// cleanUp takes the next step and returns why the object may go, empty for not
// yet.
func (r *reconciler) cleanUp(ctx context.Context, f facts, deadline time.Time) (reason string, err error) {
	switch skip := f.backup.GetAnnotations()[backupv1.AnnotationSkipCleanup]; {
	case f.backup.Policy().DeletionPolicy != backupv1.DeletionDelete, skip != "" && skip != "false":
		return backupv1.ReasonCleanupSkipped, nil
	case !f.now.Before(deadline):
		return backupv1.ReasonCleanupTimedOut, nil
	case f.cleanup != nil:
		return map[state]string{succeeded: backupv1.ReasonCleanupSucceeded, failed: backupv1.ReasonCleanupFailed}[f.cleanup.state], nil
	}
	running := f.active()
	if err := r.stop(ctx, f.backup, running, backupv1.ReasonRunStopped); err != nil || len(running) > 0 {
		return "", err
	}
	job, err := r.cleanupJob(f.backup, deadline.Sub(f.now))
	if err != nil {
		return "", err
	}
	refusal, err := r.create(ctx, f.backup, job)
	if refusal != nil && refusal.Reason == backupv1.ReasonNamespaceTerminating {
		return refusal.Reason, nil
	}
	return "", err
}
