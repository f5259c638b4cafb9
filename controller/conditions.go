// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// maxWords keeps a message readable whatever a tool or a server says.
const maxWords = 1024

// What Ready may be, and what of it is a Job that is refused.
var (
	refusals     = []string{backupv1.ReasonRunForbidden, backupv1.ReasonRunInvalid, backupv1.ReasonNameTaken, backupv1.ReasonNamespaceTerminating}
	readyReasons = slices.Concat(refusals, []string{
		backupv1.ReasonScheduled, backupv1.ReasonSuspended, backupv1.ReasonInvalidSchedule, backupv1.ReasonTerminating,
	})
)

func condition(kind string, status metav1.ConditionStatus, reason, message string, args ...any) *metav1.Condition {
	message = fmt.Sprintf(message, args...)
	if len(message) > maxWords {
		message = strings.ToValidUTF8(message[:maxWords], "") + "…"
	}
	return &metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func notReady(reason, message string, args ...any) *metav1.Condition {
	return condition(backupv1.ConditionReady, metav1.ConditionFalse, reason, message, args...)
}

func ready(reason, message string) *metav1.Condition {
	return condition(backupv1.ConditionReady, metav1.ConditionTrue, reason, message)
}

func invalidSchedule(why error) *metav1.Condition {
	return notReady(backupv1.ReasonInvalidSchedule, "Cannot schedule backups: %v", why)
}

// terminating says what a deletion waits for; refusal is why the clean-up's Job
// cannot be created.
func (f facts) terminating(refusal *metav1.Condition) *metav1.Condition {
	latest, why := stamp(f.deadline.Add(endPatience)), ""
	switch {
	case f.staysUnclean() && f.cleanup == nil:
		return notReady(backupv1.ReasonTerminating, "The object is being deleted, its backups stay")
	case f.staysUnclean():
		return notReady(backupv1.ReasonTerminating, "The clean-up is ended, then the object goes, by %s at the latest; backups that are not removed yet stay", latest)
	case !controllerutil.ContainsFinalizer(f.backup, backupv1.FinalizerCleanup):
		return notReady(backupv1.ReasonTerminating, "No clean-up is left to do; other finalizers hold the object")
	case refusal != nil:
		why = ". The clean-up waits. " + refusal.Message
	case f.cleanup != nil && f.trouble != nil:
		why = ". The clean-up waits: " + strings.TrimPrefix(f.trouble.Message, runWaits)
	}
	return notReady(backupv1.ReasonTerminating, "The object's backups in claim %s are removed, then it goes, by %s at the latest. "+
		"To keep what is left of them: kubectl -n %s annotate %s %s %s=true%s",
		backupv1.ClaimName(f.backup), latest, f.backup.GetNamespace(), strings.ToLower(f.backup.Kind()), f.backup.GetName(), backupv1.AnnotationSkipCleanup, why)
}

// refused says why a Job cannot be created. The Job's name in it keeps the run
// from being tried again before the next one or an edit.
func refused(reason, job, why string, args ...any) *metav1.Condition {
	return notReady(reason, "Job %s is refused: "+why, slices.Concat([]any{job}, args)...)
}

func nameTaken(b backupv1.Backup, job string) *metav1.Condition {
	return refused(backupv1.ReasonNameTaken, job, "a Job of somebody else has its name. Next: kubectl -n %s delete job %s",
		b.GetNamespace(), job)
}

// refusalOf tells permanent trouble with a Job, which is a condition and waits
// for the next run or an edit, from temporary trouble, which is an error and
// retried. It returns nil for the latter.
func refusalOf(job string, err error) *metav1.Condition {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return refused(backupv1.ReasonNamespaceTerminating, job, "the namespace is being deleted, nothing can be created in it")
	case apierrors.IsForbidden(err) && !kindUnknown(err):
		return refused(backupv1.ReasonRunForbidden, job, "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("jobs.batch %q is forbidden: ", job)))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return refused(backupv1.ReasonRunInvalid, job, "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("Job.batch %q is invalid: ", job)))
	}
	return nil
}

