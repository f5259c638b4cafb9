// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "example.com/backupjob-operator/api/schedule"

// commonLines are what every Kubernetes object has.
var commonLines = []line{same("apiVersion"), same("kind"), same("metadata")}

// policyLines are the fields of v1's BackupPolicy, which both kinds share; v1alpha1 has another name for
// the schedule in each.
func policyLines(oldSchedule string) []line {
	return []line{
		{
			old: at(oldSchedule, "spec.timeZone"), toNew: scheduleToNew,
			new: at("spec.schedule", "spec.timeZone"), toOld: scheduleToOld,
			pairs: []pair{
				//  v1alpha1, v1
				to(oldSchedule, "spec.schedule"),
				to("spec.timeZone", "spec.timeZone"),
				to(oldSchedule, "spec.timeZone"),
			},
		},
		renamed("spec.retentionDays", "spec.retention.days"),
		renamed("spec.minBackups", "spec.retention.minBackups"),
		{pairs: []pair{parent("spec.retentionDays", "spec.retention")}},
		{
			old: at("spec.storageClaim", "spec.storage"), toNew: storageToNew,
			new: at("spec.storage"), toOld: storageToOld,
			pairs: []pair{
				to("spec.storage", "spec.storage"),
				to("spec.storageClaim", "spec.storage.persistentVolumeClaim.claimName"),
				parent("spec.storageClaim", "spec.storage.persistentVolumeClaim"),
				parent("spec.storageClaim", "spec.storage"),
			},
		},
		same("spec.suspend"),
		same("spec.concurrencyPolicy"),
		same("spec.startingDeadlineSeconds"),
		same("spec.maxRetries"),
		same("spec.activeDeadlineSeconds"),
		same("spec.compression"),
		same("spec.deletionPolicy"),
		same("spec.successfulJobsHistoryLimit"),
		same("spec.failedJobsHistoryLimit"),
		same("spec.podTemplate"),
	}
}

// scheduleToNew takes the zone out of "CRON_TZ=<zone> <cron>". Beside a timeZone the schedule is the
// expression alone; an empty one beside a schedule with a zone is what scheduleToOld puts there.
func scheduleToNew(v values) values {
	text, _ := decodeString(v[0])
	expression, zone := splitSchedule(text)
	switch {
	case zone == "":
		return v
	case v[1] == nil:
		return values{encodeString(expression), encodeString(zone)}
	case string(v[1]) == `""`:
		return values{v[0]}
	}
	return v
}

// scheduleToOld puts the zone in front where that reads back the same, else leaves it in timeZone. A
// schedule of v1 that has a zone in it, which the schema refuses, is kept from being split.
func scheduleToOld(v values) values {
	expression, ok := decodeString(v[0])
	if _, hasZone := splitSchedule(expression); hasZone != "" && v[1] == nil {
		return values{v[0], []byte(`""`)}
	}
	zone, hasZone := decodeString(v[1])
	if !ok || !hasZone || zone == "" {
		return v
	}
	joined := schedule.JoinZone(expression, zone)
	if e, z := splitSchedule(joined); e != expression || z != zone {
		return v
	}
	return values{encodeString(joined)}
}

// splitSchedule leaves a schedule with two zones whole: one of the two would be read as an expression.
func splitSchedule(text string) (expression, zone string) {
	expression, zone = schedule.SplitZone(text)
	if _, another := schedule.SplitZone(expression); another != "" {
		return text, ""
	}
	return expression, zone
}

// storageToNew puts the claim's name into storage.
func storageToNew(v values) values {
	claim, storage := v[0], v[1]
	if claim == nil {
		return values{storage}
	}
	o, ok := parseObject(storage)
	if !ok {
		o = &object{}
	}
	o.put(claim, "persistentVolumeClaim", "claimName")
	return values{o.append(nil)}
}

// storageToOld takes the claim's name out, and the objects around it if that was all they held.
func storageToOld(v values) values {
	o, ok := parseObject(v[0])
	if !ok {
		return values{nil, v[0]}
	}
	claim := o.take("persistentVolumeClaim", "claimName")
	if claim != nil && len(o.members) == 1 && string(o.get("persistentVolumeClaim")) == "{}" {
		return values{claim}
	}
	return values{claim, o.append(nil)}
}
