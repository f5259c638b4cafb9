// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types.
const (
	// ConditionReady says whether the object can be scheduled.
	ConditionReady = "Ready"
	// ConditionBackupSucceeded says how the last finished run ended, and what
	// keeps an active one from going on.
	ConditionBackupSucceeded = "BackupSucceeded"
	// ConditionPruned says whether retention could be applied after the last
	// successful run.
	ConditionPruned = "Pruned"
	// ConditionSuspended says whether spec.suspend holds the schedule back,
	// and since when. An object that was never suspended lacks it.
	ConditionSuspended = "Suspended"
)

// Reasons of the condition Ready.
const (
	// ReasonScheduled (True): runs start by the schedule. Nothing to do.
	ReasonScheduled = "Scheduled"
	// ReasonSuspended (True): spec.suspend is true, so only requested runs
	// start. To go on, set spec.suspend to false.
	ReasonSuspended = "Suspended"
	// ReasonInvalidSchedule (False): spec.schedule or spec.timeZone cannot be
	// read, so nothing runs. Correct it as the message says; no restart is
	// needed.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonRunForbidden (False): the API server refuses the run's Job, by a
	// quota, an admission policy or missing rights. Make room or change the
	// rule; the next run, a new request or an edit of the spec tries again.
	ReasonRunForbidden = "RunForbidden"
	// ReasonRunInvalid (False): the API server finds the run's Job invalid,
	// mostly because of spec.podTemplate. Correct the field that the message
	// names.
	ReasonRunInvalid = "RunInvalid"
	// ReasonNameTaken (False): a Job of somebody else has the name of the run
	// that is due. Delete or rename that Job, or wait: the next run has
	// another name.
	ReasonNameTaken = "NameTaken"
	// ReasonNamespaceTerminating (False): the namespace is being deleted, so
	// nothing can be created in it. Nothing to do.
	ReasonNamespaceTerminating = "NamespaceTerminating"
	// ReasonTerminating (False): the object is being deleted. With
	// deletionPolicy Delete its backups are removed first; the annotation
	// backup.example.com/skip-cleanup=true gives that up.
	ReasonTerminating = "Terminating"
)

// Reasons of the condition BackupSucceeded.
const (
	// ReasonNoRunYet (Unknown): no run has finished yet. To run now, set the
	// annotation backup.example.com/run-requested-at. Pruned has it too.
	ReasonNoRunYet = "NoRunYet"
	// ReasonRunning (Unknown): a run goes on, and no earlier outcome is to be
	// shown. Nothing to do.
	ReasonRunning = "Running"
	// ReasonRunSucceeded (True): the last run stored a backup. Also an
	// event's reason.
	ReasonRunSucceeded = "RunSucceeded"
	// ReasonRunFailed (False): all attempts of the last run failed. The
	// message is the agent's; correct what it names. The schedule goes on.
	// Also an event's reason.
	ReasonRunFailed = "RunFailed"
	// ReasonDeadlineExceeded (False): the run took longer than
	// spec.activeDeadlineSeconds and was ended. Raise it, or correct what the
	// run waited for. Also an event's reason.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonJobDeleted (Unknown): the Job is gone before its outcome was
	// seen, mostly because somebody deleted it. It is not run again; to run
	// now, set the annotation backup.example.com/run-requested-at. Also an
	// event's reason.
	ReasonJobDeleted = "JobDeleted"
	// ReasonRunReplaced (Unknown): the run was ended for the next one, by
	// concurrencyPolicy Replace. Nothing to do. Also an event's reason.
	ReasonRunReplaced = "RunReplaced"
	// ReasonRunStopped (Unknown): the run was ended because its object is
	// being deleted. Nothing to do. Also an event's reason.
	ReasonRunStopped = "RunStopped"

	// The rest (False) keep an active run from going on. It goes on by itself
	// as soon as they are mended, until spec.activeDeadlineSeconds. All are
	// also reasons of events.

	// ReasonSecretNotFound: the Secret with the credentials is missing.
	// Create it, or name the right one in spec.source.credentialsSecretRef.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretKeyNotFound: the Secret lacks a key. Add the key, or name
	// the right one in spec.source.credentialsSecretRef.
	ReasonSecretKeyNotFound = "SecretKeyNotFound"
	// ReasonClaimNotFound: the PersistentVolumeClaim is missing. Create it, or
	// name the right one in spec.storage.
	ReasonClaimNotFound = "ClaimNotFound"
	// ReasonImagePullFailed: an image cannot be pulled. Put it where the
	// message says, or correct spec.podTemplate and delete the waiting Job.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonUnschedulable: no node takes the Pod. The message is the
	// scheduler's.
	ReasonUnschedulable = "Unschedulable"
	// ReasonContainerNotStarted: the node cannot start a container. The
	// message is the node's.
	ReasonContainerNotStarted = "ContainerNotStarted"
	// ReasonPodNotCreated: the Job can create no Pod, mostly because of a
	// quota, an admission policy or a missing ServiceAccount or PriorityClass.
	// The message is the server's.
	ReasonPodNotCreated = "PodNotCreated"
	// ReasonAttemptFailed: attempts of the run failed, and it tries again, up
	// to spec.maxRetries times. The message is the agent's; correct what it
	// names.
	ReasonAttemptFailed = "AttemptFailed"
)

// Reasons of the condition Pruned, beside NoRunYet.
const (
	// ReasonPruned (True): retention was applied. Nothing to do.
	ReasonPruned = "Pruned"
	// ReasonPruneFailed (False): the backup is stored, but old ones could not
	// be removed. The message is the agent's. Also an event's reason.
	ReasonPruneFailed = "PruneFailed"
	// ReasonResultUnknown (Unknown): the run succeeded, but its Pod was gone
	// before its report was read. The next run tells.
	ReasonResultUnknown = "ResultUnknown"
)

// Reasons of the condition Suspended.
const (
	// ReasonRunsSuspended (True): spec.suspend is true. To go on, set it to
	// false.
	ReasonRunsSuspended = "RunsSuspended"
	// ReasonRunsResumed (False): runs start by the schedule again. Nothing to
	// do.
	ReasonRunsResumed = "RunsResumed"
)

// Reasons of events beside those of the conditions.
const (
	// ReasonRunStarted: a run's Job was created.
	ReasonRunStarted = "RunStarted"
	// ReasonRunSkipped: a scheduled time was left out because another run was
	// active.
	ReasonRunSkipped = "RunSkipped"
	// ReasonRunMissed: scheduled times were left out because they were longer
	// ago than spec.startingDeadlineSeconds, or because a later one came.
	ReasonRunMissed = "RunMissed"
	// ReasonCleanupSucceeded: the backups of a deleted object were removed.
	ReasonCleanupSucceeded = "CleanupSucceeded"
	// ReasonCleanupFailed: not all could be removed; the object goes, the rest
	// stays. Remove it by hand.
	ReasonCleanupFailed = "CleanupFailed"
	// ReasonCleanupTimedOut: the same, because the time was up.
	ReasonCleanupTimedOut = "CleanupTimedOut"
	// ReasonCleanupSkipped: the same, because an annotation or an edit of
	// deletionPolicy asked for it.
	ReasonCleanupSkipped = "CleanupSkipped"
)
