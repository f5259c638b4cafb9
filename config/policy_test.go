// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// TestTheSecondLockFailsClosedAndHasNoExemptions: a policy that fails open, or
// a binding that only warns or leaves a namespace out, is no lock.
func TestTheSecondLockFailsClosedAndHasNoExemptions(t *testing.T) {
	m := render(t, "default")
	policies := all[*admissionregistrationv1.ValidatingAdmissionPolicy](m)
	if len(policies) != 3 {
		t.Errorf("%d policies, want those of the invariants, of the status and of the controller's Jobs", len(policies))
	}
	for _, policy := range policies {
		t.Run(policy.Name, func(t *testing.T) {
			spec := policy.Spec
			if spec.FailurePolicy == nil || *spec.FailurePolicy != admissionregistrationv1.Fail {
				t.Error("failurePolicy must be Fail")
			}
			match := spec.MatchConstraints
			if match.MatchPolicy == nil || *match.MatchPolicy != admissionregistrationv1.Equivalent {
				t.Error("matchPolicy must be Equivalent, or a version that is not listed goes by unseen")
			}
			if match.NamespaceSelector != nil || match.ObjectSelector != nil || len(match.ExcludeResourceRules) > 0 {
				t.Error("a selector would exempt objects")
			}
			if spec.ParamKind != nil {
				t.Error("a parameter is one more thing that can be missing")
			}
			binding := named[*admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, m, policy.Name).Spec
			want := admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			}
			if diff := cmp.Diff(want, binding); diff != "" {
				t.Errorf("binding (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheSecondLockCoversEveryServedVersion: what is matched in another
// version than it was written in would need the conversion webhook, which is
// one of our Pods.
func TestTheSecondLockCoversEveryServedVersion(t *testing.T) {
	m := render(t, "default")
	var statuses []string
	for _, resource := range servedResources(t) {
		statuses = append(statuses, resource+"/status")
	}
	for name, tc := range map[string]struct {
		operations []admissionregistrationv1.OperationType
		resources  []string
	}{
		"backupjob-invariants": {[]admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}, servedResources(t)},
		"backupjob-jobs":       {[]admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}, []string{"batch/v1/jobs"}},
		"backupjob-status":     {[]admissionregistrationv1.OperationType{admissionregistrationv1.Update}, statuses},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, rule := range named[*admissionregistrationv1.ValidatingAdmissionPolicy](t, m, name).Spec.MatchConstraints.ResourceRules {
				got = append(got, matched(rule.Rule)...)
				if diff := cmp.Diff(tc.operations, rule.Operations); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.resources, got); diff != "" {
				t.Errorf("rules (-served +covered):\n%s", diff)
			}
		})
	}
}

// TestEveryRuleOfTheSecondLockSaysWhatToWrite: its words are all that a user
// sees when the webhooks are gone.
func TestEveryRuleOfTheSecondLockSaysWhatToWrite(t *testing.T) {
	for _, policy := range all[*admissionregistrationv1.ValidatingAdmissionPolicy](render(t, "default")) {
		for _, rule := range policy.Spec.Validations {
			if !strings.Contains(rule.Message, "must") && !strings.Contains(rule.Message, "only") || len(rule.Message) > 160 {
				t.Errorf("%s: %q", policy.Name, rule.Message)
			}
		}
	}
}
