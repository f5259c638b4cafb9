// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Snapshot is everything that was read of a cluster. The checks are functions
// of it.
type Snapshot struct {
	Now       time.Time
	Server    string
	Namespace string // of the operator
	Prefix    string // of the names of its objects

	Mutating       []admissionregistrationv1.MutatingWebhookConfiguration
	Validating     []admissionregistrationv1.ValidatingWebhookConfiguration
	Policies       []admissionregistrationv1.ValidatingAdmissionPolicy
	PolicyBindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding
	CRDs           []apiextensionsv1.CustomResourceDefinition // ours

	// Of the operator's namespace.
	Operator        corev1.Namespace
	Deployments     []appsv1.Deployment
	Pods            []corev1.Pod
	Services        []corev1.Service
	Budgets         []policyv1.PodDisruptionBudget
	NetworkPolicies []networkingv1.NetworkPolicy
	Certificates    []certmanagerv1.Certificate
	Issuers         []certmanagerv1.Issuer
	Roles           []rbacv1.Role
	RoleBindings    []rbacv1.RoleBinding

	ClusterRoles        []rbacv1.ClusterRole
	ClusterRoleBindings []rbacv1.ClusterRoleBinding

	// Served is what was seen of the serving certificate on the wire.
	Served []Served
	// Converted are reads in both versions, one per kind.
	Converted []Converted

	// Unread says of each resource that could not be read why.
	Unread map[string]unread

	accepted []string // see Judge
}

// unread is why a resource could not be read.
type unread struct {
	why     string
	lacking string // the right that is missing; empty if it is none
}

// Served is one server that answered, or did not, where the API server would
// call it.
type Served struct {
	Where   string // such as "Pod backupjob-webhook-0, by port-forward"
	DNSName string // that the API server asks for
	Chain   []*x509.Certificate
	TLS     uint16
	Err     string
}

// Converted are reads of one kind in both versions, one of which the API server
// answers by way of the conversion webhook if there is an object.
type Converted struct {
	Kind     string
	Version  string // of the last read
	Objects  int
	Unserved bool // the server does not serve that version
	Err      string
}

// missing lists the rights that the user lacks.
func (s *Snapshot) missing() []string {
	rights := map[string]bool{}
	for _, u := range s.Unread {
		if u.lacking != "" {
			rights[u.lacking] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(rights))...)
}

// deployment finds the Deployment of a component of ours.
func (s *Snapshot) deployment(component string) *appsv1.Deployment {
	for i := range s.Deployments {
		labels := s.Deployments[i].Spec.Template.Labels
		if labels[labelName] == operatorName && labels[labelComponent] == component {
			return &s.Deployments[i]
		}
	}
	return nil
}

// manager is the container of ours in a Deployment.
func manager(d *appsv1.Deployment) *corev1.Container {
	for i := range d.Spec.Template.Spec.Containers {
		if c := &d.Spec.Template.Spec.Containers[i]; c.Name == "manager" {
			return c
		}
	}
	return nil
}

// flagOf is the value of a flag of a container, and whether it is set.
func flagOf(c *corev1.Container, name string) (value string, set bool) {
	args := slices.Concat(c.Command, c.Args)
	for i, arg := range args {
		text, ok := strings.CutPrefix(strings.TrimPrefix(arg, "-"), "-"+name)
		switch {
		case !ok:
		case text == "" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			value, set = args[i+1], true
		case text == "":
			value, set = "true", true
		case text[0] == '=':
			value, set = text[1:], true
		}
	}
	return value, set
}

// The labels and names that all manifests of ours have.
const (
	labelName      = "app.kubernetes.io/name"
	labelComponent = "app.kubernetes.io/component"
	operatorName   = "backupjob-operator"
	webhookPart    = "webhook"
	controllerPart = "controller"

	shippedNamespace  = "backupjob-system"
	shippedWebhook    = "backupjob-webhook"
	shippedController = "backupjob-controller"
	injectAnnotation  = "cert-manager.io/inject-ca-from"
)
