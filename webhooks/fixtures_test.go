// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"
)

// today lies well before the clock changes of the winter, so that a year from
// it holds one of each kind.
var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

var sharedJudge = sync.OnceValues(func() (*Judge, error) { return NewJudge(clocktesting.NewFakePassiveClock(today)) })

// newJudge returns the one judge of all tests; compiling the schemas takes a
// moment.
func newJudge(tb testing.TB) *Judge {
	tb.Helper()
	j, err := sharedJudge()
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

const (
	jobV1 = `
apiVersion: backup.example.com/v1
kind: BackupJob
metadata: {name: nightly, namespace: shop}
spec:
  source: {host: db.example.com}
  schedule: "0 2 * * *"
`
	mysqlV1 = `
apiVersion: backup.example.com/v1
kind: MySQLBackup
metadata: {name: nightly, namespace: shop}
spec:
  source: {host: db.example.com, databases: [orders]}
  schedule: "0 2 * * *"
`
	jobAlpha = `
apiVersion: backup.example.com/v1alpha1
kind: BackupJob
metadata: {name: nightly, namespace: shop}
spec:
  databaseHost: db.example.com:3306
  schedule: "0 2 * * *"
`
	mysqlAlpha = `
apiVersion: backup.example.com/v1alpha1
kind: MySQLBackup
metadata: {name: nightly, namespace: shop}
spec:
  host: db.example.com
  database: orders
  backupSchedule: "0 2 * * *"
`
)

// object reads a manifest and lays merges over it, each a YAML mapping whose
// nulls remove what stands there.
func object(tb testing.TB, manifest string, merges ...string) []byte {
	tb.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &o); err != nil {
		tb.Fatal(err)
	}
	for _, text := range merges {
		var m map[string]any
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
		merge(o, m)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func merge(o, m map[string]any) {
	for name, value := range m {
		inner, isMap := value.(map[string]any)
		outer, wasMap := o[name].(map[string]any)
		switch {
		case isMap && wasMap:
			merge(outer, inner)
		case value == nil:
			delete(o, name)
		default:
			o[name] = value
		}
	}
}

func judged(tb testing.TB, raw, old []byte) *Verdict {
	tb.Helper()
	v, err := newJudge(tb).Judge(tb.Context(), raw, old)
	if err != nil {
		tb.Fatalf("%s: %v", raw, err)
	}
	return v
}

// told is everything that a user reads of a verdict, line by line.
func told(v *Verdict) string {
	var lines []string
	for _, f := range v.Faults {
		lines = append(lines, f.String())
	}
	for _, w := range v.WarningTexts() {
		lines = append(lines, "Warning: "+w)
	}
	return strings.Join(lines, "\n")
}
