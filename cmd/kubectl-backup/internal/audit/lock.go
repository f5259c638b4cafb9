// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

const (
	policies       = "validatingadmissionpolicies"
	policyBindings = "validatingadmissionpolicybindings"
)

var lockChecks = []check{
	{
		id: "second-lock", title: "The API server itself holds the invariants, the status and the controller's Jobs, with none of our Pods",
		threats: []int{1, 3, 4, 10, 12, 13}, needs: []string{policies, policyBindings},
		do: "Without it a write is only as safe as webhooks and schemas are. " + reapply, run: checkLock,
	},
}

func checkLock(s *Snapshot, r *Row) {
	for _, want := range shippedPolicies(s.Prefix, s.Namespace) {
		at := slices.IndexFunc(s.Policies, func(p admissionregistrationv1.ValidatingAdmissionPolicy) bool { return p.Name == want.Name })
		if at < 0 {
			r.fail("the policy %s is not there", want.Name)
			continue
		}
		got := &s.Policies[at]
		judgePolicy(r, &want, got)
		for _, warning := range typeWarnings(got) {
			r.warn("the API server says of %s: %s", got.Name, warning)
		}
		judgeBindings(s, r, want.Name)
	}
	if len(r.failed) == 0 {
		r.see("all %d policies are as shipped, fail closed, and deny everywhere", len(shippedPolicies("", "")))
	}
}

func judgePolicy(r *Row, want, got *admissionregistrationv1.ValidatingAdmissionPolicy) {
	if failure := derefOr(got.Spec.FailurePolicy, admissionregistrationv1.Fail); failure != admissionregistrationv1.Fail {
		r.fail("the policy %s has failurePolicy %s", got.Name, failure)
	}
	match := got.Spec.MatchConstraints
	if match == nil {
		r.fail("the policy %s matches nothing", got.Name)
		return
	}
	if selects(match.NamespaceSelector) || selects(match.ObjectSelector) || len(match.ExcludeResourceRules) > 0 {
		r.fail("the policy %s exempts namespaces or objects", got.Name)
	}
	if !same(want.Spec.MatchConstraints.ResourceRules, match.ResourceRules) ||
		deref(match.MatchPolicy) == admissionregistrationv1.Exact {
		r.fail("the policy %s does not match what it was shipped to match", got.Name)
	}
	if !same(want.Spec.MatchConditions, got.Spec.MatchConditions) {
		r.fail("the policy %s has other match conditions than it was shipped with", got.Name)
	}
	if !same(want.Spec.Variables, got.Spec.Variables) || !same(want.Spec.Validations, got.Spec.Validations) {
		r.fail("the policy %s has other rules than it was shipped with", got.Name)
	}
}

func typeWarnings(p *admissionregistrationv1.ValidatingAdmissionPolicy) []string {
	var found []string
	if checking := p.Status.TypeChecking; checking != nil {
		for _, warning := range checking.ExpressionWarnings {
			found = append(found, warning.FieldRef+": "+warning.Warning)
		}
	}
	return found
}

func judgeBindings(s *Snapshot, r *Row, policy string) {
	for i := range s.PolicyBindings {
		b := &s.PolicyBindings[i]
		if b.Spec.PolicyName != policy || !slices.Contains(b.Spec.ValidationActions, admissionregistrationv1.Deny) {
			continue
		}
		m := b.Spec.MatchResources
		if m == nil || !selects(m.NamespaceSelector) && !selects(m.ObjectSelector) && len(m.ExcludeResourceRules) == 0 && len(m.ResourceRules) == 0 {
			return
		}
	}
	r.fail("no binding of the policy %s denies everywhere", policy)
}
