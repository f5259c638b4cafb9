// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/backupjob-operator/api/agent"
	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

// explain fills what the run's end, its Pods and the object's status say. Pods
// go before their Job does, so each source stands in for the one before.
func (r *Run) explain(object backupv1.Backup, end *batchv1.JobCondition, pods []corev1.Pod) {
	result, words := lastAttempt(pods, r.Result == string(backupv1.ResultSucceeded))
	switch r.Result {
	case string(backupv1.ResultSucceeded):
		r.stored(object, result)
		r.Message = success(r, result)
	case string(backupv1.ResultFailed):
		if end.Reason == batchv1.JobReasonDeadlineExceeded {
			words = "" // what the last attempt said is not why the run ended
		}
		r.Message = cmp.Or(words, outcome(object, end), end.Message, end.Reason)
	default:
		r.Message = cmp.Or(Trouble(object, r.Job), retrying(r, words))
	}
}

// stored takes what the agent reported, or what the status kept of it.
func (r *Run) stored(object backupv1.Backup, result agent.Result) {
	r.Location, r.SizeBytes, r.SHA256 = result.Location, result.SizeBytes, result.SHA256
	last := object.RunStatus().LastBackup
	if r.Location != "" || last == nil || last.JobName != r.Job {
		return
	}
	r.Location, r.SHA256 = last.Location, last.SHA256
	if last.SizeBytes != nil {
		r.SizeBytes = *last.SizeBytes
	}
}

func success(r *Run, result agent.Result) string {
	text := r.Location
	if size := output.Size(r.SizeBytes); size != "" {
		text = size + " in " + text
	}
	if result.PruneError != "" {
		text += "; old backups could not be removed: " + result.PruneError
	}
	return text
}

func retrying(r *Run, words string) string {
	if r.FailedAttempts == 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d of %d failed: %s", r.FailedAttempts, r.Attempts, cmp.Or(words, "its Pod is gone"))
}

// outcome is the status' account of the run that ended with the condition, if
// it is the one that the status speaks of.
func outcome(object backupv1.Backup, end *batchv1.JobCondition) string {
	status := object.RunStatus()
	condition := meta.FindStatusCondition(status.Conditions, backupv1.ConditionBackupSucceeded)
	if condition == nil || status.LastBackupTime == nil || !status.LastBackupTime.Equal(&end.LastTransitionTime) {
		return ""
	}
	if condition.Status != metav1.ConditionFalse || !isOutcome(condition.Reason) {
		return ""
	}
	return condition.Message
}

// isOutcome tells how a run ended from what keeps one from going on.
func isOutcome(reason string) bool {
	return reason == backupv1.ReasonRunFailed || reason == backupv1.ReasonDeadlineExceeded
}

// Trouble is what keeps an active run from going on, as the object's status
// says it; empty if nothing does.
func Trouble(object backupv1.Backup, job string) string {
	status := object.RunStatus()
	condition := meta.FindStatusCondition(status.Conditions, backupv1.ConditionBackupSucceeded)
	if condition == nil || condition.Status != metav1.ConditionFalse || isOutcome(condition.Reason) || !slices.Contains(status.Active, job) {
		return ""
	}
	return condition.Message
}

// lastAttempt is what the newest container that ended in that way left behind:
// the agent's result, and in one line why it failed.
func lastAttempt(pods []corev1.Pod, succeeded bool) (agent.Result, string) {
	var last *corev1.ContainerStateTerminated
	for i := range pods {
		status := &pods[i].Status
		for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
			ended := c.State.Terminated
			if ended == nil || ended.Message == "" || (ended.ExitCode == 0) != succeeded {
				continue
			}
			if last == nil || last.FinishedAt.Before(&ended.FinishedAt) {
				last = ended
			}
		}
	}
	if last == nil {
		return agent.Result{}, podWords(pods)
	}
	result, err := agent.DecodeResult(last.Message)
	if err == nil && result.Error != "" {
		return result, result.Error
	}
	lines := strings.Split(strings.TrimSpace(last.Message), "\n")
	return result, lines[len(lines)-1]
}

// podWords is what Kubernetes says of Pods whose containers said nothing: that
// one was evicted, say.
func podWords(pods []corev1.Pod) string {
	for i := range pods {
		if pods[i].Status.Phase == corev1.PodFailed && pods[i].Status.Message != "" {
			return pods[i].Status.Message
		}
	}
	return ""
}
