// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package runs tells what the Jobs of our objects and their Pods say of each
// run.
package runs

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
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
)

// Running is the result of a run that has not ended.
const Running = "Running"

// Run is one run of an object. The names of its fields in JSON are for
// programs and stay.
type Run struct {
	Namespace string `json:"namespace"`
	// Object is the name as the commands take it.
	Object string `json:"object"`
	Job    string `json:"job"`
	// Request is the value that asked for the run, empty if the schedule did.
	Request       string       `json:"request,omitempty"`
	ScheduledTime *metav1.Time `json:"scheduledTime,omitempty"`
	StartTime     *metav1.Time `json:"startTime,omitempty"`
	EndTime       *metav1.Time `json:"endTime,omitempty"`
	// Result is Running, Succeeded or Failed.
	Result string `json:"result"`
	// Message says where the backup is, why there is none, or what an active
	// run waits for.
	Message string `json:"message,omitempty"`
	// FailedAttempts counts the Pods that failed, of Attempts at most.
	FailedAttempts int32  `json:"failedAttempts"`
	Attempts       int32  `json:"attempts"`
	Location       string `json:"location,omitempty"`
	SizeBytes      int64  `json:"sizeBytes,omitempty"`
	SHA256         string `json:"sha256,omitempty"`
}

// Ended says whether the run is over.
func (r Run) Ended() bool { return r.Result != Running }

// Duration is how long the run took, or has been going on.
func (r Run) Duration(now time.Time) time.Duration {
	switch {
	case r.StartTime == nil:
		return 0
	case r.EndTime != nil:
		return r.EndTime.Sub(r.StartTime.Time)
	}
	return now.Sub(r.StartTime.Time)
}

// Read returns the runs of the objects, oldest first. Where all objects of a
// namespace, or of all, are meant, one question is asked for all.
func Read(ctx context.Context, c client.Client, namespace string, objects []backupv1.Backup) ([]Run, error) {
	choice := []client.ListOption{client.InNamespace(namespace), client.HasLabels{backupv1.LabelUID}}
	if len(objects) == 1 {
		choice[1] = client.MatchingLabels{backupv1.LabelUID: string(objects[0].GetUID())}
	}
	jobs, pods := &batchv1.JobList{}, &corev1.PodList{}
	if err := c.List(ctx, jobs, choice...); err != nil {
		return nil, fmt.Errorf("list the Jobs of the runs: %w", err)
	}
	// Who may see Jobs but no Pods learns less, but not nothing.
	if err := c.List(ctx, pods, choice...); err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list the Pods of the runs: %w", err)
	}
	return collect(objects, jobs.Items, pods.Items), nil
}

func collect(objects []backupv1.Backup, jobs []batchv1.Job, pods []corev1.Pod) []Run {
	owners := map[types.UID]backupv1.Backup{}
	for _, object := range objects {
		owners[object.GetUID()] = object
	}
	podsOf := map[types.UID][]corev1.Pod{}
	for _, pod := range pods {
		if ref := metav1.GetControllerOf(&pod); ref != nil {
			podsOf[ref.UID] = append(podsOf[ref.UID], pod)
		}
	}
	var found []Run
	for i := range jobs {
		ref := metav1.GetControllerOf(&jobs[i])
		// A Job that has no scheduled time is a clean-up; one of another owner
		// has our labels by mistake.
		if _, ok := jobs[i].Annotations[backupv1.AnnotationScheduledTime]; !ok || ref == nil || owners[ref.UID] == nil {
			continue
		}
		found = append(found, runOf(owners[ref.UID], &jobs[i], podsOf[jobs[i].UID]))
	}
	slices.SortFunc(found, func(a, b Run) int {
		return cmp.Or(timeOf(a.ScheduledTime).Compare(timeOf(b.ScheduledTime)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Job, b.Job))
	})
	return found
}

func timeOf(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

func runOf(object backupv1.Backup, job *batchv1.Job, pods []corev1.Pod) Run {
	run := Run{
		Namespace: job.Namespace, Object: cluster.ShortName(object.Kind(), object.GetName()), Job: job.Name,
		Request: job.Annotations[backupv1.AnnotationRunRequestedAt], StartTime: job.Status.StartTime,
		Result: Running, FailedAttempts: job.Status.Failed, Attempts: 1,
	}
	if job.Spec.BackoffLimit != nil {
		run.Attempts = *job.Spec.BackoffLimit + 1
	}
	if at, err := time.Parse(time.RFC3339, job.Annotations[backupv1.AnnotationScheduledTime]); err == nil {
		run.ScheduledTime = &metav1.Time{Time: at}
	}
	end := endOf(job)
	if end != nil {
		run.EndTime, run.Result = &end.LastTransitionTime, string(backupv1.ResultFailed)
		if end.Type == batchv1.JobComplete {
			run.Result = string(backupv1.ResultSucceeded)
		}
	}
	run.explain(object, end, pods)
	return run
}

func endOf(job *batchv1.Job) *batchv1.JobCondition {
	for i, condition := range job.Status.Conditions {
		ended := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed
		if ended && condition.Status == corev1.ConditionTrue {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}
