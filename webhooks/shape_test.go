// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	backupv1 "example.com/backupjob-operator/api/v1"
)

var jobShape = shapeOf(reflect.TypeFor[backupv1.BackupJob]())

func TestPathsAreReadInBothNotations(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		".spec":                                  "spec",
		"spec.source.databases[12]":              "spec.source.databases[12]",
		"spec.podTemplate.labels.a.b":            "spec.podTemplate.labels[a.b]",
		"spec.podTemplate.labels[example.com/a]": "spec.podTemplate.labels[example.com/a]",
		"spec.podTemplate.labels.[a]":            "spec.podTemplate.labels[[a]]",
		"spec.podTemplate.labels[a][b].c]":       "spec.podTemplate.labels[a][b].c]",
		"spec.podTemplate.resources.limits.example.com/gpu": "spec.podTemplate.resources.limits[example.com/gpu]",
		"spec..source.host":                   "spec.source.host",
		"spec.podTemplate.tolerations[0].key": "spec.podTemplate.tolerations[0].key",
		"spec.unknown.field[3].of.[nobody":    "spec.unknown.field.[3].of.[nobody",
	} {
		if got := jobShape.parse(text).String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTheOrderIsThatOfTheAPIReference(t *testing.T) {
	want := []string{
		"metadata", "metadata.name", "spec", "spec.source.engine", "spec.source.host", "spec.source.databases",
		"spec.source.databases[2]", "spec.source.databases[10]", "spec.schedule", "spec.timeZone", "spec.retention.days",
		"spec.podTemplate.labels", "spec.podTemplate.labels[a]", "spec.podTemplate.labels[b]", "spec.podTemplate.image", "status.phase",
		"unknown",
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b string) int { return jobShape.compare(jobShape.parse(a), jobShape.parse(b)) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatFitsTheTypesIsKept(t *testing.T) {
	var o map[string]any
	text := `{"metadata": {"name": 5, "labels": {"a": "b", "c": 1}, "creationTimestamp": "yesterday"},
		"spec": {"schedule": "x", "maxRetries": 99999999999, "source": {"host": ["a"], "port": 1.5, "databases": ["a", 5, {}, "b"]},
		"podTemplate": {"resources": {"limits": {"cpu": "1", "memory": "lots"}, "requests": []}, "tolerations": [{"key": "a"}, "x", null]}}}`
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	b := &backupv1.BackupJob{}
	dropped, err := decodeInto(o, b, jobShape)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range dropped {
		got = append(got, p.String())
	}
	slices.Sort(got)
	want := []string{
		"metadata.creationTimestamp", "metadata.labels[c]", "metadata.name", "spec.maxRetries", "spec.podTemplate.resources.limits[memory]",
		"spec.podTemplate.resources.requests", "spec.podTemplate.tolerations[1]", "spec.source.databases[1]", "spec.source.databases[2]",
		"spec.source.host", "spec.source.port",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if b.Spec.Schedule != "x" || len(b.Spec.Source.Databases) != 4 || b.Spec.Source.Databases[3] != "b" ||
		b.Labels["a"] != "b" || b.Spec.PodTemplate.Resources.Limits.Cpu().String() != "1" || len(b.Spec.PodTemplate.Tolerations) != 3 {
		t.Errorf("kept too little: %+v", b)
	}
}

// strange are texts that no pattern of ours lets through, and some that a few
// do.
var strange = []string{"", "-", "a b", "A_", "../x", "/", "\\", "\x00", "a=b", "=", strings.Repeat("y", 5000), "ü", "[", "1x", "a@b", "a..b"}

// Every text of the schema that has a pattern is filled with all of them, in
// both versions: what the pattern refuses, the rules must explain.
func TestEveryPatternIsExplained(t *testing.T) {
	for gvk, v := range newJudge(t).versions {
		manifest := writings[gvk.Version+" "+gvk.Kind].manifest
		for _, at := range patterns(v.structural, nil) {
			for _, text := range strange {
				var o map[string]any
				if err := json.Unmarshal(object(t, manifest), &o); err != nil {
					t.Fatal(err)
				}
				put(o, at, text)
				raw, err := json.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				checkWords(t, gvk.String()+" "+at.String()+" "+text[:min(len(text), 20)], judged(t, raw, nil))
			}
		}
	}
}

// patterns are the places below spec whose text has a pattern.
func patterns(s *structuralschema.Structural, at path) []path {
	var found []path
	if s.ValueValidation != nil && s.ValueValidation.Pattern != "" {
		found = append(found, at)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if len(at) == 0 && name != "spec" {
			continue
		}
		inner := s.Properties[name]
		found = append(found, patterns(&inner, append(slices.Clip(at), step{name: name}))...)
	}
	if s.Items != nil {
		found = append(found, patterns(s.Items, append(slices.Clip(at), step{kind: stepIndex}))...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		found = append(found, patterns(s.AdditionalProperties.Structural, append(slices.Clip(at), step{name: "cpu", kind: stepKey}))...)
	}
	return found
}

// put sets the value at a path, through lists of one item.
func put(holder map[string]any, at path, value any) {
	for i := len(at) - 1; i > 0; i-- {
		if at[i].kind == stepIndex {
			value = []any{value}
			continue
		}
		if at[i-1].kind == stepIndex || !isObject(at[:i], holder) {
			value = map[string]any{at[i].name: value}
			continue
		}
		existing, _ := at[:i].find(holder)
		existing.(map[string]any)[at[i].name] = value
		return
	}
	holder[at[0].name] = value
}

func isObject(at path, holder map[string]any) bool {
	value, ok := at.find(holder)
	_, object := value.(map[string]any)
	return ok && object
}

func TestOneFindingIsChosenPerPlace(t *testing.T) {
	at := func(text string) path { return jobShape.parse(text) }
	theirs := []finding{
		{at: at("spec.source.host"), kind: field.ErrorTypeInvalid, message: unexplained, rank: rankLast},
		{at: at("spec.source.host"), kind: field.ErrorTypeInvalid, message: "must be shorter"},
		{at: at("spec.schedule"), kind: field.ErrorTypeTypeInvalid, message: "must be text"},
		{at: at("spec.podTemplate"), kind: field.ErrorTypeRequired, message: "must be set"},
		{at: at("spec.podTemplate.labels"), kind: field.ErrorTypeInvalid, message: "no keys of ours", rule: true},
		{at: at("spec.retention"), kind: field.ErrorTypeInvalid, message: "must not be empty"},
		{at: at("spec.podTemplate.annotations"), kind: field.ErrorTypeInvalid, message: "no keys of ours", rule: true},
	}
	ours := []finding{
		{at: at("spec.schedule"), kind: field.ErrorTypeInvalid, message: "must be a schedule"},
		{at: at("spec.retention"), kind: field.ErrorTypeInvalid, message: "must keep something"},
		{at: at("spec.retention"), kind: field.ErrorTypeInvalid, message: "must keep more"},
		{at: at("spec.podTemplate.image"), kind: field.ErrorTypeInvalid, message: "must be an image"},
		{at: at("metadata.annotations[a]"), kind: field.ErrorTypeInvalid, message: "must be shorter"},
	}
	var got []string
	for _, f := range choose(theirs, nil, ours) {
		got = append(got, f.at.String()+": "+f.message)
	}
	slices.Sort(got)
	want := []string{
		"metadata.annotations[a]: must be shorter",
		"spec.podTemplate: must be set",
		"spec.retention: must keep something; and must keep more",
		"spec.schedule: must be text",
		"spec.source.host: must be shorter",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
