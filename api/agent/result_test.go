// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestResultSurvivesTheWayThroughTheTerminationMessage(t *testing.T) {
	start := time.Date(2027, 3, 28, 2, 0, 0, 0, time.UTC)
	end := start.Add(90 * time.Minute)
	cases := map[string]Result{
		"nothing known": {},
		"a backup": {
			Location: "shop/nightly/20270328T020000Z.sql.zst", SizeBytes: 1 << 40,
			SHA256: strings.Repeat("ab", 32), StartTime: &start, CompletionTime: &end, Pruned: 3,
		},
		"a backup whose pruning failed": {Location: "a/b/c", PruneError: "read-only file system"},
		"a failure":                     {StartTime: &start, Error: "Access denied for user 'täble'\nline two\t\u2028"},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeResult(string(want.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEncodeCutsTheErrorLinesUntilTheMessageFits(t *testing.T) {
	cases := map[string]Result{
		"a long error":                        {Error: strings.Repeat("x", 3*MaxResultBytes)},
		"a long error of wide runes":          {Error: strings.Repeat("ä", 2*MaxResultBytes)},
		"a long error of the widest runes":    {Error: strings.Repeat("🐬", MaxResultBytes)},
		"an error that JSON makes longer":     {Error: strings.Repeat("\x01", MaxResultBytes)},
		"an error one byte too long":          {Error: strings.Repeat("x", MaxResultBytes-len(`{"error":""}`)+1)},
		"an error of bytes that are no text":  {Error: strings.Repeat("\xff\xfe", MaxResultBytes)},
		"a long pruning error":                {Location: "a/b/c", PruneError: strings.Repeat("é", MaxResultBytes)},
		"both lines long":                     {Error: strings.Repeat("ä", 5000), PruneError: strings.Repeat("ö", 6000)},
		"an error of quotes and of backslash": {Error: strings.Repeat(`"\`, MaxResultBytes)},
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			data := in.Encode()
			// Half is far less than a cut can waste on one rune.
			if len(data) > MaxResultBytes || len(data) < MaxResultBytes/2 {
				t.Fatalf("got %d bytes, want at most %d and hardly less", len(data), MaxResultBytes)
			}
			got, err := DecodeResult(string(data))
			if err != nil {
				t.Fatal(err)
			}
			checkCut(t, in, got)
		})
	}
}

// checkCut compares a result that had to be cut with what is left of it.
func checkCut(t *testing.T, in, got Result) {
	t.Helper()
	if !utf8.ValidString(got.Error) || !utf8.ValidString(got.PruneError) {
		t.Error("a rune was split")
	}
	if utf8.ValidString(in.Error) && !strings.HasPrefix(in.Error, got.Error) {
		t.Error("the error is not a beginning of the one that was given")
	}
	if got.Location != in.Location {
		t.Errorf("the location was touched: %q", got.Location)
	}
}

func TestEncodeKeepsAnErrorThatJustFits(t *testing.T) {
	want := strings.Repeat("x", MaxResultBytes-len(`{"error":""}`))
	data := Result{Error: want}.Encode()
	if len(data) != MaxResultBytes {
		t.Errorf("got %d bytes, want %d", len(data), MaxResultBytes)
	}
}

func TestEncodeAnswersAlsoForATimeThatJSONCannotHold(t *testing.T) {
	never := time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	got, err := DecodeResult(string(Result{StartTime: &never}.Encode()))
	if err != nil || got.Error == "" {
		t.Errorf("got %+v, %v; want a result that carries an error", got, err)
	}
}

func TestDecodeResultRefusesWhatIsNoResult(t *testing.T) {
	for name, message := range map[string]string{
		"nothing":            "",
		"a log line":         "mariadb-dump: Got error: 1045",
		"half a result":      `{"location":"a/b/c","sizeBy`,
		"a list":             `[]`,
		"a number":           `7`,
		"a wrong type":       `{"sizeBytes":"many"}`,
		"bytes":              "\x00\xff",
		"two results":        `{}{}`,
		"a time that is not": `{"startTime":"yesterday"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := DecodeResult(message); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}

func FuzzDecodeResult(f *testing.F) {
	f.Add("")
	f.Add(`{"location":"a","sizeBytes":1,"error":"x"}`)
	f.Add(`{"startTime":"2027-03-28T02:00:00Z"}`)
	f.Add("null")
	f.Fuzz(func(t *testing.T, message string) {
		got, err := DecodeResult(message)
		if err != nil {
			return
		}
		data := got.Encode()
		if len(data) > MaxResultBytes && len(got.Error) <= MaxResultBytes && len(got.Location)+len(got.SHA256) < 500 {
			t.Errorf("got %d bytes", len(data))
		}
		if _, err := DecodeResult(string(data)); err != nil {
			t.Errorf("cannot read what was written: %v", err)
		}
	})
}
