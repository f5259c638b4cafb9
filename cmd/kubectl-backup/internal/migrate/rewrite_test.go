// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// owned is an object in which managers own fields of v1alpha1.
func owned(name string, fields ...string) *unstructured.Unstructured {
	object := anObject("n", name)
	var entries []metav1.ManagedFieldsEntry
	for _, text := range fields {
		entry := metav1.ManagedFieldsEntry{
			Manager: "m", Operation: metav1.ManagedFieldsOperationApply, APIVersion: oldVersion.String(), FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{},
		}
		entry.FieldsV1.SetRawString(text)
		entries = append(entries, entry)
	}
	object.SetManagedFields(entries)
	return object
}

func TestThePatchThatRewrites(t *testing.T) {
	for name, tc := range map[string]struct {
		object *unstructured.Unstructured
		want   string
	}{
		"the fields of v1": {
			owned("a", `{"f:spec":{"f:databaseHost":{}}}`),
			`{"metadata":{"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"backup.example.com/v1","fieldsType":"FieldsV1",` +
				`"fieldsV1":{"f:spec":{"f:source":{"f:host":{},"f:port":{}}}}}],"resourceVersion":"7"}}`,
		},
		"nothing is left: an empty list would change nothing": {
			owned("a", `{"f:spec":{"f:cron":{}}}`), `{"metadata":{"managedFields":[{}],"resourceVersion":"7"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.object.SetResourceVersion("7")
			got, err := rewritten(tc.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRewriteAll meets an object that someone changes meanwhile, and one that
// someone else has rewritten.
func TestRewriteAll(t *testing.T) {
	resource := schema.GroupResource{Group: "backup.example.com", Resource: "backupjobs"}
	conflicts := map[string]int{"changed": 3, "done": 1}
	patches := map[string]int{}
	on := interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
			name := object.GetName()
			patches[name]++
			if conflicts[name] == 0 {
				return nil
			}
			conflicts[name]--
			if name == "done" {
				now := anObject("n", name)
				if err := c.Get(ctx, client.ObjectKeyFromObject(now), now); err != nil {
					return err
				}
				now.SetManagedFields(nil)
				if err := c.Update(ctx, now); err != nil {
					return err
				}
			}
			return apierrors.NewConflict(resource, name, nil)
		},
	}
	const host = `{"f:spec":{"f:databaseHost":{}}}`
	m, s := aMigration(t, on, owned("changed", host), owned("done", host), anObject("n", "new"))
	m.Concurrency = 1
	report := &Report{}
	if err := m.rewriteAll(t.Context(), s, report); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"changed": 4, "done": 1}, patches); diff != "" {
		t.Error(diff)
	}
	if s.Written != 1 || s.Objects != 3 || len(report.Problems) != 0 {
		t.Errorf("%d of %d objects were written, problems %v", s.Written, s.Objects, report.Problems)
	}
}

// TestManagedFieldsThatCannotBeRead can be met only where a server took them once.
func TestManagedFieldsThatCannotBeRead(t *testing.T) {
	m, s := aMigration(t, interceptor.Funcs{})
	p := &pass{m: m, s: s, bar: m.progress.begin("", 0)}
	object := owned("odd", `{"i:x":{}}`)
	_, err := m.rewrite(t.Context(), object)
	if err := p.judge(t.Context(), object, err); err != nil {
		t.Fatal(err)
	}
	if len(p.problems) != 1 || p.problems[0].Reason != ReasonUnreadable ||
		!strings.Contains(p.problems[0].Advice, `kubectl patch -n n backupjobs.backup.example.com odd --type=merge -p '{"metadata":{"managedFields":[{}]}}'`) {
		t.Errorf("got %+v", p.problems)
	}
}
