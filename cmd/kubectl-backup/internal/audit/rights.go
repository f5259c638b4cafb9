// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"

	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	clusterRoles        = "clusterroles"
	clusterRoleBindings = "clusterrolebindings"
	roles               = "roles"
	roleBindings        = "rolebindings"

	admissionGroup = "admissionregistration.k8s.io"
	rbacGroup      = "rbac.authorization.k8s.io"

	known = "Take the right away from those that do not need it, and name those that do with --accept, such as --accept Group:platform-admins."
)

var (
	everyRight = []string{clusterRoles, clusterRoleBindings, roles, roleBindings}
	writing    = []string{"create", "update", "patch", "delete", "deletecollection"}
)

var rightsChecks = []check{
	{
		id: "own-rights", title: "Our accounts have the rights that were shipped, and no others",
		threats: []int{5, 18}, needs: everyRight, do: reapply, run: checkOwnRights,
	},
	{
		id: "user-roles", title: "The roles of users are as shipped and are part of admin, edit and view",
		threats: []int{3}, needs: []string{clusterRoles}, do: reapply, run: checkUserRoles,
	},
	{
		id: "who-writes-webhooks", title: "Few can change webhook configurations",
		threats: []int{4, 6}, needs: everyRight, do: known,
		run: holders(func(s *Snapshot) []action {
			var objects []string
			ours, _ := s.hooks()
			for _, h := range ours {
				objects = append(objects, h.configuration)
			}
			return []action{{verbs: writing, group: admissionGroup, resources: []string{configurations, validations}, names: objects}}
		}),
	},
	{
		id: "who-writes-crds", title: "Few can change our CRDs",
		threats: []int{4, 6, 14}, needs: everyRight, do: known,
		run: holders(func(s *Snapshot) []action {
			var objects []string
			for _, d := range s.CRDs {
				objects = append(objects, d.Name)
			}
			return []action{{verbs: writing, group: "apiextensions.k8s.io", resources: []string{definitions}, names: objects}}
		}),
	},
	{
		id: "who-writes-policies", title: "Few can change the second lock",
		threats: []int{4, 6}, needs: everyRight, do: known,
		run: holders(func(s *Snapshot) []action {
			var objects []string
			for _, p := range shippedPolicies(s.Prefix, s.Namespace) {
				objects = append(objects, p.Name)
			}
			return []action{{verbs: writing, group: admissionGroup, resources: []string{policies, policyBindings}, names: objects}}
		}),
	},
	{
		id: "who-reaches-secrets", title: "Few can read or write the Secrets of our namespace, where the keys of the CA and the server are",
		threats: []int{5, 8, 9}, needs: everyRight, do: known,
		run: holders(func(s *Snapshot) []action {
			return []action{{verbs: append([]string{"get", "list", "watch"}, writing...), resources: []string{"secrets"}, names: s.secrets()}}
		}),
	},
	{
		id: "who-runs-pods", title: "Few can run or enter Pods in our namespace, which can mount those Secrets",
		threats: []int{5, 15, 16, 17}, needs: everyRight, do: known,
		run: holders(func(*Snapshot) []action {
			return []action{
				{verbs: []string{"create", "update", "patch"}, resources: []string{"pods", "replicationcontrollers", "pods/ephemeralcontainers"}},
				{verbs: []string{"create", "get"}, resources: []string{"pods/exec", "pods/attach"}},
				{verbs: []string{"create", "update", "patch"}, group: "apps", resources: []string{"deployments", "replicasets", "statefulsets", "daemonsets"}},
				{verbs: []string{"create", "update", "patch"}, group: "batch", resources: []string{"jobs", "cronjobs"}},
			}
		}),
	},
	{
		id: "who-writes-services", title: "Few can send the API server's calls to another place",
		threats: []int{9}, needs: everyRight, do: known,
		run: holders(func(*Snapshot) []action {
			return []action{
				{verbs: writing, resources: []string{"services", "endpoints"}},
				{verbs: writing, group: "discovery.k8s.io", resources: []string{"endpointslices"}},
			}
		}),
	},
	{
		id: "who-takes-rights", title: "Few can give rights, or act as somebody else",
		threats: []int{4, 6, 11}, needs: everyRight, do: known,
		run: holders(func(*Snapshot) []action {
			return []action{
				{verbs: []string{"escalate", "bind"}, group: rbacGroup, resources: []string{clusterRoles, roles}},
				{verbs: writing, group: rbacGroup, resources: []string{clusterRoles, clusterRoleBindings}},
				{verbs: []string{"impersonate"}, resources: []string{"users", "groups", "serviceaccounts"}},
			}
		}),
	},
}

