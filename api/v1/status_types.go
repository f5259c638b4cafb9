// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase sums the object up in one word. The first that holds is taken, in the
// order of the constants.
// +kubebuilder:validation:Enum=Terminating;Running;Suspended;Failed;Pending;Scheduled
type Phase string

// The phases.
const (
	// PhaseTerminating is an object that is being deleted.
	PhaseTerminating Phase = "Terminating"
	// PhaseRunning is an object with an active Job.
	PhaseRunning Phase = "Running"
	// PhaseSuspended is an object with suspend set.
	PhaseSuspended Phase = "Suspended"
	// PhaseFailed is an object that cannot be scheduled: Ready is False.
	PhaseFailed Phase = "Failed"
	// PhasePending is an object that the controller has not yet observed.
	PhasePending Phase = "Pending"
	// PhaseScheduled is an object that waits for its next run.
	PhaseScheduled Phase = "Scheduled"
)

// RunResult is the outcome of a run.
// +kubebuilder:validation:Enum=Succeeded;Failed
type RunResult string

// The results.
const (
	ResultSucceeded RunResult = "Succeeded"
	ResultFailed    RunResult = "Failed"
)

// BackupStatus is what the controller saw and did. Only the controller writes
// it. Both kinds share it.
type BackupStatus struct {
	// observedGeneration is the generation of the spec that this status
	// speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is Terminating, Running, Suspended, Failed (it cannot be
	// scheduled), Pending or Scheduled. A failed run is no phase but
	// lastResult.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// lastResult is the outcome of the last finished run: Succeeded or
	// Failed.
	// +optional
	LastResult RunResult `json:"lastResult,omitempty"`

	// lastScheduleTime is the scheduled time of the last run that was
	// started.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// lastBackupTime is when the last finished run ended, whatever its
	// outcome.
	// +optional
	LastBackupTime *metav1.Time `json:"lastBackupTime,omitempty"`

	// lastSuccessfulTime is when the last successful run ended.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// nextScheduleTime is when the next run is due. Unset while suspended
	// and while the schedule cannot be read.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// lastSkippedTime is the scheduled time of the last run that was left
	// out, because another was active or because it was too late.
	// +optional
	LastSkippedTime *metav1.Time `json:"lastSkippedTime,omitempty"`

	// lastHandledRunRequest is the value of the annotation
	// backup.example.com/run-requested-at that was last acted on.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	LastHandledRunRequest string `json:"lastHandledRunRequest,omitempty"`

	// active are the names of the Jobs that are running.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	Active []string `json:"active,omitempty"`

	// lastBackup is the last backup that was made.
	// +optional
	LastBackup *LastBackup `json:"lastBackup,omitempty"`

	// observedSchedule is the schedule that nextScheduleTime follows from.
	// +optional
	ObservedSchedule *ObservedSchedule `json:"observedSchedule,omitempty"`

	// conditions are Ready, BackupSucceeded and Pruned.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// LastBackup describes one stored backup.
type LastBackup struct {
	// jobName is the Job that made it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	JobName string `json:"jobName,omitempty"`

	// location is the backup's file, relative to the root of the volume.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Location string `json:"location,omitempty"`

	// sizeBytes is the size of the stored file in bytes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SizeBytes *int64 `json:"sizeBytes,omitempty"`

	// sha256 is the hexadecimal digest of the stored file.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`

	// startTime is when the run began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// ObservedSchedule is a schedule and the moment from which it counts. An edit
// of schedule or zone starts nothing: the next run is counted from since.
type ObservedSchedule struct {
	// schedule is spec.schedule as it was seen.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Schedule string `json:"schedule,omitempty"`

	// timeZone is spec.timeZone as it was seen.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	TimeZone *string `json:"timeZone,omitempty"`

	// since is when this schedule was first seen.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}
