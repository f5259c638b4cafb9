// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// granted returns the rules that a ServiceAccount gets, and how many of them
// hold in the whole cluster.
func granted(t *testing.T, m manifests, account string) (clusterWide, namespaced []rbacv1.PolicyRule) {
	t.Helper()
	for _, binding := range all[*rbacv1.ClusterRoleBinding](m) {
		if bindsOnly(t, binding.Name, binding.Subjects, account) {
			clusterWide = append(clusterWide, named[*rbacv1.ClusterRole](t, m, binding.RoleRef.Name).Rules...)
		}
	}
	for _, binding := range all[*rbacv1.RoleBinding](m) {
		if bindsOnly(t, binding.Name, binding.Subjects, account) {
			namespaced = append(namespaced, named[*rbacv1.Role](t, m, binding.RoleRef.Name).Rules...)
		}
	}
	return clusterWide, namespaced
}

func bindsOnly(t *testing.T, binding string, subjects []rbacv1.Subject, account string) bool {
	t.Helper()
	if len(subjects) != 1 || subjects[0].Kind != rbacv1.ServiceAccountKind {
		t.Errorf("binding %s has the subjects %v, want one ServiceAccount", binding, subjects)
		return false
	}
	return subjects[0].Name == account
}

func TestTheWebhookMayOnlyAskForAccessReviews(t *testing.T) {
	clusterWide, namespaced := granted(t, render(t, "default"), "backupjob-webhook")
	want := []rbacv1.PolicyRule{{
		APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"},
	}}
	if diff := cmp.Diff(want, clusterWide); diff != "" {
		t.Errorf("rights in the cluster (-want +got):\n%s", diff)
	}
	if len(namespaced) > 0 {
		t.Errorf("rights in its namespace: %v, want none", namespaced)
	}
}

func TestTheControllerStaysWithinItsBudgetOfRules(t *testing.T) {
	clusterWide, namespaced := granted(t, render(t, "default"), "backupjob-controller")
	if count := len(clusterWide) + len(namespaced); count == 0 || count > 8 {
		t.Errorf("the controller has %d rules, want 1 to 8", count)
	}
	for _, rule := range namespaced {
		if diff := cmp.Diff([]string{"leases"}, rule.Resources); diff != "" {
			t.Errorf("in its own namespace it needs the lease only (-want +got):\n%s", diff)
		}
	}
}

func TestNoRoleHasAWildcardOrReachesSecrets(t *testing.T) {
	for name, rules := range everyRole(t) {
		for _, rule := range rules {
			words := slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.ResourceNames)
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, "*") }) {
				t.Errorf("role %s has a wildcard: %v", name, rule)
			}
			if len(rule.NonResourceURLs) > 0 {
				t.Errorf("role %s reaches URLs: %v", name, rule.NonResourceURLs)
			}
			if slices.Contains(rule.Resources, "secrets") {
				t.Errorf("role %s reaches Secrets: %v", name, rule)
			}
		}
	}
}

// TestNoRoleCanTakeMoreRights covers what would let one of our processes, or
// one of our users, become somebody else or change the front door itself.
func TestNoRoleCanTakeMoreRights(t *testing.T) {
	resources := []string{
		"roles", "rolebindings", "clusterroles", "clusterrolebindings", "serviceaccounts", "serviceaccounts/token",
		"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "customresourcedefinitions",
		"pods/exec", "pods/attach", "pods/ephemeralcontainers", "nodes/proxy",
	}
	verbs := []string{"escalate", "bind", "impersonate"}
	writes := []string{"create", "update", "patch", "delete"}
	for name, rules := range everyRole(t) {
		for _, rule := range rules {
			if meets(rule.Resources, resources) || meets(rule.Verbs, verbs) {
				t.Errorf("role %s leads to more rights: %v", name, rule)
			}
			if slices.Contains(rule.Resources, "pods") && meets(rule.Verbs, writes) {
				t.Errorf("role %s writes Pods: %v", name, rule)
			}
		}
	}
}

// meets says whether two lists have a word in common.
func meets(one, other []string) bool {
	return slices.ContainsFunc(one, func(word string) bool { return slices.Contains(other, word) })
}

func everyRole(t *testing.T) map[string][]rbacv1.PolicyRule {
	t.Helper()
	m := render(t, "default")
	rules := map[string][]rbacv1.PolicyRule{}
	for _, role := range all[*rbacv1.ClusterRole](m) {
		rules["cluster-wide "+role.Name] = role.Rules
	}
	for _, role := range all[*rbacv1.Role](m) {
		rules["namespaced "+role.Name] = role.Rules
	}
	return rules
}

func TestUserRolesAggregateToTheBuiltInOnes(t *testing.T) {
	cases := map[string]struct {
		role, label string
		verbs       []string
	}{
		"a viewer reads":                          {"backupjob-viewer", "view", []string{"get", "list", "watch"}},
		"an editor writes":                        {"backupjob-editor", "edit", []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
		"an admin deletes whole collections, too": {"backupjob-admin", "admin", []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}},
	}
	m := render(t, "default")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			role := named[*rbacv1.ClusterRole](t, m, tc.role)
			if role.Labels["rbac.authorization.k8s.io/aggregate-to-"+tc.label] != "true" {
				t.Errorf("the role does not aggregate to %s", tc.label)
			}
			group := []string{backupv1.GroupName}
			want := []rbacv1.PolicyRule{
				{APIGroups: group, Resources: []string{"backupjobs", "mysqlbackups"}, Verbs: tc.verbs},
				{APIGroups: group, Resources: []string{"backupjobs/status", "mysqlbackups/status"}, Verbs: []string{"get"}},
			}
			if diff := cmp.Diff(want, role.Rules); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}
