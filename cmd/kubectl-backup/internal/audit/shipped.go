// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/config/policy"
	"example.com/backupjob-operator/config/rbac"
)

const (
	groupName   = backupv1.GroupName
	versionName = "v1"
	oldVersion  = "v1alpha1"
)

// shipped decodes the objects of one kind in embedded manifests, which the
// tests of config/ have decoded before.
func shipped[T any](files embed.FS, kind string) []T {
	var found []T
	for _, u := range objectsIn(files) {
		if u.GetKind() != kind {
			continue
		}
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &typed); err != nil {
			panic(fmt.Errorf("%s %s: %w", kind, u.GetName(), err))
		}
		found = append(found, typed)
	}
	return found
}

func objectsIn(files embed.FS) []*unstructured.Unstructured {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	var found []*unstructured.Unstructured
	for _, entry := range entries {
		data, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
		for {
			u := &unstructured.Unstructured{}
			if err := decoder.Decode(u); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				panic(fmt.Errorf("%s: %w", entry.Name(), err))
			}
			found = append(found, u)
		}
	}
	return found
}

// shippedPolicies are the policies as they stand in a namespace and with a
// prefix.
func shippedPolicies(prefix, namespace string) []admissionregistrationv1.ValidatingAdmissionPolicy {
	found := shipped[admissionregistrationv1.ValidatingAdmissionPolicy](policy.Manifests, "ValidatingAdmissionPolicy")
	moved := strings.NewReplacer(`"`+shippedNamespace+`"`, `"`+namespace+`"`, `"`+shippedController+`"`, `"`+prefix+shippedController+`"`)
	for i := range found {
		found[i].Name = prefix + found[i].Name
		for n := range found[i].Spec.Variables {
			found[i].Spec.Variables[n].Expression = moved.Replace(found[i].Spec.Variables[n].Expression)
		}
		for n := range found[i].Spec.MatchConditions {
			found[i].Spec.MatchConditions[n].Expression = moved.Replace(found[i].Spec.MatchConditions[n].Expression)
		}
	}
	return found
}

func shippedUserRoles() []rbacv1.ClusterRole {
	return slices.DeleteFunc(shipped[rbacv1.ClusterRole](rbac.Manifests, "ClusterRole"), func(c rbacv1.ClusterRole) bool {
		return len(c.Labels) == 0 // those of our accounts
	})
}

// shippedRights are the rights that one of our accounts is shipped with.
func shippedRights(account string) map[string]string {
	s := &Snapshot{
		Namespace:           shippedNamespace,
		ClusterRoles:        shipped[rbacv1.ClusterRole](rbac.Manifests, "ClusterRole"),
		ClusterRoleBindings: shipped[rbacv1.ClusterRoleBinding](rbac.Manifests, "ClusterRoleBinding"),
		Roles:               shipped[rbacv1.Role](rbac.Manifests, "Role"),
		RoleBindings:        shipped[rbacv1.RoleBinding](rbac.Manifests, "RoleBinding"),
	}
	return s.rightsOf(account)
}

// rightsOf are the rights of an account of the operator's namespace, single
// ones in words, each with the binding that gives it. What everyone has is
// left out.
func (s *Snapshot) rightsOf(account string) map[string]string {
	found := map[string]string{}
	note := func(binding string, ref rbacv1.RoleRef, members []rbacv1.Subject, where string) {
		if !slices.ContainsFunc(members, func(m rbacv1.Subject) bool { return s.means(m, account) }) {
			return
		}
		for right := range rightsIn(s.rulesOf(ref)) {
			found[right+where] = binding
		}
	}
	for _, b := range s.ClusterRoleBindings {
		note("ClusterRoleBinding "+b.Name, b.RoleRef, b.Subjects, "")
	}
	for _, b := range s.RoleBindings {
		note("RoleBinding "+b.Name, b.RoleRef, b.Subjects, " in its namespace")
	}
	return found
}

func (s *Snapshot) means(m rbacv1.Subject, account string) bool {
	if m = asAccount(m); m.Kind == rbacv1.ServiceAccountKind {
		return m.Namespace == s.Namespace && m.Name == account
	}
	return m.Name == "system:serviceaccounts:"+s.Namespace
}

// rightsIn takes rules apart into single rights such as "get pods" or "update
// leases.coordination.k8s.io/name".
func rightsIn(rules []rbacv1.PolicyRule) map[string]bool {
	found := map[string]bool{}
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				found[verb+" "+url] = true
			}
			addRights(found, verb, &rule)
		}
	}
	return found
}

func addRights(found map[string]bool, verb string, rule *rbacv1.PolicyRule) {
	objects := rule.ResourceNames
	if len(objects) == 0 {
		objects = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, object := range objects {
				found[rightText(verb, group, resource, object)] = true
			}
		}
	}
}

func rightText(verb, group, resource, object string) string {
	text := verb + " " + resource
	if group != "" {
		text += " of " + group
	}
	if object != "" {
		text += " called " + object
	}
	return text
}

func (s *Snapshot) clusterRole(name string) *rbacv1.ClusterRole {
	for i := range s.ClusterRoles {
		if s.ClusterRoles[i].Name == name {
			return &s.ClusterRoles[i]
		}
	}
	return nil
}
