// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "testing"

func TestSplitZone(t *testing.T) {
	cases := map[string][2]string{
		"CRON_TZ=Europe/Berlin 0 2 * * *": {"0 2 * * *", "Europe/Berlin"},
		"CRON_TZ=Nowhere @daily":          {"@daily", "Nowhere"},
		"CRON_TZ=UTC  0 2 * * *":          {" 0 2 * * *", "UTC"},
		"CRON_TZ=UTC CRON_TZ=A 0 2 * * *": {"CRON_TZ=A 0 2 * * *", "UTC"},
		"CRON_TZ=a\tb 0 2 * * *":          {"0 2 * * *", "a\tb"},
		"0 2 * * *":                       {"0 2 * * *", ""},
		"":                                {"", ""},
		"CRON_TZ=UTC":                     {"CRON_TZ=UTC", ""},
		"CRON_TZ=UTC ":                    {"CRON_TZ=UTC ", ""},
		"CRON_TZ= 0 2 * * *":              {"CRON_TZ= 0 2 * * *", ""},
		"TZ=UTC 0 2 * * *":                {"TZ=UTC 0 2 * * *", ""},
		" CRON_TZ=UTC 0 2 * * *":          {" CRON_TZ=UTC 0 2 * * *", ""},
		"cron_tz=UTC 0 2 * * *":           {"cron_tz=UTC 0 2 * * *", ""},
	}
	for old, want := range cases {
		expr, zone := SplitZone(old)
		if got := [2]string{expr, zone}; got != want {
			t.Errorf("SplitZone(%q) = %q, want %q", old, got, want)
		}
		if back := JoinZone(expr, zone); back != old {
			t.Errorf("%q comes back as %q", old, back)
		}
	}
}

func TestCanJoin(t *testing.T) {
	cases := map[[2]string]bool{
		{"0 2 * * *", "Europe/Berlin"}:    true,
		{"0 2 * * *", ""}:                 true,
		{"", ""}:                          true,
		{"CRON_TZ=A 0 2", "UTC"}:          true,
		{"CRON_TZ=A 0 2", ""}:             false,
		{"CRON_TZ=A", ""}:                 true,
		{"", "UTC"}:                       false,
		{"0 2 * * *", "Europe/Berlin "}:   false,
		{"0 2 * * *", "America/New York"}: false,
	}
	for parts, want := range cases {
		if got := CanJoin(parts[0], parts[1]); got != want {
			t.Errorf("CanJoin(%q, %q) = %v, want %v", parts[0], parts[1], got, want)
		}
	}
}
