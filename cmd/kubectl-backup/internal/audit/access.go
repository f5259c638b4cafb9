// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// action is something that RBAC may allow.
type action struct {
	verbs, resources []string
	group            string
	names            []string // the objects in question; none means any
}

// holder is a subject that RBAC allows an action.
type holder struct {
	subject rbacv1.Subject
	via     string // the binding and its role
}

// who lists the holders of any of the actions, in the whole cluster or in the
// operator's namespace, each subject once with all its ways.
func (s *Snapshot) who(actions ...action) []holder {
	ways := map[string]map[string]bool{}
	subjects := map[string]rbacv1.Subject{}
	note := func(binding string, role string, rules []rbacv1.PolicyRule, members []rbacv1.Subject) {
		if !allowAny(rules, actions) {
			return
		}
		for _, member := range members {
			member = asAccount(member)
			text := subjectText(member)
			if ways[text] == nil {
				ways[text] = map[string]bool{}
			}
			ways[text][binding+" ("+role+")"], subjects[text] = true, member
		}
	}
	for _, b := range s.ClusterRoleBindings {
		note("ClusterRoleBinding "+b.Name, b.RoleRef.Name, s.rulesOf(b.RoleRef), b.Subjects)
	}
	for _, b := range s.RoleBindings {
		note("RoleBinding "+b.Name, b.RoleRef.Name, s.rulesOf(b.RoleRef), b.Subjects)
	}
	var found []holder
	for _, text := range slices.Sorted(maps.Keys(ways)) {
		found = append(found, holder{subjects[text], names(sorted(ways[text]))})
	}
	return found
}

// rulesOf are the rules of a role. One that is gone allows nothing.
func (s *Snapshot) rulesOf(ref rbacv1.RoleRef) []rbacv1.PolicyRule {
	if ref.Kind == "Role" {
		for i := range s.Roles {
			if s.Roles[i].Name == ref.Name {
				return s.Roles[i].Rules
			}
		}
		return nil
	}
	for i := range s.ClusterRoles {
		if s.ClusterRoles[i].Name == ref.Name {
			return s.ClusterRoles[i].Rules
		}
	}
	return nil
}

func allowAny(rules []rbacv1.PolicyRule, actions []action) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		return slices.ContainsFunc(actions, func(a action) bool { return a.allowedBy(rule) })
	})
}

func (a action) allowedBy(rule rbacv1.PolicyRule) bool {
	if !holds(rule.APIGroups, a.group) || !slices.ContainsFunc(a.resources, func(resource string) bool { return holdsResource(rule.Resources, resource) }) {
		return false
	}
	named := len(rule.ResourceNames) == 0 || len(a.names) == 0 ||
		slices.ContainsFunc(a.names, func(name string) bool { return slices.Contains(rule.ResourceNames, name) })
	return slices.ContainsFunc(a.verbs, func(verb string) bool {
		if !holds(rule.Verbs, verb) {
			return false
		}
		// The name of what is created, or listed, is not known to RBAC: a
		// rule with names does not allow it.
		if len(rule.ResourceNames) > 0 && (verb == "create" || verb == "deletecollection") {
			return false
		}
		return named
	})
}

// holdsResource knows the ways in which a rule writes a subresource.
func holdsResource(list []string, resource string) bool {
	if holds(list, resource) {
		return true
	}
	_, sub, ok := strings.Cut(resource, "/")
	return ok && slices.Contains(list, "*/"+sub)
}

// asAccount tells a ServiceAccount that is bound as the user that it is.
func asAccount(s rbacv1.Subject) rbacv1.Subject {
	rest, ok := strings.CutPrefix(s.Name, "system:serviceaccount:")
	namespace, name, whole := strings.Cut(rest, ":")
	if s.Kind != rbacv1.UserKind || !ok || !whole {
		return s
	}
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
}

// subjectText is a subject as --accept takes it: User:alice,
// Group:platform-admins, ServiceAccount:argocd/server.
func subjectText(s rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return s.Kind + ":" + s.Namespace + "/" + s.Name
	}
	return s.Kind + ":" + s.Name
}

// standing is what is known of a subject.
type standing int

const (
	stranger standing = iota // to be known by whoever runs the cluster
	part                     // of Kubernetes or cert-manager
	everyone
	own // one of our accounts
)

// standing tells parts of the cluster from people and their tools.
func (s *Snapshot) standing(subject rbacv1.Subject) standing {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		switch {
		case subject.Namespace == s.Namespace && s.isOwn(subject.Name):
			return own
		case subject.Namespace == "kube-system", s.isCertManager(subject):
			return part
		}
	case rbacv1.GroupKind:
		switch subject.Name {
		case "system:authenticated", "system:unauthenticated", "system:serviceaccounts", "system:serviceaccounts:" + s.Namespace:
			return everyone
		case "system:masters", "kubeadm:cluster-admins":
			return part
		}
	case rbacv1.UserKind:
		if subject.Name == "system:anonymous" {
			return everyone
		}
		if strings.HasPrefix(subject.Name, "system:") {
			return part
		}
	}
	return stranger
}

func (s *Snapshot) isOwn(account string) bool {
	return account == s.Prefix+shippedWebhook || account == s.Prefix+shippedController
}

// isCertManager tells the accounts of cert-manager by the roles that it ships.
func (s *Snapshot) isCertManager(subject rbacv1.Subject) bool {
	return slices.ContainsFunc(s.ClusterRoleBindings, func(b rbacv1.ClusterRoleBinding) bool {
		return slices.Contains([]string{"cert-manager-cainjector", "cert-manager-controller-certificates"}, b.RoleRef.Name) &&
			slices.ContainsFunc(b.Subjects, func(other rbacv1.Subject) bool { return subjectText(other) == subjectText(subject) })
	})
}

func sorted[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
