// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

// mySQLBackup is the table of MySQLBackup.
var mySQLBackup = newTable(
	commonLines,
	sourceLines("spec.host"),
	[]line{renamed("spec.options", "spec.source.options")},
	policyLines("spec.backupSchedule"),
	mySQLStatusLines,
)
