// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "strings"

const oldPrefix = "CRON_TZ="

// SplitZone splits the notation of v1alpha1, "CRON_TZ=Europe/Berlin 0 2 * * *", at its first blank. It
// judges neither part. What does not begin like that, or has nothing on one side of the blank, stays
// whole with an empty zone, so JoinZone(SplitZone(old)) is old for every text.
func SplitZone(old string) (expr, zone string) {
	rest, ok := strings.CutPrefix(old, oldPrefix)
	if !ok {
		return old, ""
	}
	zone, expr, _ = strings.Cut(rest, " ")
	if zone == "" || expr == "" {
		return old, ""
	}
	return expr, zone
}

// JoinZone is the inverse of SplitZone; an empty zone gives expr alone. Where CanJoin is false, the
// text would read back differently, and the caller has to carry both parts in fields of their own.
// A zone that is set but empty cannot be told from none: that is the caller's to carry as well.
func JoinZone(expr, zone string) string {
	if zone == "" {
		return expr
	}
	return oldPrefix + zone + " " + expr
}

// CanJoin reports whether SplitZone gives expr and zone back from JoinZone. It does not for a zone with
// a blank, a zone without an expression, or an expression alone that begins with a zone of its own.
func CanJoin(expr, zone string) bool {
	e, z := SplitZone(JoinZone(expr, zone))
	return e == expr && z == zone
}
