// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// acted is what act did.
type acted struct {
	started []job             // the runs whose Jobs are there
	refusal *metav1.Condition // why one cannot be started
}

// act ends and starts what the plan says. If it fails halfway, the next pass
// sees what it did.
func (r *reconciler) act(ctx context.Context, f facts, p plan) (a acted, err error) {
	if err := r.stop(ctx, f.backup, p.replace, backupv1.ReasonRunReplaced); err != nil {
		return a, err
	}
	refused := p.held
	for _, run := range p.start {
		made, err := r.runJob(f.backup, run)
		if err != nil {
			return a, err
		}
		refusal, err := r.create(ctx, f.backup, made)
		if err != nil {
			return a, err
		}
		if refusal != nil {
			refusal.Message += ". The next run, a new request or an edit of the spec tries again"
			for _, name := range refused {
				refusal.Message = fmt.Sprintf("Job %s is refused, too. %s", name, refusal.Message)
			}
			a.refusal, refused = refusal, append(refused, made.Name)
			continue
		}
		a.started = append(a.started, job{run: run, name: made.Name, uid: made.UID})
	}
	return a, nil
}

// create makes the Job. One of ours under its name is that Job: whoever made
// it was faster, or did not live to tell.
func (r *reconciler) create(ctx context.Context, b backupv1.Backup, job *batchv1.Job) (*metav1.Condition, error) {
	err := r.client.Create(ctx, job)
	if apierrors.IsAlreadyExists(err) {
		var there batchv1.Job
		if err = r.reader.Get(ctx, client.ObjectKeyFromObject(job), &there); err == nil && !ours(b, job, &there) {
			return nameTaken(b, job.Name), nil
		}
		job.UID = there.UID
	}
	if refusal := refusalOf(job.Name, err); refusal != nil {
		ctrl.LoggerFrom(ctx).Info("A Job was refused", "job", job.Name, "reason", refusal.Reason, "message", refusal.Message)
		return refusal, nil
	}
	if err != nil {
		return nil, fmt.Errorf("create Job %s: %w", job.Name, err)
	}
	last := r.lastWrite(b)
	r.recent.Store(client.ObjectKeyFromObject(b), write{last.version, append(last.jobs, job.Name)})
	ctrl.LoggerFrom(ctx).Info("Created a Job", "job", job.Name, "scheduledTime", job.Annotations[backupv1.AnnotationScheduledTime])
	return nil, nil
}

// ours says whether the Job that is there is the one that was to be made: by
// its owner, or, made without one, by the UID that it carries.
func ours(b backupv1.Backup, made, there *batchv1.Job) bool {
	if metav1.GetControllerOf(made) != nil {
		return metav1.IsControlledBy(there, b)
	}
	return metav1.GetControllerOf(there) == nil && there.Labels[backupv1.LabelUID] == string(b.GetUID())
}

// stop ends active runs in the foreground: their Jobs are there until their
// Pods are gone.
func (r *reconciler) stop(ctx context.Context, b backupv1.Backup, jobs []job, reason string) error {
	for _, j := range jobs {
		if j.leaving {
			continue
		}
		if err := r.remove(ctx, b, j, metav1.DeletePropagationForeground); err != nil {
			return err
		}
		r.event(b, &j, corev1.EventTypeNormal, reason, "Ended Job %s", j.name)
	}
	return nil
}

// tidy deletes finished Jobs. It comes last: their outcomes are in the status.
func (r *reconciler) tidy(ctx context.Context, b backupv1.Backup, finished []job) error {
	for _, j := range finished {
		if err := r.remove(ctx, b, j, metav1.DeletePropagationBackground); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes that very Job. It names the propagation: without one, the
// Pods of a Job stay.
func (r *reconciler) remove(ctx context.Context, b backupv1.Backup, j job, how metav1.DeletionPropagation) error {
	doomed := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.GetNamespace(), Name: j.name}}
	err := r.client.Delete(ctx, doomed, client.PropagationPolicy(how), client.Preconditions{UID: new(j.uid)})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Job %s: %w", j.name, err)
	}
	ctrl.LoggerFrom(ctx).Info("Deleted a Job", "job", j.name)
	return nil
}
