// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// A testCase is an input that people really wrote, with the right answer.
type testCase struct {
	Value, Verdict, Says, Why string
}

func readCases(t *testing.T, file string) []testCase {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// writing says how one kind and version writes a schedule with a zone, and at
// which path it is then told of a fault.
type writing struct {
	manifest, schedule, zone string
}

var writings = map[string]writing{
	"v1 BackupJob":         {jobV1, "spec.schedule", "spec.timeZone"},
	"v1 MySQLBackup":       {mysqlV1, "spec.schedule", "spec.timeZone"},
	"v1alpha1 BackupJob":   {jobAlpha, "spec.schedule", ""},
	"v1alpha1 MySQLBackup": {mysqlAlpha, "spec.backupSchedule", ""},
}

func TestEveryScheduleOfTheCasesIsJudgedInEveryVersion(t *testing.T) {
	for name, w := range writings {
		t.Run(name, func(t *testing.T) {
			for _, c := range readCases(t, "schedules.yaml") {
				// In v1alpha1 the zone in front is right.
				if w.zone == "" && c.Value == "CRON_TZ=Asia/Tokyo 0 2 * * *" {
					c.Verdict, c.Says = "accept", ""
				}
				merges := []string{set(w.schedule, c.Value)}
				if w.zone != "" {
					merges = append(merges, set(w.zone, "Etc/UTC"))
				}
				checkCase(t, c, judged(t, object(t, w.manifest, merges...), nil), w.schedule)
			}
		})
	}
}

func TestEveryZoneOfTheCasesIsJudgedInEveryVersion(t *testing.T) {
	for name, w := range writings {
		t.Run(name, func(t *testing.T) {
			for _, c := range readCases(t, "timezones.yaml") {
				merges, at := []string{set(w.schedule, "0 12 * * *"), set(w.zone, c.Value)}, w.zone
				if w.zone == "" {
					if c.Value == "" || strings.Contains(c.Value, " ") {
						continue // cannot be written in v1alpha1
					}
					merges, at = []string{set(w.schedule, "CRON_TZ="+c.Value+" 0 12 * * *")}, w.schedule
				}
				checkCase(t, c, judged(t, object(t, w.manifest, merges...), nil), at)
			}
		})
	}
}

// set is the merge that sets the value at a path.
func set(at string, value any) string {
	for _, name := range reversed(strings.Split(at, ".")) {
		if name != "" {
			value = map[string]any{name: value}
		}
	}
	text, _ := json.Marshal(value)
	return string(text)
}

func reversed(names []string) []string {
	var turned []string
	for _, name := range names {
		turned = append([]string{name}, turned...)
	}
	return turned
}

func checkCase(t *testing.T, c testCase, v *Verdict, at string) {
	t.Helper()
	text := told(v)
	verdict := map[bool]string{true: "accept", false: "deny"}[v.Allowed()]
	if v.Allowed() && len(v.Warnings) > 0 {
		verdict = "warn"
	}
	switch {
	case verdict != c.Verdict:
		t.Errorf("%q: got %s, want %s (%s):\n%s", c.Value, verdict, c.Verdict, c.Why, text)
	case !strings.Contains(strings.ToLower(text), strings.ToLower(c.Says)):
		t.Errorf("%q: got %q, which must say %q", c.Value, text, c.Says)
	case verdict != "accept" && !strings.Contains(text, at+": "):
		t.Errorf("%q: got %q, which must name %s", c.Value, text, at)
	case verdict == "deny" && len(v.Faults) != 1:
		t.Errorf("%q: got %d faults, want one:\n%s", c.Value, len(v.Faults), text)
	}
}