// refusedBefore says whether the run was tried and refused since the last edit.
func (f facts) refusedBefore(r run) bool {
	c := f.standingRefusal()
	return c != nil && strings.Contains(c.Message, jobName(f.backup, r))
}

// standingRefusal is what the last try to start a run met, nil if it started
// or the spec has changed since.
func (f facts) standingRefusal() *metav1.Condition {
	c := meta.FindStatusCondition(f.status().Conditions, backupv1.ConditionReady)
	if c == nil || !slices.Contains(refusals, c.Reason) || c.ObservedGeneration != f.backup.GetGeneration() {
		return nil
	}
	return c
}

// kindUnknown says that the server's check of owner references does not know
// our kinds yet, as for half a minute after their CRDs were created. It has no
// reason of its own, only these words of the admission plugin
// OwnerReferencesPermissionEnforcement.
func kindUnknown(err error) bool {
	return strings.Contains(err.Error(), "cannot find RESTMapping")
}

func noRunYet(kind string) *metav1.Condition {
	return condition(kind, metav1.ConditionUnknown, backupv1.ReasonNoRunYet, "No run has ended yet")
}

func running() *metav1.Condition {
	return condition(backupv1.ConditionBackupSucceeded, metav1.ConditionUnknown, backupv1.ReasonRunning, "A run goes on")
}

func jobDeleted(job string) *metav1.Condition {
	return condition(backupv1.ConditionBackupSucceeded, metav1.ConditionUnknown, backupv1.ReasonJobDeleted,
		"Job %s was deleted before its outcome was seen; it is not run again", job)
}

func endedByUs(job, reason, why string) *metav1.Condition {
	return condition(backupv1.ConditionBackupSucceeded, metav1.ConditionUnknown, reason, "Job %s was ended %s", job, why)
}

// outcome says how a run ended. What it last waited for is worth more than the
// time limit that ended the wait.
func outcome(b backupv1.Backup, j job, before *metav1.Condition) *metav1.Condition {
	result := func(status metav1.ConditionStatus, reason, message string, args ...any) *metav1.Condition {
		return condition(backupv1.ConditionBackupSucceeded, status, reason, message, args...)
	}
	switch {
	case j.state == succeeded && j.report.result.Location == "":
		return result(metav1.ConditionTrue, backupv1.ReasonRunSucceeded, "Job %s stored a backup", j.name)
	case j.state == succeeded:
		return result(metav1.ConditionTrue, backupv1.ReasonRunSucceeded, "Job %s stored %s", j.name, j.report.result.Location)
	case j.why == batchv1.JobReasonDeadlineExceeded:
		last := ""
		if isTrouble(before) {
			last = ". " + before.Message
		}
		return result(metav1.ConditionFalse, backupv1.ReasonDeadlineExceeded, "Job %s took longer than %d seconds, spec.activeDeadlineSeconds%s", j.name, activeDeadline(b), last)
	case !j.report.found:
		return result(metav1.ConditionFalse, backupv1.ReasonRunFailed, "Job %s failed, and its Pod is gone: %s", j.name, j.why)
	}
	return result(metav1.ConditionFalse, backupv1.ReasonRunFailed, "Job %s failed: %s", j.name, j.report.words)
}

func pruned(r report) *metav1.Condition {
	switch {
	case !r.found:
		return condition(backupv1.ConditionPruned, metav1.ConditionUnknown, backupv1.ReasonResultUnknown, "The run's Pod was gone before its report was read")
	case r.result.PruneError != "":
		return condition(backupv1.ConditionPruned, metav1.ConditionFalse, backupv1.ReasonPruneFailed,
			"Old backups could not be removed: %s", r.result.PruneError)
	}
	return condition(backupv1.ConditionPruned, metav1.ConditionTrue, backupv1.ReasonPruned, "Old backups removed: %d", r.result.Pruned)
}

// isTrouble tells what keeps an active run waiting from how an ended one ended.
func isTrouble(c *metav1.Condition) bool {
	return c != nil && c.Type == backupv1.ConditionBackupSucceeded && c.Status == metav1.ConditionFalse &&
		c.Reason != backupv1.ReasonRunFailed && c.Reason != backupv1.ReasonDeadlineExceeded
}
