// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// plan looks at everything and changes nothing.
func (m *migration) plan(ctx context.Context) (*Report, error) {
	report := &Report{Command: "plan"}
	m.patience = min(m.patience, planPatience)
	subjects, err := m.subjects(ctx, report)
	if err != nil {
		return nil, err
	}
	m.checkHealth(ctx, subjects, report)
	if report.blocked() {
		report.next("The objects were not looked at: put right what is Blocked above, then plan again. Nothing was changed.")
		return report, ctx.Err()
	}
	for _, s := range subjects {
		if err := m.planOne(ctx, s, report); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			report.check("Objects of "+s.Name, ResultBlocked, err.Error(), "Put that right, then plan again: not all objects were looked at.")
		}
	}
	m.planNext(ctx, subjects, report)
	report.OK = !report.blocked()
	return report, nil
}

func (m *migration) planOne(ctx context.Context, s *subject, report *Report) error {
	counts := newCensus(s.Name)
	p := &pass{m: m, s: s, title: "try a write that changes nothing", visit: m.try, perPage: counts.count}
	err := p.run(ctx)
	s.Refused = int64(len(p.problems))
	s.Accepted = s.Objects - s.Refused
	report.Problems = append(report.Problems, p.problems...)
	report.Managers = append(report.Managers, counts.managers()...)
	if err != nil {
		s.Accepted = 0
		return err
	}
	return m.compareAll(ctx, s, report)
}

// try asks the server, in a dry run, for what the cluster's migrator asks for: a
// write of v1 that changes nothing.
func (m *migration) try(ctx context.Context, object *unstructured.Unstructured) error {
	return m.client.Patch(ctx, named(object), client.RawPatch(types.MergePatchType, nothing(object, "")),
		client.DryRunAll, client.FieldOwner(fieldManager))
}

// nothing is a patch that changes nothing, or a conflict if the object is no
// more at that resourceVersion.
func nothing(object *unstructured.Unstructured, resourceVersion string) []byte {
	patch := named(object)
	unstructured.RemoveNestedField(patch.Object, "metadata")
	if resourceVersion != "" {
		patch.SetResourceVersion(resourceVersion)
	}
	text, _ := patch.MarshalJSON() // it holds nothing but texts
	return text
}

// named is an object that is nothing but its name, for the answer to a write.
func named(object *unstructured.Unstructured) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(object.GetAPIVersion())
	u.SetKind(object.GetKind())
	u.SetNamespace(object.GetNamespace())
	u.SetName(object.GetName())
	return u
}

// planNext says what the next steps will do.
func (m *migration) planNext(ctx context.Context, subjects []*subject, report *Report) {
	if report.blocked() {
		report.next("The migration must not begin yet: see what is Blocked, Refused, Unanswered or Different above. Nothing was changed.")
		return
	}
	report.note("Nothing was changed. No object stands in the way.")
	for _, s := range subjects {
		switch {
		case !s.migrated():
			report.note("%s: 'run' will have %d objects stored as v1, %s, and take v1alpha1 off the stored versions.",
				s.Name, s.Objects, m.methodInWords(ctx))
		case s.serves(oldVersion.Version):
			report.note("%s: everything is stored as v1; 'finish' will stop serving v1alpha1 and rewrite managedFields that say it.", s.Name)
		default:
			report.note("%s: everything is stored as v1, and v1alpha1 is not served.", s.Name)
		}
	}
	if len(report.Managers) > 0 {
		names := map[string]bool{}
		var order []string
		for _, manager := range report.Managers {
			if !names[manager.Name] {
				names[manager.Name] = true
				order = append(order, manager.Name)
			}
		}
		report.note("Before 'finish', whoever writes v1alpha1 must write v1 ('kubectl backup convert' rewrites manifests): %s.", strings.Join(order, ", "))
	}
	report.next("Next: kubectl backup migrate %s", nextStep(subjects))
}

// nextStep is the step that is due.
func nextStep(subjects []*subject) string {
	for _, s := range subjects {
		if !s.migrated() {
			return "run"
		}
	}
	return "verify"
}

func (m *migration) methodInWords(ctx context.Context) string {
	method, err := m.method(ctx)
	switch {
	case err != nil:
		return fmt.Sprintf("in a way that is not known yet (%v)", err)
	case method == MethodCluster:
		return "by the cluster's own StorageVersionMigration"
	}
	return "by a write that changes nothing for each"
}
