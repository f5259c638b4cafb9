// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/backupjob-operator/conversion"
)

// rewriteAll rewrites every entry of managedFields that says v1alpha1.
func (m *migration) rewriteAll(ctx context.Context, s *subject, report *Report) error {
	var written atomic.Int64
	p := &pass{m: m, s: s, title: "rewrite managedFields", visit: func(ctx context.Context, object *unstructured.Unstructured) error {
		if !saysOld(object) {
			return nil
		}
		changed, err := m.rewrite(ctx, object)
		if changed && err == nil {
			written.Add(1)
		}
		return err
	}}
	err := p.run(ctx)
	s.Written, s.Refused = written.Load(), int64(len(p.problems))
	report.Problems = append(report.Problems, p.problems...)
	return err
}

func saysOld(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.APIVersion == oldVersion.String()
	})
}

// rewrite does one object, and again as often as someone else writes it between
// the read and the write.
func (m *migration) rewrite(ctx context.Context, object *unstructured.Unstructured) (changed bool, err error) {
	for {
		patch, err := rewritten(object)
		if err != nil {
			return false, err
		}
		err = m.client.Patch(ctx, named(object), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldManager))
		if !apierrors.IsConflict(err) {
			return err == nil, err
		}
		if err := m.client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err
		}
		if !saysOld(object) {
			return false, nil
		}
	}
}

// unreadableError is about managedFields that no server takes today.
type unreadableError struct {
	error
	advice string
}

func (e unreadableError) Unwrap() error { return e.error }

// rewritten is the patch that writes the new managedFields over just that
// version of the object.
func rewritten(object *unstructured.Unstructured) ([]byte, error) {
	raw, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	entries, _, err := conversion.NewManagedFields(raw)
	if err != nil {
		return nil, unreadableError{err, fmt.Sprintf(
			"Take its managedFields away ('kubectl patch -n %s %s.%s %s --type=merge -p '{\"metadata\":{\"managedFields\":[{}]}}''), then repeat finish: "+
				"nothing else of it changes, but its appliers begin anew.",
			object.GetNamespace(), pluralOf(object.GetKind()), newVersion.Group, object.GetName())}
	}
	if len(entries) == 0 {
		entries = []metav1.ManagedFieldsEntry{{}} // an empty list would leave them as they are
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": object.GetResourceVersion(), "managedFields": entries,
	}})
}

// count reads who says v1alpha1 in all objects.
func (m *migration) count(ctx context.Context, s *subject) (*census, error) {
	counts, pages := newCensus(s.Name), m.pager(s.kind, newVersion)
	pages.lenient = true
	bar := m.progress.begin(s.Name+": look at managedFields", 0)
	defer bar.end()
	var objects int64
	for {
		page, err := pages.next(ctx)
		if err != nil {
			return nil, err
		}
		if page == nil {
			s.Objects = objects
			return counts, nil
		}
		bar.expect(objects + total(page))
		objects += int64(len(page.Items))
		counts.count(page.Items)
		bar.add(int64(len(page.Items)))
	}
}
