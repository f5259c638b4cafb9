// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

// backupJob is the table of BackupJob. Its status is the same in both versions.
var backupJob = newTable(
	commonLines,
	sourceLines("spec.databaseHost"),
	[]line{renamed("spec.engine", "spec.source.engine")},
	policyLines("spec.schedule"),
	[]line{same("status")},
)
