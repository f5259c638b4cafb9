// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types.
const (
	// ConditionReady says whether the object can be scheduled.
	ConditionReady = "Ready"
	// ConditionBackupSucceeded says how the last finished run ended, and what
	// keeps an active one from going on.
	ConditionBackupSucceeded = "BackupSucceeded"
	// ConditionPruned says whether retention could be applied after the last
	// successful run.
	ConditionPruned = "Pruned"
)