// holders is the check of who may do something that breaks the front door.
func holders(of func(*Snapshot) []action) func(*Snapshot, *Row) {
	return func(s *Snapshot, r *Row) {
		var parts []string
		for _, h := range s.who(of(s)...) {
			if s.standing(h.subject) == part {
				parts = append(parts, subjectText(h.subject))
				continue
			}
			s.judgeHolder(r, h)
		}
		if len(parts) > 0 {
			r.see("parts of the cluster: %s", names(parts))
		}
		if len(r.failed)+len(r.warned)+len(r.saw) == 0 {
			r.see("nobody by RBAC; system:masters may do everything")
		}
	}
}

func (s *Snapshot) judgeHolder(r *Row, h holder) {
	text, standing := subjectText(h.subject), s.standing(h.subject)
	switch {
	case standing == everyone:
		r.fail("%s, which is everyone, by %s", text, h.via)
	case standing == own && r.ID == "who-runs-pods" && h.subject.Name == s.Prefix+shippedController:
		// It is what that account is for; own-rights says whether it may more.
		r.see("%s, which makes the Jobs of backups in every namespace, by %s", text, h.via)
	case standing == own:
		r.fail("%s, one of our own accounts, by %s", text, h.via)
	case s.accepts(text):
		r.see("%s, accepted, by %s", text, h.via)
	default:
		r.warn("%s by %s", text, h.via)
	}
}

// secrets are the Secrets of our certificates.
func (s *Snapshot) secrets() []string {
	found := map[string]bool{s.Prefix + "backupjob-ca": true, s.Prefix + "backupjob-webhook-tls": true}
	for i := range s.Certificates {
		found[s.Certificates[i].Spec.SecretName] = true
	}
	return sorted(found)
}

func checkOwnRights(s *Snapshot, r *Row) {
	for _, account := range []string{shippedWebhook, shippedController} {
		want := shippedRights(account)
		have := s.rightsOf(s.Prefix + account)
		name := s.Prefix + account
		for _, right := range sorted(have) {
			if _, shipped := want[right]; !shipped {
				r.fail("%s may %s, by %s, which was not shipped", name, right, have[right])
			}
		}
		lacking := 0
		for _, right := range sorted(want) {
			if _, there := have[right]; !there {
				lacking++
				r.warn("%s may not %s, which it needs", name, right)
			}
		}
		if len(r.failed) == 0 && lacking == 0 {
			r.see("%s: %s, as shipped", name, plural(len(want), "right"))
		}
	}
}

func checkUserRoles(s *Snapshot, r *Row) {
	for _, want := range shippedUserRoles() {
		name := s.Prefix + want.Name
		got := s.clusterRole(name)
		if got == nil {
			r.warn("the ClusterRole %s is not there", name)
			continue
		}
		compareRole(r, &want, got)
	}
	if len(r.failed)+len(r.warned) == 0 {
		r.see("viewer, editor and admin are as shipped; none reaches a Secret or writes a status")
	}
}

func compareRole(r *Row, want, got *rbacv1.ClusterRole) {
	wanted, have := rightsIn(want.Rules), rightsIn(got.Rules)
	for _, right := range sorted(have) {
		if !wanted[right] {
			r.fail("%s lets users %s, which was not shipped", got.Name, right)
		}
	}
	for _, right := range sorted(wanted) {
		if !have[right] {
			r.warn("%s does not let users %s", got.Name, right)
		}
	}
	for label, value := range want.Labels {
		if found := cmp.Or(got.Labels[label], "unset"); found != value {
			r.warn("%s is no part of the built-in role: its label %s is %s", got.Name, label, found)
		}
	}
}
