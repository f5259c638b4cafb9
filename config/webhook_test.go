// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/config/crd"
)

// hook is what both webhook configurations say of one webhook.
type hook struct {
	name, path     string
	service        *admissionregistrationv1.ServiceReference
	rules          []admissionregistrationv1.RuleWithOperations
	match          *admissionregistrationv1.MatchPolicyType
	failure        *admissionregistrationv1.FailurePolicyType
	sideEffects    *admissionregistrationv1.SideEffectClass
	timeout        *int32
	reviewVersions []string
	exempt         bool
}

func hooks(t *testing.T, m manifests) map[string][]hook {
	t.Helper()
	found := map[string][]hook{}
	for _, w := range named[*admissionregistrationv1.MutatingWebhookConfiguration](t, m, "backupjob-webhook").Webhooks {
		found["mutate"] = append(found["mutate"], hook{
			w.Name, *w.ClientConfig.Service.Path, w.ClientConfig.Service, w.Rules, w.MatchPolicy, w.FailurePolicy,
			w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions,
			w.NamespaceSelector != nil || w.ObjectSelector != nil || len(w.MatchConditions) > 0,
		})
	}
	for _, w := range named[*admissionregistrationv1.ValidatingWebhookConfiguration](t, m, "backupjob-webhook").Webhooks {
		found["validate"] = append(found["validate"], hook{
			w.Name, *w.ClientConfig.Service.Path, w.ClientConfig.Service, w.Rules, w.MatchPolicy, w.FailurePolicy,
			w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions,
			w.NamespaceSelector != nil || w.ObjectSelector != nil || len(w.MatchConditions) > 0,
		})
	}
	return found
}

func TestWebhooksFailClosedAndHaveNoSideEffects(t *testing.T) {
	for verb, list := range hooks(t, render(t, "default")) {
		if len(list) != 2 {
			t.Errorf("%d webhooks that %s, want one per kind", len(list), verb)
		}
		for _, h := range list {
			t.Run(h.name, func(t *testing.T) { checkHook(t, h) })
		}
	}
}

func checkHook(t *testing.T, h hook) {
	t.Helper()
	if h.match == nil || *h.match != admissionregistrationv1.Equivalent {
		t.Error("matchPolicy must be Equivalent, or a version that is not listed goes by unseen")
	}
	if h.failure == nil || *h.failure != admissionregistrationv1.Fail {
		t.Error("failurePolicy must be Fail")
	}
	if h.sideEffects == nil || *h.sideEffects != admissionregistrationv1.SideEffectClassNone {
		t.Error("sideEffects must be None, or dry runs are refused")
	}
	if h.timeout == nil || *h.timeout < 1 || *h.timeout > 10 {
		t.Error("timeoutSeconds must be from 1 to 10")
	}
	if diff := cmp.Diff([]string{"v1"}, h.reviewVersions); diff != "" {
		t.Errorf("admissionReviewVersions (-want +got):\n%s", diff)
	}
	if h.exempt {
		t.Error("a selector or a match condition would exempt objects")
	}
}

// TestWebhookRulesCoverEveryServedVersion is exact, so it also shows that no
// rule holds a wildcard, a core kind, a subresource or a DELETE.
func TestWebhookRulesCoverEveryServedVersion(t *testing.T) {
	want := servedResources(t)
	for verb, list := range hooks(t, render(t, "default")) {
		var got []string
		for _, h := range list {
			for _, rule := range h.rules {
				got = append(got, expand(t, h.name, rule)...)
				if want := "/" + verb + "-" + strings.TrimSuffix(rule.Resources[0], "s"); h.path != want {
					t.Errorf("%s: path %q, want %q", h.name, h.path, want)
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rules of the webhooks that %s (-served +covered):\n%s", verb, diff)
		}
	}
}

// servedResources lists group/version/resource of what both CRDs serve.
func servedResources(t *testing.T) []string {
	t.Helper()
	definitions, err := crd.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	return servedBy(definitions)
}

func servedBy(definitions []*apiextensionsv1.CustomResourceDefinition) []string {
	var served []string
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			if version.Served {
				served = append(served, definition.Spec.Group+"/"+version.Name+"/"+definition.Spec.Names.Plural)
			}
		}
	}
	slices.Sort(served)
	return served
}

// expand lists what a rule matches, as group/version/resource.
func expand(t *testing.T, name string, rule admissionregistrationv1.RuleWithOperations) []string {
	t.Helper()
	operations := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	if diff := cmp.Diff(operations, rule.Operations); diff != "" {
		t.Errorf("%s: operations (-want +got):\n%s", name, diff)
	}
	if rule.Scope == nil || *rule.Scope != admissionregistrationv1.NamespacedScope {
		t.Errorf("%s: scope must be Namespaced", name)
	}
	return matched(rule.Rule)
}

func matched(rule admissionregistrationv1.Rule) []string {
	var found []string
	for _, group := range rule.APIGroups {
		for _, version := range rule.APIVersions {
			for _, resource := range rule.Resources {
				found = append(found, group+"/"+version+"/"+resource)
			}
		}
	}
	return found
}

func TestEveryWebhookReachesTheService(t *testing.T) {
	m := render(t, "default")
	service := named[*corev1.Service](t, m, "backupjob-webhook")
	if len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != 443 {
		t.Fatalf("the Service has ports %v, want 443 only", service.Spec.Ports)
	}
	for _, list := range hooks(t, m) {
		for _, h := range list {
			if h.service.Name != service.Name || h.service.Namespace != service.Namespace || *h.service.Port != 443 {
				t.Errorf("%s calls %v, want %s/%s on 443", h.name, h.service, service.Namespace, service.Name)
			}
		}
	}
	wantConversion := apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{
				Namespace: service.Namespace, Name: service.Name, Path: new("/convert"), Port: new(int32(443)),
			}},
		},
	}
	for _, definition := range all[*apiextensionsv1.CustomResourceDefinition](m) {
		if diff := cmp.Diff(&wantConversion, definition.Spec.Conversion); diff != "" {
			t.Errorf("conversion of %s (-want +got):\n%s", definition.Name, diff)
		}
	}
}

// TestNoManifestHasACABundle: a key of ours, even an empty one, would take the
// injected bundle away at the next apply.
func TestNoManifestHasACABundle(t *testing.T) {
	check := func(where string, data []byte) {
		for _, document := range documents(t, data) {
			walk(untyped(t, document), "", func(path, key string, _ any) {
				if strings.EqualFold(key, "caBundle") {
					t.Errorf("%s: %s.%s", where, path, key)
				}
			})
		}
	}
	for _, folder := range []string{"default", v1Only} {
		check("rendered config/"+folder, kustomize(t, folder))
	}
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && !isList(data) {
			check(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isList tells the replacements file, a list at its top, from manifests.
func isList(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			return strings.HasPrefix(line, "- ")
		}
	}
	return false
}

func TestBothKindsOfOurGroupAreInstalled(t *testing.T) {
	var kinds []string
	for _, definition := range all[*apiextensionsv1.CustomResourceDefinition](render(t, "default")) {
		if definition.Spec.Group == backupv1.GroupName {
			kinds = append(kinds, definition.Spec.Names.Kind)
		}
	}
	slices.Sort(kinds)
	if diff := cmp.Diff([]string{backupv1.KindBackupJob, backupv1.KindMySQLBackup}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}
