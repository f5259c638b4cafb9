// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

// backupJob is the table of BackupJob. Its status is the same in both versions.
var backupJob = newTable(
	[]line{
		//        v1alpha1             v1
		same("apiVersion"),
		same("kind"),
		same("metadata"),
		reshaped(hostMove("spec.databaseHost"),
			to("spec.databaseHost", "spec.source.host"),
			to("spec.databaseHost", "spec.source.port"),
			within("spec", "spec.source")),
		renamed("spec.engine", "spec.source.engine"),
	},
	sourceLines,
	policyLines("spec.schedule"),
	[]line{same("status")},
)
