// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestWriteTableKeepsTheColumns(t *testing.T) {
	var out bytes.Buffer
	err := WriteTable(&out, []string{"NAME", "MESSAGE"}, [][]string{{"bj/a", "two\nlines\tand a tab"}, {"bj/täble", ""}, {"bj/c", "\x1b[31mred"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "NAME       MESSAGE\nbj/a       two lines and a tab\nbj/täble   <none>\nbj/c        [31mred\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTimesAreShownAsDistances(t *testing.T) {
	now := time.Date(2027, 3, 28, 0, 30, 0, 0, time.UTC)
	for name, tc := range map[string]struct{ got, want string }{
		"a time that is not":    {Ago(now, time.Time{}), ""},
		"three hours ago":       {Ago(now, now.Add(-3*time.Hour)), "3h"},
		"no next run":           {In(now, time.Time{}), ""},
		"a run in half an hour": {In(now, now.Add(30*time.Minute)), "in 30m"},
		"a run that is due":     {In(now, now.Add(-time.Second)), "due"},
		"a stamp in UTC":        {Stamp(now.In(time.FixedZone("", 3600))), "2027-03-28T00:30:00Z"},
		"no stamp":              {Stamp(time.Time{}), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", name, tc.got, tc.want)
		}
	}
}

func TestSizeTakesAReadableUnit(t *testing.T) {
	for bytes, want := range map[int64]string{
		-1: "", 0: "", 1: "1 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB",
		3 << 40: "3.0 TiB", 2 << 50: "2048.0 TiB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("%d: got %q, want %q", bytes, got, want)
		}
	}
}

func TestFormatTakesOnlyWhatTheCommandCan(t *testing.T) {
	var f Format
	cmd := &cobra.Command{}
	if err := f.AddFlag(cmd, Text, JSON); err != nil {
		t.Fatal(err)
	}
	if f.String() != Text {
		t.Errorf("the default is %q, want %q", f.String(), Text)
	}
	if err := cmd.ParseFlags([]string{"-o", "json"}); err != nil || f.String() != JSON {
		t.Errorf("got %q, %v", f.String(), err)
	}
	if err := cmd.ParseFlags([]string{"-o", "yaml"}); err == nil {
		t.Error("a format that the command cannot write was taken")
	}
}
