// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	backupv1 "example.com/backupjob-operator/api/v1"
)

var due = time.Date(2027, 3, 28, 2, 0, 0, 0, time.UTC)

func at(minutes int) *metav1.Time {
	return &metav1.Time{Time: due.Add(time.Duration(minutes) * time.Minute)}
}

func object(change func(*backupv1.BackupStatus)) *backupv1.BackupJob {
	b := &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "shop", UID: "u1"}}
	if change != nil {
		change(&b.Status)
	}
	return b
}

func stopped(reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: backupv1.ConditionBackupSucceeded, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
}

// job is a Job of the object, changed.
func job(change func(*batchv1.Job)) batchv1.Job {
	retries, yes := int32(3), true
	j := batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "nightly-1", Namespace: "shop", UID: "j1",
			Annotations:     map[string]string{backupv1.AnnotationScheduledTime: "2027-03-28T02:00:00Z"},
			OwnerReferences: []metav1.OwnerReference{{UID: "u1", Controller: &yes}},
		},
		Spec:   batchv1.JobSpec{BackoffLimit: &retries},
		Status: batchv1.JobStatus{StartTime: at(0)},
	}
	if change != nil {
		change(&j)
	}
	return j
}

func ended(how batchv1.JobConditionType, reason, message string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, LastTransitionTime: *at(4)},
			{Type: how, Status: corev1.ConditionTrue, LastTransitionTime: *at(5), Reason: reason, Message: message},
		}
		if how == batchv1.JobFailed {
			j.Status.Failed = 4
		}
	}
}

// pod is an attempt that ended after some minutes.
func pod(minutes int, exitCode int32, message string) corev1.Pod {
	yes := true
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "j1", Controller: &yes}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode, Message: message, FinishedAt: *at(minutes)},
		}}}},
	}
}

const stored = `{"location":"shop/nightly/20270328T020000Z.sql.zst","sizeBytes":1536,"sha256":"ab"}`

