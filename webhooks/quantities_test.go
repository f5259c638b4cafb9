// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// A quantity of the first kind once kept a replica computing until it was
// killed. It must be refused without being read: the test would not end.
func TestAWildQuantityIsRefusedUnread(t *testing.T) {
	judge, err := NewJudge(clocktesting.NewFakePassiveClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	for name, quantity := range map[string]string{
		"a tiny exponent":  "1e-99999999",
		"a huge exponent":  "1E99999999",
		"too many digits":  strings.Repeat("9", 33),
		"the exa suffix":   "1Ei",
		"a million digits": strings.Repeat("1", 1_000_000),
	} {
		for version, spec := range map[string]map[string]any{
			"v1":       {"schedule": "0 2 * * *", "source": map[string]any{"host": "db"}},
			"v1alpha1": {"schedule": "0 2 * * *", "databaseHost": "db"},
		} {
			t.Run(name+" in "+version, func(t *testing.T) {
				spec["podTemplate"] = map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": quantity}}}
				raw, err := json.Marshal(map[string]any{
					"apiVersion": "backup.example.com/" + version, "kind": "BackupJob",
					"metadata": map[string]any{"name": "a", "namespace": "b"}, "spec": spec,
				})
				if err != nil {
					t.Fatal(err)
				}
				verdict, err := judge.Judge(t.Context(), raw, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(verdict.Faults) != 1 || !strings.HasPrefix(verdict.Faults[0].Field, "spec.podTemplate.resources.limits") {
					t.Errorf("faults are %v, want one at spec.podTemplate.resources.limits", verdict.Faults)
				}
			})
		}
	}
}
