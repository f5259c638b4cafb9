// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf8"
)

// FuzzJudge gives the judgement any JSON, as the new and as the old object: it
// never panics, tells one fault per place and all of them in order, and what
// did not change passes.
func FuzzJudge(f *testing.F) {
	for _, w := range writings {
		f.Add(object(f, w.manifest), object(f, w.manifest, `{spec: {suspend: true}}`))
	}
	for _, c := range messageCases {
		f.Add(object(f, c.manifest, c.write), object(f, c.manifest))
	}
	f.Add([]byte(`{"apiVersion":"backup.example.com/v1","kind":"BackupJob","metadata":[],"spec":null}`), []byte(`{}`))
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, raw, old []byte) {
		v, err := j.Judge(t.Context(), raw, nil)
		if err != nil {
			return
		}
		checkVerdict(t, v)
		if same, err := j.Judge(t.Context(), raw, bytes.Clone(raw)); err != nil || !same.Allowed() || len(same.Warnings) > 0 {
			t.Errorf("a write that changes nothing: %v\n%s", err, told(same))
		}
		if v, err = j.Judge(t.Context(), raw, old); err == nil {
			checkVerdict(t, v)
		}
	})
}

func checkVerdict(t *testing.T, v *Verdict) {
	t.Helper()
	shape := v.document.version.shape
	if !slices.IsSortedFunc(v.Faults, func(a, b Fault) int { return shape.compare(a.at, b.at) }) {
		t.Errorf("the faults are not in order:\n%s", told(v))
	}
	seen := map[string]bool{}
	for _, f := range v.Faults {
		if at := f.at.String(); seen[at] {
			t.Errorf("%s is told of twice:\n%s", at, told(v))
		} else {
			seen[at] = true
		}
		if f.Message == "" || utf8.RuneCountInString(f.String()) > maxMessage && utf8.RuneCountInString(f.Field) < maxMessage/2 {
			t.Errorf("a message of %d characters: %s", utf8.RuneCountInString(f.String()), f)
		}
	}
	if v.Allowed() != (v.Err() == nil) {
		t.Error("the verdict contradicts itself")
	}
	v.WarningTexts()
}
