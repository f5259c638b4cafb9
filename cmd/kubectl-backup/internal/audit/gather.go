// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// gatherer reads a cluster. It only gets and lists.
type gatherer struct {
	client client.Client
	s      *Snapshot
	given  bool  // the caller names the namespace
	err    error // the first that says nothing about the cluster
}

// Gather reads what the checks need. Whatever cannot be read is noted; the
// rest is read all the same. An empty namespace means the one that the API
// server calls.
func Gather(ctx context.Context, c client.Client, namespace string, now time.Time) (*Snapshot, error) {
	g := &gatherer{client: c, given: namespace != "", s: &Snapshot{Now: now, Namespace: namespace, Unread: map[string]unread{}}}
	g.definitions(ctx)
	g.s.Mutating = read(ctx, g, &admissionregistrationv1.MutatingWebhookConfigurationList{}, configurations, "").Items
	g.s.Validating = read(ctx, g, &admissionregistrationv1.ValidatingWebhookConfigurationList{}, validations, "").Items
	g.s.Policies = read(ctx, g, &admissionregistrationv1.ValidatingAdmissionPolicyList{}, policies, "").Items
	g.s.PolicyBindings = read(ctx, g, &admissionregistrationv1.ValidatingAdmissionPolicyBindingList{}, policyBindings, "").Items
	g.s.ClusterRoles = read(ctx, g, &rbacv1.ClusterRoleList{}, clusterRoles, "").Items
	g.s.ClusterRoleBindings = read(ctx, g, &rbacv1.ClusterRoleBindingList{}, clusterRoleBindings, "").Items
	g.place()
	g.namespaced(ctx)
	g.convert(ctx)
	return g.s, g.err
}

// place finds out where the operator is, which is where most of its callers
// look for it, and what is in front of its names.
func (g *gatherer) place() {
	count, most := map[string]int{}, 0
	for _, t := range g.s.targets() {
		if t.service == "" {
			continue
		}
		key := t.namespace + "/" + t.service
		if count[key]++; count[key] <= most {
			continue
		}
		most = count[key]
		g.s.Prefix = ""
		if prefix, ok := strings.CutSuffix(t.service, shippedWebhook); ok {
			g.s.Prefix = prefix
		}
		if !g.given {
			g.s.Namespace = t.namespace
		}
	}
	if g.s.Namespace == "" {
		g.s.Namespace = shippedNamespace
	}
}

func (g *gatherer) namespaced(ctx context.Context) {
	in := g.s.Namespace
	g.s.Deployments = read(ctx, g, &appsv1.DeploymentList{}, deployments, in).Items
	g.s.Pods = read(ctx, g, &corev1.PodList{}, pods, in).Items
	g.s.Services = read(ctx, g, &corev1.ServiceList{}, "services", in).Items
	g.s.Budgets = read(ctx, g, &policyv1.PodDisruptionBudgetList{}, budgets, in).Items
	g.s.NetworkPolicies = read(ctx, g, &networkingv1.NetworkPolicyList{}, networkPolicies, in).Items
	g.s.Certificates = read(ctx, g, &certmanagerv1.CertificateList{}, certificates, in).Items
	g.s.Issuers = read(ctx, g, &certmanagerv1.IssuerList{}, issuers, in).Items
	g.s.Roles = read(ctx, g, &rbacv1.RoleList{}, roles, in).Items
	g.s.RoleBindings = read(ctx, g, &rbacv1.RoleBindingList{}, roleBindings, in).Items
	if err := g.client.Get(ctx, client.ObjectKey{Name: in}, &g.s.Operator); err != nil {
		g.unread("get", namespaces, "", err)
	}
}

// definitions reads our CRDs by name, which takes less of a right than to list
// all of them.
func (g *gatherer) definitions(ctx context.Context) {
	for _, plural := range plurals {
		var d apiextensionsv1.CustomResourceDefinition
		err := g.client.Get(ctx, client.ObjectKey{Name: plural + "." + groupName}, &d)
		switch {
		case err == nil:
			g.s.CRDs = append(g.s.CRDs, d)
		case !apierrors.IsNotFound(err):
			g.unread("get", definitions, "", err)
		}
	}
}

// convert has the API server show one object of each kind in both versions.
func (g *gatherer) convert(ctx context.Context) {
	for _, kind := range []string{backupv1.KindBackupJob, backupv1.KindMySQLBackup} {
		c, err := g.inBothVersions(ctx, kind)
		if err != nil {
			g.unread("list", oldObjects, "", err)
			continue
		}
		g.s.Converted = append(g.s.Converted, c)
	}
}

// inBothVersions reads the first object: it is stored in one of them, so the
// other goes through the webhook. No other request of someone who only reads
// does. The error is that there is no right to.
func (g *gatherer) inBothVersions(ctx context.Context, kind string) (Converted, error) {
	c := Converted{Kind: kind}
	for _, c.Version = range []string{oldVersion, versionName} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: groupName, Version: c.Version, Kind: kind + "List"})
		err := g.client.List(ctx, list, client.Limit(1))
		switch {
		case apierrors.IsForbidden(err):
			return c, err
		case apierrors.IsNotFound(err):
			c.Unserved = true
			return c, nil
		case err != nil:
			c.Err = err.Error()
			return c, nil //nolint:nilerr // it is what is reported
		}
		c.Objects = len(list.Items)
	}
	return c, nil
}

// read lists a resource. The list stays empty where it cannot be read.
func read[L client.ObjectList](ctx context.Context, g *gatherer, list L, resource, namespace string) L {
	if err := g.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		g.unread("list", resource, namespace, err)
	}
	return list
}

func (g *gatherer) unread(verb, resource, namespace string, err error) {
	where := ""
	if namespace != "" {
		where = " in namespace " + namespace
	}
	switch {
	case apierrors.IsForbidden(err):
		right := verb + " " + resource + where
		g.s.Unread[resource] = unread{why: "you have no right to " + right, lacking: right}
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		g.s.Unread[resource] = unread{why: fmt.Sprintf("the cluster has no %s%s", resource, where)}
	default:
		// A server that cannot be asked is not one that was looked at.
		if g.err == nil {
			g.err = fmt.Errorf("%s %s%s: %w", verb, resource, where, err)
		}
	}
}
