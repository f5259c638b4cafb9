// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// anEarlierRelease makes both CRDs those of a release that stored v1alpha1 and
// knew no bounds yet, until back is called or the spec ends.
func anEarlierRelease(ctx context.Context, loosen bool) (back func(context.Context)) {
	GinkgoHelper()
	restore := keepCRDs(ctx)
	changeCRDs(ctx, func(crd *apiextensionsv1.CustomResourceDefinition) {
		for i := range crd.Spec.Versions {
			v := &crd.Spec.Versions[i]
			v.Storage = v.Name == "v1alpha1"
			if loosen {
				anything := &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
				v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: anything}
			}
		}
	})
	awaitStorage(ctx, "v1alpha1")
	lock := func() {}
	if loosen {
		lock = withoutInvariants(ctx)
	}
	done := false
	back = func(ctx context.Context) {
		if done {
			return
		}
		done = true
		restore(ctx)
		awaitStorage(ctx, "v1")
		lock()
	}
	DeferCleanup(back)
	return back
}

// keepCRDs notes what both CRDs are, and returns what makes them so again.
func keepCRDs(ctx context.Context) (restore func(context.Context)) {
	GinkgoHelper()
	today := map[string]*apiextensionsv1.CustomResourceDefinitionSpec{}
	for _, crd := range crds(ctx) {
		today[crd.Name] = crd.Spec.DeepCopy()
	}
	return func(ctx context.Context) {
		changeCRDs(ctx, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec = *today[crd.Name] })
		awaitStrictness(ctx)
	}
}

// forgetStoredVersions says that only v1 is stored, as it is true once the
// objects of a spec are gone.
func forgetStoredVersions(ctx context.Context) {
	GinkgoHelper()
	for _, crd := range crds(ctx) {
		crd.Status.StoredVersions = []string{"v1"}
		Expect(admin.Status().Update(ctx, &crd)).To(Succeed())
	}
}

func changeCRDs(ctx context.Context, change func(*apiextensionsv1.CustomResourceDefinition)) {
	GinkgoHelper()
	for _, crd := range crds(ctx) {
		Eventually(ctx, func() error {
			if err := admin.Get(ctx, client.ObjectKeyFromObject(&crd), &crd); err != nil {
				return err
			}
			change(&crd)
			return admin.Update(ctx, &crd)
		}).WithTimeout(soon).Should(Succeed(), "the server writes the CRD's status meanwhile")
	}
}

// awaitStorage waits until what is written is stored in a version.
func awaitStorage(ctx context.Context, version string) {
	GinkgoHelper()
	ns := probeNamespace(ctx)
	for _, kind := range kinds {
		Eventually(ctx, func(g Gomega) {
			u := object("v1", kind, ns, "probe", nil)
			g.Expect(client.IgnoreNotFound(admin.Delete(ctx, u.DeepCopy()))).To(Succeed())
			g.Expect(admin.Create(ctx, u)).To(Succeed())
			g.Expect(inStore(ctx, kind, ns, "probe")["apiVersion"]).To(Equal(backupv1.GroupName + "/" + version))
		}).WithTimeout(soon).Should(Succeed(), "the server takes a moment to take up a changed CRD")
		Expect(admin.Delete(ctx, object("v1", kind, ns, "probe", nil))).To(Succeed())
	}
}

func awaitStrictness(ctx context.Context) {
	GinkgoHelper()
	ns := probeNamespace(ctx)
	for _, kind := range kinds {
		for _, version := range versions {
			Eventually(ctx, func() error {
				return admin.Create(ctx, object(version, kind, ns, "probe", map[string]any{"maxRetries": int64(-1)}), client.DryRunAll)
			}).WithTimeout(soon).Should(MatchError(ContainSubstring("maxRetries")), "the server takes a moment to take up a changed CRD")
		}
	}
}

// probeNamespace stays until the end of the suite, so that it serves clean-ups
// too.
func probeNamespace(ctx context.Context) string {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "probes", Labels: map[string]string{labelNoWebhooks: ""}}}
	Expect(client.IgnoreAlreadyExists(admin.Create(ctx, ns))).To(Succeed())
	return ns.Name
}

func plural(kind string) string { return strings.ToLower(kind) + "s" }

// etcd calls a method of etcd's own API.
func etcd(ctx context.Context, method string, request, answer any) {
	GinkgoHelper()
	body, err := json.Marshal(request)
	Expect(err).NotTo(HaveOccurred())
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, etcdURL+"/v3/kv/"+method, bytes.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(post)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(response.Body.Close()).To(Succeed()) }()
	Expect(response.StatusCode).To(Equal(http.StatusOK))
	Expect(json.NewDecoder(response.Body).Decode(answer)).To(Succeed())
}

func etcdKey(kind, namespace, name string) []byte {
	return []byte("/registry/" + backupv1.GroupName + "/" + plural(kind) + "/" + namespace + "/" + name)
}

// inStore is an object as etcd holds it.
func inStore(ctx context.Context, kind, namespace, name string) map[string]any {
	GinkgoHelper()
	var answer struct{ Kvs []struct{ Value []byte } }
	etcd(ctx, "range", map[string]any{"key": etcdKey(kind, namespace, name)}, &answer)
	Expect(answer.Kvs).To(HaveLen(1))
	var object map[string]any
	Expect(json.Unmarshal(answer.Kvs[0].Value, &object)).To(Succeed())
	return object
}

// store writes an object straight into etcd, past every rule.
func store(ctx context.Context, u *unstructured.Unstructured) {
	GinkgoHelper()
	u.SetUID(types.UID("stored-" + u.GetName()))
	u.SetCreationTimestamp(metav1.Now())
	u.SetGeneration(1)
	raw, err := u.MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	var answer struct{}
	etcd(ctx, "put", map[string]any{"key": etcdKey(u.GetKind(), u.GetNamespace(), u.GetName()), "value": raw}, &answer)
}
