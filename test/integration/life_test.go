// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// life is an object from its creation to its end, in which the controller has
// to do all that it can. There is no Job controller here, so the steps play it.
type life struct {
	namespace string
	clock     *clocktesting.FakePassiveClock
	patience  time.Duration // with each step

	b   *backupv1.BackupJob
	job *batchv1.Job
	pod *corev1.Pod
}

// live returns the first step that the controller did not take.
func (l *life) live(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"start a run that was asked for", l.start},
		{"tell why there is no Pod", l.noPod},
		{"tell twice that the Secret is missing", l.noSecret},
		{"tell the run's end", l.succeed},
		{"tell that a Job was deleted by hand", l.lose},
		{"clean up and let the object go", l.end},
	} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// until waits for what the controller does.
func (l *life) until(ctx context.Context, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, l.patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	return errors.Join(last, err)
}

func (l *life) ask(ctx context.Context, key string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, backupv1.AnnotationRunRequestedAt, key)
	return admin.Patch(ctx, l.b, client.RawPatch("application/merge-patch+json", patch))
}

// running waits for the one active Job.
func (l *life) running(ctx context.Context) error {
	return l.until(ctx, func(ctx context.Context) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(l.b), l.b); err != nil {
			return err
		}
		if len(l.b.Status.Active) != 1 {
			return fmt.Errorf("active: %v, %v", l.b.Status.Active, l.b.Status.Conditions)
		}
		l.job = &batchv1.Job{}
		return admin.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: l.b.Status.Active[0]}, l.job)
	})
}

// told waits until the condition has the reason.
func (l *life) told(ctx context.Context, reason string) error {
	return l.until(ctx, func(ctx context.Context) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(l.b), l.b); err != nil {
			return err
		}
		c := meta.FindStatusCondition(l.b.Status.Conditions, backupv1.ConditionBackupSucceeded)
		if c == nil || c.Reason != reason {
			return fmt.Errorf("want the reason %s: %v", reason, c)
		}
		return nil
	})
}

func (l *life) start(ctx context.Context) error {
	l.b = &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{
		Namespace: l.namespace, Name: "a", Annotations: map[string]string{backupv1.AnnotationRunRequestedAt: "one"},
	}}
	l.b.Spec.Source.Host, l.b.Spec.Schedule, l.b.Spec.DeletionPolicy = "db.example.com", "0 0 1 1 *", backupv1.DeletionDelete
	if err := admin.Create(ctx, l.b); err != nil {
		return err
	}
	return l.running(ctx)
}

func (l *life) noPod(ctx context.Context) error {
	l.job.Status.StartTime = new(metav1.NewTime(l.clock.Now().Add(-time.Minute)))
	if err := admin.Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "why"}, Reason: "FailedCreate", LastTimestamp: metav1.Now(),
		InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: l.namespace, Name: l.job.Name, UID: l.job.UID},
		Message:        `Error creating: pods "x" is forbidden: error looking up service account x/y: serviceaccount "y" not found`,
	}); err != nil {
		return err
	}
	if err := admin.Status().Update(ctx, l.job); err != nil {
		return err
	}
	return l.told(ctx, backupv1.ReasonPodNotCreated)
}

func (l *life) noSecret(ctx context.Context) error {
	labels := l.job.Spec.Template.Labels
	labels[batchv1.ControllerUidLabel], labels[batchv1.JobNameLabel] = string(l.job.UID), l.job.Name
	l.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: l.job.Name + "-0", Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(l.job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: l.job.Spec.Template.Spec,
	}
	if err := admin.Create(ctx, l.pod); err != nil {
		return err
	}
	missing := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: `secret "a-credentials" not found`}}
	for _, step := range []struct {
		state  corev1.ContainerState
		reason string
	}{
		{missing, backupv1.ReasonSecretNotFound}, {corev1.ContainerState{}, backupv1.ReasonRunning}, {missing, backupv1.ReasonSecretNotFound},
	} {
		l.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "backup", State: step.state}}
		if err := admin.Status().Update(ctx, l.pod); err != nil {
			return err
		}
		if err := l.told(ctx, step.reason); err != nil {
			return err
		}
	}
	return l.until(ctx, func(ctx context.Context) error { // what is told twice is counted
		var list eventsv1.EventList
		if err := admin.List(ctx, &list, client.InNamespace(l.namespace)); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
			return e.Reason == backupv1.ReasonSecretNotFound && e.Series != nil && e.Series.Count == 2
		}) {
			return errors.New("no event was counted")
		}
		return nil
	})
}

func (l *life) succeed(ctx context.Context) error {
	if err := admin.Get(ctx, client.ObjectKeyFromObject(l.job), l.job); err != nil {
		return err
	}
	end(ctx, l.job, batchv1.JobComplete)
	return l.told(ctx, backupv1.ReasonRunSucceeded)
}

func (l *life) lose(ctx context.Context) error {
	if err := l.ask(ctx, "two"); err != nil {
		return err
	}
	if err := l.running(ctx); err != nil {
		return err
	}
	if err := admin.Delete(ctx, l.job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return err
	}
	return l.told(ctx, backupv1.ReasonJobDeleted)
}

// end lets the Job of the clean-up succeed. No garbage collector runs here, so
// the runs' Jobs stay.
func (l *life) end(ctx context.Context) error {
	if err := admin.Delete(ctx, l.b); err != nil {
		return err
	}
	cleanup := func(ctx context.Context) (*batchv1.Job, error) {
		var jobs batchv1.JobList
		err := admin.List(ctx, &jobs, client.InNamespace(l.namespace))
		for i := range jobs.Items {
			if len(jobs.Items[i].OwnerReferences) == 0 {
				return &jobs.Items[i], err
			}
		}
		return nil, err
	}
	var job *batchv1.Job
	if err := l.until(ctx, func(ctx context.Context) (err error) {
		if job, err = cleanup(ctx); job == nil && err == nil {
			err = errors.New("no clean-up")
		}
		return err
	}); err != nil {
		return err
	}
	end(ctx, job, batchv1.JobComplete)
	return l.until(ctx, func(ctx context.Context) error {
		job, err := cleanup(ctx)
		if gone := apierrors.IsNotFound(admin.Get(ctx, client.ObjectKeyFromObject(l.b), l.b)); err == nil && (!gone || job != nil) {
			err = fmt.Errorf("the object is gone: %v, the clean-up: %v", gone, job != nil)
		}
		return err
	})
}
