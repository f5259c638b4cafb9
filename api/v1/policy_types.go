// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// BackupPolicy says when backups run, how long they are kept and where they
// go. Both kinds share it.
type BackupPolicy struct {
	// schedule is when backups run: five fields (minute, hour, day of month,
	// month, day of week) or one of @hourly, @daily, @midnight, @weekly,
	// @monthly, @yearly and @annually. It is read in timeZone.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[^=]*$`
	Schedule string `json:"schedule"`

	// timeZone is the IANA name of the zone in which schedule is read, such
	// as Europe/Berlin. Unset means UTC, whatever zone the Pod or the node
	// has.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[^\s=]+$`
	TimeZone *string `json:"timeZone,omitempty"`

	// suspend stops scheduled runs while it is true. A run that is active is
	// left to finish, and a run can still be asked for.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`

	// concurrencyPolicy says what happens when a run is due while another is
	// active: Forbid skips it, Allow starts it beside the other, Replace ends
	// the other first.
	// +optional
	// +kubebuilder:default=Forbid
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// startingDeadlineSeconds is how many seconds late a run may start, for
	// instance because the operator was down. A run that is later is left
	// out. At least 10.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=2147483647
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// maxRetries is how often a failed run is tried again; 0 means once in
	// all. 0 to 10.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	MaxRetries *int32 `json:"maxRetries,omitempty"`

	// activeDeadlineSeconds is the time limit of one run in seconds, all its
	// attempts and the waiting between them together. At least 60.
	// +optional
	// +kubebuilder:default=21600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=2147483647
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// retention says which backups are kept.
	// +optional
	// +kubebuilder:default={days:7,minBackups:1}
	Retention *Retention `json:"retention,omitempty"`

	// storage says where backups are kept. Unset means the claim
	// "<object name>-backups".
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// compression is how the dump is compressed.
	// +optional
	// +kubebuilder:default=Zstd
	Compression Compression `json:"compression,omitempty"`

	// deletionPolicy says what happens to the stored backups when this object
	// is deleted: Retain leaves them, Delete removes them first.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// successfulJobsHistoryLimit is how many finished Jobs of successful runs
	// are kept. 0 to 100. The backups themselves are kept by retention.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`

	// failedJobsHistoryLimit is how many finished Jobs of failed runs are
	// kept. 0 to 100.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`

	// podTemplate changes the Pods that make the backups, within a closed
	// list of fields.
	// +optional
	// +kubebuilder:default={}
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`
}

// ConcurrencyPolicy says what happens when a run is due while another is
// active.
// +kubebuilder:validation:Enum=Forbid;Allow;Replace
type ConcurrencyPolicy string

// The concurrency policies.
const (
	ConcurrencyForbid  ConcurrencyPolicy = "Forbid"
	ConcurrencyAllow   ConcurrencyPolicy = "Allow"
	ConcurrencyReplace ConcurrencyPolicy = "Replace"
)

// Compression is how a dump is compressed.
// +kubebuilder:validation:Enum=Zstd;Gzip;None
type Compression string

// The compressions.
const (
	CompressionZstd Compression = "Zstd"
	CompressionGzip Compression = "Gzip"
	CompressionNone Compression = "None"
)

// DeletionPolicy says what happens to stored backups when their object is
// deleted.
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

// The deletion policies.
const (
	DeletionRetain DeletionPolicy = "Retain"
	DeletionDelete DeletionPolicy = "Delete"
)

// Retention says which backups are kept.
// +kubebuilder:validation:MinProperties=1
type Retention struct {
	// days is how many days a backup is kept. 1 to 3650.
	// +optional
	// +kubebuilder:default=7
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	Days *int32 `json:"days,omitempty"`

	// minBackups is how many of the newest successful backups are kept
	// whatever their age. 1 to 100.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MinBackups *int32 `json:"minBackups,omitempty"`
}

// Storage says where backups are kept. At most one member may be set; none
// means the claim "<object name>-backups".
type Storage struct {
	// persistentVolumeClaim keeps backups in a volume of the object's
	// namespace.
	// +optional
	PersistentVolumeClaim *ClaimStorage `json:"persistentVolumeClaim,omitempty"`
}

// ClaimStorage keeps backups in the volume of a PersistentVolumeClaim.
type ClaimStorage struct {
	// claimName is the name of the claim. Unset means
	// "<object name>-backups".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	ClaimName *string `json:"claimName,omitempty"`

	// subPath is a folder in the volume below which backups are kept. It is
	// relative and must not contain '..'.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^/\x00-\x1f\x7f\\][^\x00-\x1f\x7f\\]*$`
	// +kubebuilder:validation:XValidation:rule="!self.split('/').exists(p, p == '..')",message="must not contain '..'"
	SubPath *string `json:"subPath,omitempty"`
}
