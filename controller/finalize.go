// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// cleanupRetry is how soon a clean-up that was refused is tried again.
	cleanupRetry = 30 * time.Second
	// endPatience is how long after the deadline the object waits for the Pods
	// of a clean-up that is ended: longer than a Pod's grace period.
	endPatience = time.Minute
)

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
	held, a, reason := controllerutil.ContainsFinalizer(f.backup, backupv1.FinalizerCleanup), acted{}, ""
	if held {
		var err error
		if reason, a.refusal, err = r.cleanUp(ctx, f); err != nil {
			return time.Time{}, err
		}
	}
	if err := r.report(ctx, f, plan{observed: observedSchedule(f), handled: f.status().LastHandledRunRequest}, a); err != nil || !held {
		return time.Time{}, err
	}
	if reason == "" {
		next := f.now.Add(cleanupRetry)
		if f.now.Before(f.deadline) {
			next = soonest(next, f.deadline)
		}
		return next, nil
	}
	if err := r.setFinalizer(ctx, f.backup, false); err != nil {
		return time.Time{}, err
	}
	ctrl.LoggerFrom(ctx).Info("Let the object go", "reason", reason)
	cleanups.WithLabelValues(f.backup.Kind(), f.backup.GetNamespace(), reason).Inc()
	if words := farewell[reason]; words != "" {
		r.event(f.backup, nil, corev1.EventTypeNormal, reason, words, backupv1.ClaimName(f.backup))
	}
	if reason == backupv1.ReasonCleanupSucceeded { // before now it would be made anew
		return time.Time{}, r.tidy(ctx, f.backup, []job{*f.cleanup})
	}
	return time.Time{}, nil
}

// farewell says what became of the backups in which claim: those in one that
// spec.storage named before are nobody's. A namespace that is being deleted
// takes no events.
var farewell = map[string]string{
	backupv1.ReasonCleanupSucceeded: "The object's backups in claim %s are removed",
	backupv1.ReasonCleanupFailed:    "The clean-up of claim %s failed; backups that it had not removed yet stay",
	backupv1.ReasonCleanupTimedOut:  "The clean-up of claim %s took too long; backups that it had not removed yet stay",
	backupv1.ReasonCleanupSkipped:   "The clean-up of claim %s is given up, as was asked for; backups that it had not removed yet stay",
}

// cleanUp takes the next step and returns why the object may go, empty for not
// yet, and what refuses the step.
func (r *reconciler) cleanUp(ctx context.Context, f facts) (reason string, refusal *metav1.Condition, err error) {
	switch {
	case f.cleanup != nil && f.cleanup.state == succeeded:
		return backupv1.ReasonCleanupSucceeded, nil, nil
	case f.cleanup != nil && f.cleanup.state == failed:
		return backupv1.ReasonCleanupFailed, nil, nil
	case f.staysUnclean():
		reason, err = r.giveUp(ctx, f, backupv1.ReasonCleanupSkipped)
		return reason, nil, err
	case !f.now.Before(f.deadline):
		reason, err = r.giveUp(ctx, f, backupv1.ReasonCleanupTimedOut)
		return reason, nil, err
	case f.cleanup != nil:
		return "", nil, nil
	}
	running := f.active()
	if err := r.stop(ctx, f.backup, running, backupv1.ReasonRunStopped); err != nil || len(running) > 0 {
		return "", nil, err
	}
	job, err := r.cleanupJob(f.backup, f.deadline.Sub(f.now))
	if err != nil {
		return "", nil, err
	}
	refusal, err = r.create(ctx, f.backup, job)
	if refusal != nil && refusal.Reason == backupv1.ReasonNamespaceTerminating {
		return refusal.Reason, nil, nil
	}
	return "", refusal, err
}

// staysUnclean says that the backups are to stay after all.
func (f facts) staysUnclean() bool {
	skip := f.backup.GetAnnotations()[backupv1.AnnotationSkipCleanup]
	return f.backup.Policy().DeletionPolicy != backupv1.DeletionDelete || skip != "" && skip != "false"
}

// giveUp ends the clean-up and returns the reason once nothing of it is left
// that could remove a backup: it has no owner, and would outlive the object.
// Its Pods are asked for as well, because somebody may have deleted the Job.
func (r *reconciler) giveUp(ctx context.Context, f facts, reason string) (string, error) {
	left := f.cleanup != nil
	if left {
		if err := r.stop(ctx, f.backup, []job{*f.cleanup}, reason); err != nil {
			return "", err
		}
	} else {
		var pods corev1.PodList
		err := r.reader.List(ctx, &pods, client.InNamespace(f.backup.GetNamespace()), client.MatchingLabels{
			backupv1.LabelUID: string(f.backup.GetUID()), batchv1.JobNameLabel: cleanupName(f.backup),
		})
		if err != nil {
			return "", fmt.Errorf("list the Pods of the clean-up: %w", err)
		}
		left = slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
			return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
		})
	}
	switch {
	case !left:
		return reason, nil
	case f.now.Before(f.deadline.Add(endPatience)):
		return "", nil
	}
	r.event(f.backup, nil, corev1.EventTypeWarning, reason, "A Pod of the clean-up could not be ended, mostly because its node is lost; it may remove more backups")
	return reason, nil
}
