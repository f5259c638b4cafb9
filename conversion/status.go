// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "bytes"

// mySQLStatusLines are the fields of MySQLBackup's status. Two names of v1alpha1 mean something else than
// in v1: its lastBackupTime always was the start of the last run.
var mySQLStatusLines = []line{
	//  v1alpha1, v1
	renamed("status.lastBackupTime", "status.lastScheduleTime"),
	renamed("status.lastCompletionTime", "status.lastBackupTime"),
	{
		old: at("status.backupStatus", "status.phase", "status.lastResult"), toNew: stateToNew,
		new: at("status.backupStatus", "status.phase", "status.lastResult"), toOld: stateToOld,
		pairs: []pair{
			to("status.backupStatus", "status.lastResult"),
			to("status.lastResult", "status.lastResult"),
			to("status.backupStatus", "status.phase"),
			to("status.phase", "status.phase"),
		},
	},
	same("status.observedGeneration"),
	same("status.lastSuccessfulTime"),
	same("status.nextScheduleTime"),
	same("status.lastSkippedTime"),
	same("status.lastHandledRunRequest"),
	same("status.active"),
	same("status.lastBackup"),
	same("status.observedSchedule"),
	same("status.conditions"),
}

const running = `"Running"`

// derivedState is the backupStatus that follows from v1's fields: Running while the phase is, else the last
// result.
func derivedState(phase, lastResult []byte) []byte {
	if string(phase) == running {
		return phase
	}
	return lastResult
}

// stateToNew drops a backupStatus that follows from phase and lastResult, after filling in the one that
// is missing. One that contradicts them stays where it stands.
func stateToNew(v values) values {
	state, phase, lastResult := v[0], v[1], v[2]
	switch {
	case state == nil || bytes.Equal(derivedState(phase, lastResult), state):
		return values{nil, phase, lastResult}
	case phase == nil && string(state) == running:
		return values{nil, state, lastResult}
	case lastResult == nil && string(phase) != running:
		return values{nil, phase, state}
	}
	return v
}

func stateToOld(v values) values {
	if stateToNew(v)[0] == nil {
		v[0] = derivedState(v[1], v[2])
	}
	return v
}
