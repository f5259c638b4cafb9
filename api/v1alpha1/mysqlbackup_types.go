// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// MySQLBackup backs up databases of one MySQL or MariaDB server on a
// schedule.
//
// Creating one runs nothing: the first backup is made when its schedule next
// comes. To run one now, give the annotation
// backup.example.com/run-requested-at a new value.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="backup.example.com/v1alpha1 MySQLBackup is deprecated; use backup.example.com/v1 ('kubectl backup convert' rewrites manifests)"
// +kubebuilder:resource:shortName=mb,categories=dbbackups
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.backupSchedule`,description="When backups run; the zone stands in front"
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`,description="Whether scheduled runs are stopped"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="The object in one word"
// +kubebuilder:printcolumn:name="Last Success",type=date,JSONPath=`.status.lastSuccessfulTime`,description="When the last successful run ended"
// +kubebuilder:printcolumn:name="Next Run",type=string,JSONPath=`.status.nextScheduleTime`,description="When the next run is due, in UTC"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must have at most 63 characters, because it becomes the value of a label"
type MySQLBackup struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what is backed up, when, and for how long it is kept.
	// +required
	Spec MySQLBackupSpec `json:"spec,omitempty,omitzero"`

	// status is what the controller saw and did.
	// +optional
	Status MySQLBackupStatus `json:"status,omitempty,omitzero"`
}

// MySQLBackupSpec is what is backed up, when, and for how long it is kept.
// +kubebuilder:validation:XValidation:rule="has(self.database) || has(self.databases)",message="must name the database to back up; for several, list them in databases",fieldPath=".database"
// +kubebuilder:validation:XValidation:rule="!has(self.database) || !has(self.databases)",message="may not be set beside database; list all names in databases",fieldPath=".databases"
type MySQLBackupSpec struct {
	// host is the server as "host", "host:port" or "[IPv6]:port". Without a
	// port 3306 is taken.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=261
	// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|\[[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*\])(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))|[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\[?.{1,253}\\\\]?(:[0-9]+)?$')",message="must have a host of at most 253 characters"
	Host string `json:"host"`

	// database is the name of the one database. Required unless databases
	// names several.
	// +optional
	Database *backupv1.DatabaseName `json:"database,omitempty"`

	// databases are the names of the databases, where there are several: 2 to
	// 256.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, y == x))",message="must name each database only once"
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=256
	Databases []backupv1.DatabaseName `json:"databases,omitzero"`

	// backupSchedule is when backups run: five fields (minute, hour, day of
	// month, month, day of week) or one of @hourly, @daily, @midnight,
	// @weekly, @monthly, @yearly and @annually. With 'CRON_TZ=<zone> ' in
	// front it is read in that zone, else in UTC.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=201
	// +kubebuilder:validation:Pattern=`^(CRON_TZ=[^\s=]{1,64} )?[^=]{1,128}$`
	BackupSchedule string `json:"backupSchedule"`

	// options are the options of the dump.
	// +optional
	Options *backupv1.MySQLOptions `json:"options,omitempty"`

	BackupPolicy `json:",inline"`
}

// BackupState is the outcome of the last run, or Running.
// +kubebuilder:validation:Enum=Running;Succeeded;Failed
type BackupState string

// MySQLBackupStatus is what the controller saw and did: the two old fields,
// and everything else by v1's names.
type MySQLBackupStatus struct {
	// backupStatus is Running while a run is active, else the outcome of the
	// last one: Succeeded or Failed.
	// +optional
	BackupStatus BackupState `json:"backupStatus,omitempty"`

	// lastBackupTime is when the last run started.
	// +optional
	LastBackupTime *metav1.Time `json:"lastBackupTime,omitempty"`

	// lastCompletionTime is when the last finished run ended, whatever its
	// outcome.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`

	// observedGeneration is the generation of the spec that this status
	// speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is Terminating, Running, Suspended, Failed (it cannot be
	// scheduled), Pending or Scheduled. A failed run is no phase but
	// lastResult.
	// +optional
	Phase backupv1.Phase `json:"phase,omitempty"`

	// lastResult is the outcome of the last finished run: Succeeded or
	// Failed.
	// +optional
	LastResult backupv1.RunResult `json:"lastResult,omitempty"`

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
	LastBackup *backupv1.LastBackup `json:"lastBackup,omitempty"`

	// observedSchedule is the schedule that nextScheduleTime follows from.
	// +optional
	ObservedSchedule *backupv1.ObservedSchedule `json:"observedSchedule,omitempty"`

	// conditions are Ready, BackupSucceeded and Pruned.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MySQLBackupList is a list of MySQLBackups.
// +kubebuilder:object:root=true
type MySQLBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MySQLBackup `json:"items"`
}