func TestCollectTellsHowARunEnded(t *testing.T) {
	cases := map[string]struct {
		object  *backupv1.BackupJob
		job     batchv1.Job
		pods    []corev1.Pod
		result  string
		message string
	}{
		"a run that goes on": {object: object(nil), job: job(nil), result: Running},
		"a run that waits for a Secret": {
			object: object(func(s *backupv1.BackupStatus) {
				s.Active = []string{"nightly-1"}
				s.Conditions = stopped(backupv1.ReasonSecretNotFound, "The Secret is missing")
			}),
			job: job(nil), result: Running, message: "The Secret is missing",
		},
		"a run after one that failed": {
			object: object(func(s *backupv1.BackupStatus) {
				s.Active = []string{"nightly-1"}
				s.Conditions = stopped(backupv1.ReasonRunFailed, "Yesterday's failure")
			}),
			job: job(nil), result: Running,
		},
		"a run that tries again": {
			object: object(nil), job: job(func(j *batchv1.Job) { j.Status.Failed = 2 }),
			pods:   []corev1.Pod{pod(1, 1, `{"error":"first"}`), pod(2, 1, `{"error":"second"}`)},
			result: Running, message: "attempt 2 of 4 failed: second",
		},
		"a run that tries again after a Pod that is gone": {
			object: object(nil), job: job(func(j *batchv1.Job) { j.Status.Failed = 1 }),
			result: Running, message: "attempt 1 of 4 failed: its Pod is gone",
		},
		"a success": {
			object: object(nil), job: job(ended(batchv1.JobComplete, "", "")),
			pods:   []corev1.Pod{pod(1, 1, `{"error":"first"}`), pod(5, 0, stored)},
			result: "Succeeded", message: "1.5 KiB in shop/nightly/20270328T020000Z.sql.zst",
		},
		"a success that could not prune": {
			object: object(nil), job: job(ended(batchv1.JobComplete, "", "")),
			pods:   []corev1.Pod{pod(5, 0, `{"location":"a","sizeBytes":1,"pruneError":"read-only"}`)},
			result: "Succeeded", message: "1 B in a; old backups could not be removed: read-only",
		},
		"a success whose Pod is gone": {
			object: object(func(s *backupv1.BackupStatus) {
				size := int64(2048)
				s.LastBackup = &backupv1.LastBackup{JobName: "nightly-1", Location: "a/b", SizeBytes: &size}
			}),
			job: job(ended(batchv1.JobComplete, "", "")), result: "Succeeded", message: "2.0 KiB in a/b",
		},
		"an old success": {
			object: object(func(s *backupv1.BackupStatus) {
				s.LastBackup = &backupv1.LastBackup{JobName: "nightly-2", Location: "a/b"}
			}),
			job: job(ended(batchv1.JobComplete, "", "")), result: "Succeeded",
		},
		"a failure": {
			object: object(nil), job: job(ended(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the limit")),
			pods:   []corev1.Pod{pod(3, 1, "noise\nno space left on device\n"), pod(1, 1, `{"error":"first"}`)},
			result: "Failed", message: "no space left on device",
		},
		"a failure whose Pod was evicted": {
			object: object(nil), job: job(ended(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the limit")),
			pods: []corev1.Pod{{
				ObjectMeta: pod(0, 0, "").ObjectMeta,
				Status:     corev1.PodStatus{Phase: corev1.PodFailed, Message: "The node was low on resource: memory."},
			}},
			result: "Failed", message: "The node was low on resource: memory.",
		},
		"a failure that the status knows": {
			object: object(func(s *backupv1.BackupStatus) {
				s.LastBackupTime = at(5)
				s.Conditions = stopped(backupv1.ReasonRunFailed, "Access denied")
			}),
			job: job(ended(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the limit")), result: "Failed", message: "Access denied",
		},
		"a failure older than the one that the status knows": {
			object: object(func(s *backupv1.BackupStatus) {
				s.LastBackupTime = at(90)
				s.Conditions = stopped(backupv1.ReasonRunFailed, "Access denied")
			}),
			job: job(ended(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the limit")), result: "Failed", message: "Job has reached the limit",
		},
		"a run that took too long": {
			object: object(nil), job: job(ended(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded, "Job was active too long")),
			pods:   []corev1.Pod{pod(1, 1, `{"error":"first"}`)},
			result: "Failed", message: "Job was active too long",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found := collect([]backupv1.Backup{tc.object}, []batchv1.Job{tc.job}, tc.pods)
			if len(found) != 1 {
				t.Fatalf("got %d runs, want 1", len(found))
			}
			if diff := cmp.Diff([]string{tc.result, tc.message}, []string{found[0].Result, found[0].Message}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCollectReadsAllOfARun(t *testing.T) {
	j := job(ended(batchv1.JobComplete, "", ""))
	j.Annotations[backupv1.AnnotationRunRequestedAt] = "now"
	want := []Run{{
		Namespace: "shop", Object: "bj/nightly", Job: "nightly-1", Request: "now", ScheduledTime: at(0), StartTime: at(0), EndTime: at(5),
		Result: "Succeeded", Message: "1.5 KiB in shop/nightly/20270328T020000Z.sql.zst", Attempts: 4,
		Location: "shop/nightly/20270328T020000Z.sql.zst", SizeBytes: 1536, SHA256: "ab",
	}}
	got := collect([]backupv1.Backup{object(nil)}, []batchv1.Job{j}, []corev1.Pod{pod(5, 0, stored)})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if took := got[0].Duration(due); took != 5*time.Minute {
		t.Errorf("it took %s", took)
	}
	if took := (Run{StartTime: at(0)}).Duration(due.Add(time.Minute)); took != time.Minute {
		t.Errorf("it has been going on for %s", took)
	}
	if took := (Run{}).Duration(due); took != 0 {
		t.Errorf("before its start it has been going on for %s", took)
	}
}

func TestCollectLeavesOutWhatIsNoRun(t *testing.T) {
	jobs := []batchv1.Job{
		job(func(j *batchv1.Job) { j.Name, j.Annotations = "cleanup", nil }),
		job(func(j *batchv1.Job) { j.Name, j.OwnerReferences = "nobody's", nil }),
		job(func(j *batchv1.Job) { j.Name, j.OwnerReferences[0].UID = "a stranger's", types.UID("u2") }),
		job(func(j *batchv1.Job) {
			j.Name, j.Annotations[backupv1.AnnotationScheduledTime] = "later", "2027-03-29T02:00:00Z"
		}),
		job(nil),
	}
	got := collect([]backupv1.Backup{object(nil)}, jobs, nil)
	want := []Run{{Job: "nightly-1"}, {Job: "later"}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Run{}, "Namespace", "Object", "ScheduledTime", "StartTime", "Result", "Attempts")); diff != "" {
		t.Error(diff)
	}
}
