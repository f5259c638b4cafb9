// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/runs"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2027, 3, 20, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(-d)} }

func found() []runs.Run {
	return []runs.Run{
		{
			Namespace: "billing", Object: "mb/a", Job: "a-xyz", ScheduledTime: ago(34 * time.Hour), StartTime: ago(34 * time.Hour),
			EndTime: ago(33 * time.Hour), Result: "Failed", Message: "Access denied for user 'backup'\nUse another password", FailedAttempts: 4, Attempts: 4,
		},
		{
			Namespace: "shop", Object: "bj/nightly", Job: "nightly-abc", ScheduledTime: ago(10 * time.Hour), StartTime: ago(10 * time.Hour),
			EndTime: ago(10*time.Hour - 40*time.Second), Result: "Succeeded", Message: "70.0 MiB in shop/nightly/20270320T020000Z.sql.zst",
			Attempts: 4, Location: "shop/nightly/20270320T020000Z.sql.zst", SizeBytes: 73400320, SHA256: "abcdef",
		},
		{Namespace: "shop", Object: "bj/nightly", Job: "nightly-def", Request: "r", ScheduledTime: ago(9 * time.Second), StartTime: ago(9 * time.Second), Result: "Running", Attempts: 1},
		{Namespace: "shop", Object: "bj/nightly", Job: "nightly-ghi", ScheduledTime: ago(0), Result: "Running", Attempts: 1},
	}
}

// TestWrite pins the answer for known runs.
func TestWrite(t *testing.T) {
	for name, o := range map[string]Options{
		"table":            {Name: "bj/nightly"},
		"table-namespace":  {},
		"table-all":        {AllNamespaces: true},
		"table-no-headers": {Name: "bj/nightly", NoHeaders: true},
		"wide":             {Name: "bj/nightly"},
		"name":             {},
		"json":             {},
		"yaml":             {},
	} {
		t.Run(name, func(t *testing.T) {
			format, _, _ := strings.Cut(name, "-")
			if err := o.Format.AddFlag(&cobra.Command{}, output.Table, output.Wide, output.JSON, output.YAML, output.Name); err != nil {
				t.Fatal(err)
			}
			if err := o.Format.Set(format); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			o.Clock, o.Out = clocktesting.NewFakePassiveClock(noon), &out
			if err := o.write(found(), "shop"); err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join("testdata", name+".golden"), out.Bytes())
		})
	}
}

func TestWriteSaysThatThereIsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		o         Options
		namespace string
		stdout    string
		stderr    string
	}{
		"of an object":   {o: Options{Name: "bj/nightly"}, namespace: "shop", stderr: "No runs of bj/nightly found in namespace shop.\n"},
		"of a namespace": {namespace: "shop", stderr: "No runs of any object found in namespace shop.\n"},
		"of all":         {stderr: "No runs of any object found in any namespace.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			tc.o.Out, tc.o.ErrOut = &out, &errOut
			if err := tc.o.write(nil, tc.namespace); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.stdout, tc.stderr}, []string{out.String(), errOut.String()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoRunsAreAnEmptyListForPrograms(t *testing.T) {
	var o Options
	var out bytes.Buffer
	if err := o.Format.AddFlag(&cobra.Command{}, output.JSON); err != nil {
		t.Fatal(err)
	}
	o.Out = &out
	if err := o.write(nil, "shop"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("{\n    \"runs\": []\n}\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", file, diff)
	}
}
