// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// finding is what programs read of lint's answer about one document.
type finding struct {
	Verdict          string
	Errors, Warnings []message
	NextRuns         []string
}

type message struct{ Field, Message string }

type sharedCase struct{ Value, Verdict, Says, Why string }

// TestCasesOfTheSharedLists sends all cases of a list through one lint.
func TestCasesOfTheSharedLists(t *testing.T) {
	for file, tc := range map[string]struct {
		field string
		spec  map[string]any
	}{
		"testdata/schedules.yaml": {field: "schedule", spec: map[string]any{"timeZone": "Etc/UTC"}},
		"testdata/timezones.yaml": {field: "timeZone", spec: map[string]any{"schedule": "0 12 * * *"}},
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []sharedCase
		if err := yaml.UnmarshalStrict(data, &cases); err != nil || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", file, len(cases), err)
		}
		found := lintAll(t, cases, tc.field, tc.spec)
		for i, one := range cases {
			t.Run(tc.field+" "+one.Value, func(t *testing.T) { checkCase(t, found[i], one, "spec."+tc.field) })
		}
	}
}

// lintAll judges a manifest per case, with the case's value in the field.
func lintAll(t *testing.T, cases []sharedCase, field string, spec map[string]any) []finding {
	t.Helper()
	var manifests strings.Builder
	for _, one := range cases {
		spec[field], spec["source"] = one.Value, map[string]any{"host": "db"}
		if err := json.NewEncoder(&manifests).Encode(map[string]any{
			"apiVersion": "backup.example.com/v1", "kind": "BackupJob", "metadata": map[string]any{"name": "a"}, "spec": spec,
		}); err != nil {
			t.Fatal(err)
		}
	}
	var answer struct{ Documents []finding }
	stdout, stderr, _ := execute(t, manifests.String(), "lint", "-f", "-", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || len(answer.Documents) != len(cases) || stderr != "" {
		t.Fatalf("%v, %d documents of %d, stderr %s", err, len(answer.Documents), len(cases), stderr)
	}
	return answer.Documents
}

// checkCase demands the verdict, at that field and in those words.
func checkCase(t *testing.T, got finding, want sharedCase, field string) {
	t.Helper()
	found, verdict := got.Warnings, "accept"
	if want.Verdict == "deny" {
		found, verdict = got.Errors, "deny"
	}
	if got.Verdict != verdict || (len(got.NextRuns) == 5) != (verdict == "accept") || (len(found) == 0) != (want.Verdict == "accept") {
		t.Errorf("got %+v, want %s", got, want.Verdict)
	}
	for _, one := range found {
		if one.Field != field {
			t.Errorf("got a message about %s, want %s", one.Field, field)
		}
	}
	says := slices.ContainsFunc(found, func(one message) bool {
		return strings.Contains(strings.ToLower(one.Message), strings.ToLower(want.Says))
	})
	if len(found) > 0 && !says {
		t.Errorf("got %+v, want a message with %q", found, want.Says)
	}
}
