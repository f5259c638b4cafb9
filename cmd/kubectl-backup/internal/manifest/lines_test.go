// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const lined = `# a comment
---
kind: BackupJob
metadata:
  name: a
  labels:
    example.com/team: shop
    plain: x
spec:
  schedule: "0 2 * * *"
  source: {host: db, databases: [one, two]}
  list:
  - first
  - second:
      deep: true
  podTemplate: &t
    image: x
  again: *t
`

func TestLineOfPointsAtTheInnermostValue(t *testing.T) {
	d := readOneDocument(t, lined)
	for path, want := range map[string]int{
		"":                                  3,
		"kind":                              3,
		"metadata":                          4,
		"metadata.labels[example.com/team]": 7,
		"metadata.labels.example.com/team":  7,
		"metadata.labels.plain":             8,
		"spec.schedule":                     10,
		"spec.source.host":                  11,
		"spec.source.databases[1]":          11,
		"spec.list[0]":                      13,
		"spec.list[1].second.deep":          15,
		"spec.list[7]":                      12,
		"spec.list[x]":                      12,
		"spec.retention.days":               9,
		"spec.again.image":                  17,
		"status.phase":                      3,
		"spec.sched":                        9,
	} {
		if got := d.LineOf(path); got != want {
			t.Errorf("%q: got line %d, want %d", path, got, want)
		}
	}
}

func TestDuplicatesAreFoundWhereverTheyAre(t *testing.T) {
	d := readOneDocument(t, "kind: A\nspec:\n  a: 1\n  b: 2\n  a: 3\n  list:\n  - x: 1\n    x: 2\nkind: B\n")
	want := []Duplicate{{Path: "spec.a", Line: 5}, {Path: "spec.list[0].x", Line: 8}, {Path: "kind", Line: 9}}
	if diff := cmp.Diff(want, d.Duplicates()); diff != "" {
		t.Error(diff)
	}
	d = readOneDocument(t, "{\"kind\":\"A\",\n\"spec\":{},\n\"spec\":{}}")
	if diff := cmp.Diff([]Duplicate{{Path: "spec", Line: 3}}, d.Duplicates()); diff != "" {
		t.Error(diff)
	}
}

func readOneDocument(t *testing.T, in string) *Document {
	t.Helper()
	documents, err := Read([]string{Stdin}, false, strings.NewReader(in))
	if err != nil || len(documents) != 1 {
		t.Fatalf("got %d documents, %v", len(documents), err)
	}
	return documents[0]
}

func FuzzRead(f *testing.F) {
	f.Add(lined)
	f.Add("kind: List\nitems:\n- {kind: A}\n")
	f.Add("a: &a [*a]\n")
	f.Add("{}{}[]---\n...\n")
	f.Fuzz(func(_ *testing.T, in string) {
		documents, _ := Read([]string{Stdin}, false, strings.NewReader(in))
		for _, d := range documents {
			_ = d.Duplicates()
			_ = d.LineOf("metadata.labels[x].y")
			_, _ = d.Items()
		}
	})
}
