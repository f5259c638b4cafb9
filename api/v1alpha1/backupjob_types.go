// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// BackupJob backs up databases of one server on a schedule.
//
// Creating one runs nothing: the first backup is made when its schedule next
// comes. To run one now, give the annotation
// backup.example.com/run-requested-at a new value.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="backup.example.com/v1alpha1 BackupJob is deprecated; use backup.example.com/v1 ('kubectl backup convert' rewrites manifests)"
// +kubebuilder:resource:shortName=bj,categories=dbbackups
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`,description="When backups run; the zone stands in front"
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
	Status backupv1.BackupStatus `json:"status,omitempty,omitzero"`
}

// BackupJobSpec is what is backed up, when, and for how long it is kept.
// +kubebuilder:validation:XValidation:rule="!has(self.database) || !has(self.databases)",message="may not be set beside database; list all names in databases",fieldPath=".databases"
// +kubebuilder:validation:XValidation:rule="!has(self.databases) || size(self.databases) != 1",message="must not hold exactly one name; write it into database",fieldPath=".databases"
type BackupJobSpec struct {
	// databaseHost is the server as "host", "host:port" or "[IPv6]:port".
	// Without a port the engine's own is taken, 3306.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=261
	// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|\[[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*\])(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))|[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\[?.{1,253}\\\\]?(:[0-9]+)?$')",message="must have a host of at most 253 characters"
	DatabaseHost string `json:"databaseHost"`

	// database is the name of the one database. Unset, with databases unset,
	// means all but the server's own.
	// +optional
	Database *backupv1.DatabaseName `json:"database,omitempty"`

	// databases are the names of the databases, where it is not exactly one.
	// Empty means all but the server's own. At most 256.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, y == x))",message="must name each database only once"
	// +kubebuilder:validation:MaxItems=256
	Databases []backupv1.DatabaseName `json:"databases,omitzero"`

	// schedule is when backups run: five fields (minute, hour, day of month,
	// month, day of week) or one of @hourly, @daily, @midnight, @weekly,
	// @monthly, @yearly and @annually. With 'CRON_TZ=<zone> ' in front it is
	// read in that zone, else in UTC.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=201
	// +kubebuilder:validation:Pattern=`^(CRON_TZ=[^\s=]{1,64} )?[^=]{1,128}$`
	Schedule string `json:"schedule"`

	// engine is the kind of database server: MySQL or MariaDB. Unset means
	// MySQL.
	// +optional
	Engine backupv1.Engine `json:"engine,omitempty"`

	BackupPolicy `json:",inline"`
}

// BackupJobList is a list of BackupJobs.
// +kubebuilder:object:root=true
type BackupJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackupJob `json:"items"`
}
