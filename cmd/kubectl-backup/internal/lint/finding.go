// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/manifest"
	"example.com/backupjob-operator/conversion"
	"example.com/backupjob-operator/webhooks"
)

const (
	accept = "accept"
	deny   = "deny"
	// nextRuns is how many of an object's next runs are told.
	nextRuns = 5
)

// finding is what there is to say about one object. Its JSON is for programs.
type finding struct {
	File       string    `json:"file"`
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	Verdict    string    `json:"verdict"`
	Errors     []fault   `json:"errors"`
	Warnings   []warning `json:"warnings"`
	NextRuns   []string  `json:"nextRuns"`

	document  *manifest.Document
	schedule  *schedule.Schedule // nil where there are no runs to tell of
	runs      []time.Time
	suspended bool
}

type fault struct {
	Field   string `json:"field"`
	Value   any    `json:"value"`
	Message string `json:"message"`

	line int
	text string
}

type warning struct {
	Field   string `json:"field"`
	Message string `json:"message"`

	line int
	text string
}

// report is all findings.
type report struct {
	now       time.Time
	documents []*finding
	others    int
	denied    int
	warned    int // objects with a warning
}

// judge adds the finding about a document, or counts it as another's.
func (r *report) judge(ctx context.Context, judge *webhooks.Judge, d *manifest.Document) error {
	if !isOurs(d) {
		r.others++
		return nil
	}
	f := &finding{
		File: d.File, APIVersion: d.APIVersion, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name,
		Verdict: accept, Errors: []fault{}, Warnings: []warning{}, NextRuns: []string{}, document: d,
	}
	raw := f.checkHeader(d.JSON)
	if raw != nil {
		verdict, err := judge.Judge(ctx, raw, nil)
		if err != nil {
			return fmt.Errorf("%s:%d: judge: %w", d.File, d.Line(), err)
		}
		f.take(verdict, r.now)
	}
	if len(f.Errors) > 0 {
		f.Verdict = deny
		r.denied++
	}
	if len(f.Warnings) > 0 {
		r.warned++
	}
	r.documents = append(r.documents, f)
	return nil
}

// isOurs says whether a document means to be of our kinds. One that lacks half
// of its name is taken for ours: else a typing error would pass as a stranger.
func isOurs(d *manifest.Document) bool {
	gv, err := schema.ParseGroupVersion(d.APIVersion)
	_, known := cluster.KindOf(d.Kind)
	return err == nil && gv.Group == backupv1.GroupName || known && (d.APIVersion == "" || d.APIVersion == manifest.OldAPIVersion)
}

// checkHeader judges apiVersion and kind. It returns what there is to judge
// beyond them, nil for nothing.
func (f *finding) checkHeader(raw []byte) []byte {
	if _, known := cluster.KindOf(f.Kind); !known {
		names := make([]string, 0, len(cluster.Kinds))
		for _, kind := range cluster.Kinds {
			names = append(names, "'"+kind.Name+"'")
		}
		f.fault("kind", f.Kind, "must be "+strings.Join(names, " or "))
		return nil
	}
	switch f.APIVersion {
	case backupv1.GroupVersion.String(), backupv1alpha1.GroupVersion.String():
		return raw
	case manifest.OldAPIVersion:
		f.fault("apiVersion", f.APIVersion, fmt.Sprintf("must be '%s' for a manifest of the operators before this one; change this line, or let 'kubectl backup convert' do it",
			backupv1alpha1.GroupVersion))
		return setAPIVersion(raw, backupv1alpha1.GroupVersion.String())
	}
	f.fault("apiVersion", f.APIVersion, fmt.Sprintf("must be '%s', or '%s', which is deprecated", backupv1.GroupVersion, backupv1alpha1.GroupVersion))
	return nil
}

func (f *finding) fault(path, value, message string) {
	e := &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: value, Detail: message}
	f.add(path, value, message, e.Error())
}

func (f *finding) add(path string, value any, message, text string) {
	f.Errors = append(f.Errors, fault{Field: path, Value: value, Message: message, line: f.document.LineOf(path), text: text})
}

// take adds what the judgement found, after what the server's strict decoding
// would refuse before it asks anybody.
func (f *finding) take(v *webhooks.Verdict, now time.Time) {
	for _, duplicate := range f.document.Duplicates() {
		f.strict(duplicate.Path, "duplicate field", "all but the last are lost", duplicate.Line)
	}
	unknown, refused := checkMetadata(f.document.JSON)
	for _, path := range slices.Concat(unknown, v.Unknown) {
		f.strict(path, "unknown field", hint(v.GVK, path), f.document.LineOf(path))
	}
	for _, found := range refused {
		// Where both know a fault, the judgement has the better words.
		if !slices.ContainsFunc(v.Faults, func(known webhooks.Fault) bool { return known.Field == found.Field }) {
			f.add(found.Field, found.BadValue, found.Detail, found.Error())
		}
	}
	for _, found := range v.Faults {
		f.add(found.Field, found.Value, found.Message, found.String())
	}
	for _, found := range v.Warnings {
		f.Warnings = append(f.Warnings, warning{
			Field: found.Field, Message: found.Message, line: f.document.LineOf(found.Field), text: found.String(),
		})
	}
	if len(f.Errors) == 0 {
		f.tellRuns(v.Effective.Policy(), now)
	}
}

func (f *finding) strict(path, what, hint string, line int) {
	f.Errors = append(f.Errors, fault{Field: path, Message: what + "; " + hint, line: line, text: fmt.Sprintf("%s: %s; %s", path, what, hint)})
}

// hint says what the field may be called: it may be that of the other version.
func hint(gvk schema.GroupVersionKind, path string) string {
	renamed := conversion.NewPath(gvk.Kind, path)
	if gvk.Version == backupv1alpha1.GroupVersion.Version {
		renamed = conversion.OldPath(gvk.Kind, path)
	}
	if renamed != path {
		return fmt.Sprintf("in %s it is %s", gvk.Version, renamed)
	}
	return fmt.Sprintf("'kubectl explain %s --api-version=%s' lists the fields", explainPath(gvk.Kind, path), gvk.GroupVersion())
}

// explainPath is what 'kubectl explain' calls the place in which a field is
// missing.
func explainPath(kind, path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		parts[i], _, _ = strings.Cut(part, "[")
	}
	return strings.Join(append([]string{strings.ToLower(kind)}, parts[:len(parts)-1]...), ".")
}

func (f *finding) tellRuns(policy *backupv1.BackupPolicy, now time.Time) {
	if f.suspended = policy.Suspended(); f.suspended {
		return
	}
	s, err := schedule.Parse(policy.Schedule, policy.Zone())
	if err != nil {
		return // it is among the faults
	}
	f.schedule = s
	for run, ok := s.Next(now); ok && len(f.runs) < nextRuns; run, ok = s.Next(run) {
		f.runs = append(f.runs, run)
		f.NextRuns = append(f.NextRuns, run.Format(time.RFC3339))
	}
}
