// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

var update = flag.Bool("update", false, "write the golden files anew")

// troubled is a cluster in which some things are wrong, one cannot be read,
// and a stranger has written markup.
func troubled(t *testing.T) *Snapshot {
	t.Helper()
	s, ca := healthy(t)
	for _, name := range []string{
		"a webhook that fails open", "a namespace that is exempt", "a bundle of a CRD that is not filled in", "a renewal that is late",
		"a developer in our namespace", "one node", "a binding that only warns",
	} {
		breakages[name].make(t, s, ca)
	}
	s.Converted[1].Version = oldVersion
	s.Converted[1].Err = "<script>alert(1)</script>\x1b[2J"
	s.Unread[networkPolicies] = unread{
		why: "you have no right to list networkpolicies in namespace backupjob-system", lacking: "list networkpolicies in namespace backupjob-system",
	}
	return s
}

func options(out *bytes.Buffer, format string, strict bool) *Options {
	o := &Options{Strict: strict, Version: "v1.2.3", Clock: clocktesting.NewFakePassiveClock(noon), Out: out}
	if err := o.Format.AddFlag(&cobra.Command{}, output.Text, output.JSON, html); err != nil {
		panic(err)
	}
	if err := o.Format.Set(format); err != nil {
		panic(err)
	}
	return o
}

// TestReports pins what people and programs read. A changed file is to be read
// by a person, the page in a browser.
func TestReports(t *testing.T) {
	for _, format := range []string{"text", "json", "html"} {
		var out bytes.Buffer
		o := options(&out, format, false)
		if err := o.tell(troubled(t)); !errors.Is(err, exit.ErrSaid) {
			t.Errorf("%s: got %v, want a failure", format, err)
		}
		file := filepath.Join("testdata", "troubled."+format)
		if *update {
			if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s (-update writes it anew):\n%s", file, diff)
		}
		if strings.Contains(out.String(), "\x1b") || format == "html" && strings.Contains(out.String(), "<script>") {
			t.Errorf("%s: what a stranger wrote is not taken as text", format)
		}
	}
}

func TestExitCodes(t *testing.T) {
	well, _ := healthy(t)
	bad := troubled(t)
	for name, tc := range map[string]struct {
		s        *Snapshot
		strict   bool
		accepted []string
		want     int
	}{
		"a warning":                    {s: well, want: exit.OK},
		"a warning that counts":        {s: well, strict: true, want: exit.Failed},
		"a warning that is known":      {s: well, strict: true, accepted: shippedWarnings, want: exit.OK},
		"a failure":                    {s: bad, want: exit.Failed},
		"a failure cannot be accepted": {s: bad, accepted: IDs(), want: exit.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(&bytes.Buffer{}, "text", tc.strict)
			o.Accepted = tc.accepted
			if got := exit.Code(o.tell(tc.s)); got != tc.want {
				t.Errorf("got exit code %d, want %d", got, tc.want)
			}
		})
	}
}

// TestTheFormOfTheJSON: programs read it, so fields are added and never
// changed.
func TestTheFormOfTheJSON(t *testing.T) {
	var out bytes.Buffer
	_ = options(&out, "json", false).tell(troubled(t)) // the failure is not what this is about
	var report struct {
		CheckedAt, Plugin, Server, Namespace string
		Summary                              struct{ Pass, Warn, Fail, NotChecked int }
		Rows                                 []struct {
			ID, Area, Title, Status, Do string
			Checked                     bool
			Seen                        []string
			Threats                     []int
		}
		MissingRights []string
	}
	decoder := json.NewDecoder(&out)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&report); err != nil {
		t.Fatal(err)
	}
	if got := report.Summary.Pass + report.Summary.Warn + report.Summary.Fail; got != len(IDs()) || len(report.Rows) != got {
		t.Errorf("%d rows are counted and %d told, want %d", got, len(report.Rows), len(IDs()))
	}
	seen := map[string]bool{}
	for _, row := range report.Rows {
		if seen[row.ID] || row.ID == "" || row.Title == "" || row.Area == "" || len(row.Seen) == 0 || row.Threats == nil {
			t.Errorf("row %+v", row)
		}
		seen[row.ID] = true
		for _, threat := range row.Threats {
			if threat < 1 || threat > 18 {
				t.Errorf("%s names the threat %d", row.ID, threat)
			}
		}
	}
}
