// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// labelNoWebhooks on a namespace takes it out of both webhook configurations,
// as if they had been deleted. Conversion stays.
const labelNoWebhooks = "integration.test/no-webhooks"

// rendered are the objects of config/default, as kubectl renders them.
func rendered() []*unstructured.Unstructured {
	GinkgoHelper()
	return renderedFrom("../../config/default")
}

func renderedFrom(folder string) []*unstructured.Unstructured {
	GinkgoHelper()
	kubectl := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	out, err := exec.Command(kubectl, "kustomize", folder).Output()
	Expect(err).NotTo(HaveOccurred())
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096)
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(u)
		if errors.Is(err, io.EOF) {
			return objects
		}
		Expect(err).NotTo(HaveOccurred())
		objects = append(objects, u)
	}
}

// typed returns the rendered objects of T's kind.
func typed[T any](objects []*unstructured.Unstructured, kind string) []*T {
	GinkgoHelper()
	var found []*T
	for _, u := range objects {
		if u.GetKind() == kind {
			t := new(T)
			Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, t)).To(Succeed())
			found = append(found, t)
		}
	}
	return found
}

// installManifests applies what is shipped, but for what needs Pods.
func installManifests(c client.Client, door *frontDoor) {
	GinkgoHelper()
	ctx, objects := context.Background(), rendered()
	installWebhooks(c, door)
	for _, policy := range typed[admissionregistrationv1.ValidatingAdmissionPolicy](objects, "ValidatingAdmissionPolicy") {
		Expect(c.Create(ctx, policy)).To(Succeed())
	}
	for _, binding := range typed[admissionregistrationv1.ValidatingAdmissionPolicyBinding](objects, "ValidatingAdmissionPolicyBinding") {
		Expect(c.Create(ctx, binding)).To(Succeed())
	}
	awaitSecondLock(ctx, c)
}

// installWebhooks applies CRDs and webhook configurations as they are shipped,
// but for the address: a URL on the loopback instead of the Service, and the
// bundle that cainjector would fill in.
func installWebhooks(c client.Client, door *frontDoor) {
	GinkgoHelper()
	ctx := context.Background()
	objects := rendered()
	for _, crd := range typed[apiextensionsv1.CustomResourceDefinition](objects, "CustomResourceDefinition") {
		door.convertHere(crd)
		Expect(c.Create(ctx, crd)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(crd), crd)).To(Succeed())
			g.Expect(established(crd)).To(BeTrue())
		}).WithTimeout(soon).Should(Succeed(), "the API server takes a moment to serve a new CRD")
	}
	door.installWebhooks(c, objects)
	awaitWebhooks(ctx, c)
}

// installWebhooks makes the webhook configurations that are among the objects.
func (d *frontDoor) installWebhooks(c client.Client, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	ctx := context.Background()
	for _, m := range typed[admissionregistrationv1.MutatingWebhookConfiguration](objects, "MutatingWebhookConfiguration") {
		for i := range m.Webhooks {
			d.redirect(&m.Webhooks[i].ClientConfig)
			m.Webhooks[i].NamespaceSelector = webhookNamespaces()
		}
		Expect(c.Create(ctx, m)).To(Succeed())
	}
	for _, v := range typed[admissionregistrationv1.ValidatingWebhookConfiguration](objects, "ValidatingWebhookConfiguration") {
		for i := range v.Webhooks {
			d.redirect(&v.Webhooks[i].ClientConfig)
			v.Webhooks[i].NamespaceSelector = webhookNamespaces()
		}
		Expect(c.Create(ctx, v)).To(Succeed())
	}
}

func webhookNamespaces() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: labelNoWebhooks, Operator: metav1.LabelSelectorOpDoesNotExist},
	}}
}

// crds are both CustomResourceDefinitions as the server has them.
func crds(ctx context.Context) []apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	return crdsOf(ctx, admin)
}

func crdsOf(ctx context.Context, c client.Client) []apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	var found []apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"backupjobs", "mysqlbackups"} {
		var crd apiextensionsv1.CustomResourceDefinition
		Expect(c.Get(ctx, client.ObjectKey{Name: plural + "." + backupv1.GroupName}, &crd)).To(Succeed())
		found = append(found, crd)
	}
	return found
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// awaitWebhooks waits until the API server calls both webhooks of each kind: a
// configuration takes a moment to reach its admission chain.
func awaitWebhooks(ctx context.Context, c client.Client) {
	GinkgoHelper()
	for _, kind := range kinds {
		Eventually(ctx, func() error {
			return c.Create(ctx, object("v1", kind, "default", "probe", map[string]any{"schedule": "never"}), client.DryRunAll)
		}).WithTimeout(soon).Should(MatchError(ContainSubstring("five fields")),
			"the mutating webhook of "+kind+" must refuse in our words")
	}
}

// awaitSecondLock waits until the API server holds its policies against what
// the webhooks do not see.
func awaitSecondLock(ctx context.Context, c client.Client) {
	GinkgoHelper()
	ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
	for _, kind := range kinds {
		Eventually(ctx, func() error {
			return c.Create(ctx, askingTooLong(object("v1", kind, ns, "probe", nil)), client.DryRunAll)
		}).WithTimeout(soon).Should(MatchError(ContainSubstring("backupjob-invariants")), "a policy takes a moment to be held")
	}
}
