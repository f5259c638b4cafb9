// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import backupv1 "example.com/backupjob-operator/api/v1"

// BackupPolicy is the part of the spec that both kinds share, but for the
// schedule, which each names in its own way.
// +kubebuilder:validation:XValidation:rule="!has(self.storageClaim) || !has(self.storage) || has(self.storage.persistentVolumeClaim) && has(self.storage.persistentVolumeClaim.subPath)",message="must hold a folder in persistentVolumeClaim.subPath beside storageClaim; without one, leave storage out",fieldPath=".storage"
// +kubebuilder:validation:XValidation:rule="!has(self.storage) || !has(self.storage.persistentVolumeClaim) || !has(self.storage.persistentVolumeClaim.claimName)",message="may not name the claim; write the name into storageClaim",fieldPath=".storage.persistentVolumeClaim.claimName"
type BackupPolicy struct {
	// secretRef is the name of the Secret that holds the user name and the
	// password, in the object's namespace. Unset means
	// "<object name>-credentials".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	SecretRef *string `json:"secretRef,omitempty"`

	// credentialKeys are the keys of that Secret. Unset means username and
	// password.
	// +optional
	CredentialKeys *backupv1.CredentialKeys `json:"credentialKeys,omitempty"`

	// timeZone holds a zone that cannot be written in front of the schedule.
	// Write 'CRON_TZ=<zone> <schedule>' instead.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="false",message="must be written in front of the schedule, such as 'CRON_TZ=Europe/Berlin 0 2 * * *'"
	TimeZone *string `json:"timeZone,omitempty"`

	// retentionDays is how many days a backup is kept. 1 to 3650; unset
	// means 7.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	RetentionDays *int32 `json:"retentionDays,omitempty"`

	// minBackups is how many of the newest successful backups are kept
	// whatever their age. 1 to 100; unset means 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MinBackups *int32 `json:"minBackups,omitempty"`

	// maxRetries is how often a failed run is tried again; 0 means once in
	// all. 0 to 10; unset means 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	MaxRetries *int32 `json:"maxRetries,omitempty"`

	// suspend stops scheduled runs while it is true. A run that is active is
	// left to finish, and a run can still be asked for.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// storageClaim is the name of the claim that keeps the backups. Unset
	// means "<object name>-backups".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	StorageClaim *string `json:"storageClaim,omitempty"`

	// storage says what the name of a claim does not: the folder in the
	// claim's volume, in persistentVolumeClaim.subPath. The name itself
	// belongs into storageClaim.
	// +optional
	Storage *backupv1.Storage `json:"storage,omitempty"`

	// tls says whether the connection to the server is encrypted, and whom
	// it trusts.
	// +optional
	TLS *backupv1.TLS `json:"tls,omitempty"`

	// concurrencyPolicy says what happens when a run is due while another is
	// active: Forbid skips it, Allow starts it beside the other, Replace ends
	// the other first. Unset means Forbid.
	// +optional
	ConcurrencyPolicy backupv1.ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// startingDeadlineSeconds is how many seconds late a run may start. At
	// least 10; unset means 3600.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=2147483647
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// activeDeadlineSeconds is the time limit of one run in seconds, all its
	// attempts together. At least 60; unset means 21600.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=2147483647
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// compression is how the dump is compressed. Unset means Zstd.
	// +optional
	Compression backupv1.Compression `json:"compression,omitempty"`

	// deletionPolicy says what happens to the stored backups when this object
	// is deleted: Retain leaves them, Delete removes them first. Unset means
	// Retain.
	// +optional
	DeletionPolicy backupv1.DeletionPolicy `json:"deletionPolicy,omitempty"`

	// successfulJobsHistoryLimit is how many finished Jobs of successful runs
	// are kept. 0 to 100; unset means 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`

	// failedJobsHistoryLimit is how many finished Jobs of failed runs are
	// kept. 0 to 100; unset means 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`

	// podTemplate changes the Pods that make the backups, within a closed
	// list of fields.
	// +optional
	PodTemplate *backupv1.PodTemplate `json:"podTemplate,omitempty"`
}
