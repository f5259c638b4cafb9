// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// today is when the tables are judged: before both clock changes that fall into the year after it.
var today = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// maxMessage is the longest text of an error or a note, in bytes.
const maxMessage = 200

type verdictCase struct {
	Value   string `json:"value"`
	Verdict string `json:"verdict"`
	Says    string `json:"says"`
	Why     string `json:"why"`
}

func readCases[T any](t *testing.T, file string) []T {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	if err := yaml.UnmarshalStrict(text, &cases, yaml.DisallowUnknownFields); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s holds no cases", file)
	}
	return cases
}

// judge gives the verdict on a schedule or a zone with what was said about it.
func judge(check error, expr, zone string) (verdict, said string) {
	if check != nil {
		return "deny", check.Error()
	}
	s, err := Parse(expr, zone)
	if err != nil {
		return "parse", err.Error()
	}
	notes := s.Notes(today)
	if len(notes) == 0 {
		return "accept", ""
	}
	var all []string
	for _, n := range notes {
		all = append(all, n.Message)
	}
	return "warn", strings.Join(all, "\n")
}

func TestCasesOfSchedulesGetTheirVerdict(t *testing.T) {
	for _, tc := range readCases[verdictCase](t, "schedules.yaml") {
		verdict, said := judge(CheckExpression(tc.Value), tc.Value, "Etc/UTC")
		t.Logf("%-32q %-6s %s", tc.Value, verdict, said)
		tc.check(t, verdict, said)
	}
}

func TestCasesOfZonesGetTheirVerdict(t *testing.T) {
	for _, tc := range readCases[verdictCase](t, "timezones.yaml") {
		verdict, said := judge(CheckZone(tc.Value), "0 12 * * *", tc.Value)
		t.Logf("%-32q %-6s %s", tc.Value, verdict, said)
		tc.check(t, verdict, said)
	}
}

func (tc verdictCase) check(t *testing.T, verdict, said string) {
	t.Helper()
	if verdict != tc.Verdict {
		t.Errorf("%q: got verdict %s (%s), want %s", tc.Value, verdict, said, tc.Verdict)
	}
	if !strings.Contains(strings.ToLower(said), strings.ToLower(tc.Says)) {
		t.Errorf("%q: %q does not say %q", tc.Value, said, tc.Says)
	}
	for line := range strings.Lines(said) {
		if len(line) > maxMessage {
			t.Errorf("%q: message of %d bytes: %s", tc.Value, len(line), line)
		}
	}
}

func TestCasesOfClockChangesRunExactlyThen(t *testing.T) {
	type clockCase struct {
		Schedule string      `json:"schedule"`
		Zone     string      `json:"zone"`
		From     time.Time   `json:"from"`
		To       time.Time   `json:"to"`
		Runs     []time.Time `json:"runs"`
		Why      string      `json:"why"`
	}
	for _, tc := range readCases[clockCase](t, "clock-changes.yaml") {
		s, err := Parse(tc.Schedule, tc.Zone)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Between(tc.From, tc.To, 10)
		if diff := cmp.Diff(tc.Runs, got); diff != "" {
			t.Errorf("%s in %s (%s): runs (-want +got):\n%s", tc.Schedule, tc.Zone, tc.Why, diff)
		}
	}
}
