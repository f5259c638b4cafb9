// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "example.com/backupjob-operator/api/schedule"

// policyLines are the fields of v1's BackupPolicy, which both kinds share; v1alpha1 has another name for
// the schedule in each.
func policyLines(oldSchedule string) []line {
	return []line{
		//        v1alpha1             v1
		reshaped(
			move{
				old: split(oldSchedule, "spec.timeZone"), toNew: scheduleToNew,
				new: split("spec.schedule", "spec.timeZone"), toOld: scheduleToOld,
			},
			to(oldSchedule, "spec.schedule"),
			to("spec.timeZone", "spec.timeZone"),
			to(oldSchedule, "spec.timeZone"),
		),
		renamed("spec.retentionDays", "spec.retention.days"),
		renamed("spec.minBackups", "spec.retention.minBackups"),
		{pairs: []pair{within("spec.retentionDays", "spec.retention")}},
		reshaped(
			move{
				old: split("spec.storageClaim", "spec.storage"), toNew: storageToNew,
				new: split("spec.storageClaim", "spec.storage"), toOld: storageToOld,
			},
			to("spec.storage", "spec.storage"),
			to("spec.storageClaim", "spec.storage.persistentVolumeClaim.claimName"),
			within("spec.storageClaim", "spec.storage.persistentVolumeClaim"),
			within("spec.storageClaim", "spec.storage"),
		),
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

var claimPath = split("persistentVolumeClaim.claimName")[0]

// storageToNew makes a storage of the claim's name. Beside a storage it becomes that one's claim; where
// the storage is odd, the name stays where it stands.
func storageToNew(v values) values {
	claim, storage := v[0], v[1]
	if claim == nil {
		return v
	}
	o, isObject := mergeable(storage)
	if !isObject {
		return v
	}
	o.put(claim, claimPath...)
	return values{nil, o.append(nil)}
}

// storageToOld writes a storage of nothing but a claim's name into storageClaim.
func storageToOld(v values) values {
	o, isObject := mergeable(v[1])
	if !isObject {
		return v
	}
	if claim := o.take(claimPath...); claim != nil && len(o.members) == 1 && string(o.members[0].raw()) == "{}" {
		return values{claim}
	}
	return values{nil, v[1]}
}

// mergeable is a storage that a claim's name can be put into: none at all, or one whose claim is not odd.
func mergeable(storage []byte) (*object, bool) {
	if saysNothing(storage) {
		return &object{}, true
	}
	o, isObject := parseObject(storage)
	if !isObject {
		return nil, false
	}
	claim := o.get("persistentVolumeClaim")
	_, isObject = parseObject(claim)
	return o, isObject || saysNothing(claim)
}
