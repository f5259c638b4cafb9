// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupJob backs up databases of one server on a schedule.
//
// Creating one runs nothing: the first backup is made when its schedule next
// comes. To run one now, give the annotation
// backup.example.com/run-requested-at a new value.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bj,categories=dbbackups
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`,description="When backups run"
// +kubebuilder:printcolumn:name="Time Zone",type=string,JSONPath=`.spec.timeZone`,description="The zone of the schedule; empty means UTC"
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`,description="Whether scheduled runs are stopped"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="The object in one word"
// +kubebuilder:printcolumn:name="Last Success",type=date,JSONPath=`.status.lastSuccessfulTime`,description="When the last successful run ended"
// +kubebuilder:printcolumn:name="Next Run",type=string,JSONPath=`.status.nextScheduleTime`,description="When the next run is due, in UTC"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must have at most 63 characters, because it becomes the value of a label"
type BackupJob struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what is backed up, when, and for how long it is kept.
	// +required
	Spec BackupJobSpec `json:"spec,omitempty,omitzero"`

	// status is what the controller saw and did.
	// +optional
	Status BackupStatus `json:"status,omitempty,omitzero"`
}

// BackupJobSpec is what is backed up, when, and for how long it is kept.
type BackupJobSpec struct {
	// source is the database server and what to back up of it.
	// +required
	Source BackupJobSource `json:"source,omitempty,omitzero"`

	BackupPolicy `json:",inline"`
}

// BackupJobSource is a database server and what to back up of it.
type BackupJobSource struct {
	// engine is the kind of database server: MySQL or MariaDB.
	// +optional
	// +kubebuilder:default=MySQL
	Engine Engine `json:"engine,omitempty"`

	Server `json:",inline"`

	// databases are the names of the databases. Absent or empty means all
	// but the server's own. At most 256.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, y == x))",message="must name each database only once"
	// +kubebuilder:validation:MaxItems=256
	Databases []DatabaseName `json:"databases,omitzero"`
}

// BackupJobList is a list of BackupJobs.
// +kubebuilder:object:root=true
type BackupJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackupJob `json:"items"`
}
