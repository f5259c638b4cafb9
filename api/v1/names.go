// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Annotations that the operator reads or writes.
const (
	// AnnotationRunRequestedAt on one of our objects asks for one run per
	// new value, also while the object is suspended.
	AnnotationRunRequestedAt = GroupName + "/run-requested-at"
	// AnnotationScheduledTime on a Job is the time that the run was due, in
	// RFC 3339 and UTC.
	AnnotationScheduledTime = GroupName + "/scheduled-time"
	// AnnotationSkipCleanup on an object that is being deleted gives up the
	// clean-up of its backups at once.
	AnnotationSkipCleanup = GroupName + "/skip-cleanup"
)

// Labels on the Jobs and Pods of a run.
const (
	LabelKind = GroupName + "/kind"
	LabelName = GroupName + "/name"
	LabelUID  = GroupName + "/uid"
)

// FinalizerCleanup holds an object with deletionPolicy Delete until its
// backups are removed.
const FinalizerCleanup = GroupName + "/cleanup"

// MaxNameLength is the longest name that an object may have, because the name
// becomes the value of a label.
const MaxNameLength = 63
