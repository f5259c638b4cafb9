// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

// mySQLBackup is the table of MySQLBackup.
var mySQLBackup = newTable(
	[]line{
		//        v1alpha1             v1
		same("apiVersion"),
		same("kind"),
		same("metadata"),
		reshaped(hostMove("spec.host"),
			to("spec.host", "spec.source.host"),
			to("spec.host", "spec.source.port"),
			within("spec", "spec.source")),
		renamed("spec.options", "spec.source.options"),
	},
	sourceLines,
	policyLines("spec.backupSchedule"),
	mySQLStatusLines,
)
