// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/conversion"
	"example.com/backupjob-operator/webhooks"
)

// oldCluster is an API server of its own that has known v1alpha1 alone, with a
// looser schema than today's and without webhooks.
type oldCluster struct {
	client     client.Client
	door       *frontDoor
	kubeconfig string
	binary     string
	namespace  string
	// judged counts the requests to the webhook that defaults.
	judged atomic.Int64
	// configs are what managers applied in v1alpha1, by object and manager.
	configs map[string]map[string]*unstructured.Unstructured
	next    int
}

func startOldCluster(ctx context.Context) *oldCluster {
	GinkgoHelper()
	env := &envtest.Environment{}
	cfg, err := env.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(env.Stop)
	cfg.QPS, cfg.Burst = -1, -1
	cfg.WarningHandler = rest.NoWarnings{}
	o := &oldCluster{namespace: "default", configs: map[string]map[string]*unstructured.Unstructured{}}
	o.client, err = client.New(cfg, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	o.door = openFrontDoor(cfg)
	DeferCleanup(func() { o.door.close() })
	o.door.close()
	o.door.wrap = o.watched
	o.door.open()

	dir := GinkgoT().TempDir()
	o.kubeconfig, o.binary = filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "kubectl-backup")
	Expect(clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"it": {Server: cfg.Host, CertificateAuthorityData: cfg.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"it": {ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"it": {Cluster: "it", AuthInfo: "it"}},
		CurrentContext: "it",
	}, o.kubeconfig)).To(Succeed())
	out, err := exec.CommandContext(ctx, "go", "build", "-o", o.binary, "../../cmd/kubectl-backup").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))

	for _, crd := range typed[apiextensionsv1.CustomResourceDefinition](rendered(), "CustomResourceDefinition") {
		crd.Spec.Conversion = nil
		for _, version := range crd.Spec.Versions {
			if version.Name == "v1alpha1" {
				version.Storage = true
				loosen(version.Schema.OpenAPIV3Schema)
				crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{version}
			}
		}
		o.applyCRD(ctx, crd)
	}
	return o
}

// loosen takes every bound out of a schema, as it was before today's rules.
func loosen(props *apiextensionsv1.JSONSchemaProps) {
	*props = apiextensionsv1.JSONSchemaProps{
		Type: props.Type, Properties: props.Properties, Items: props.Items, AdditionalProperties: props.AdditionalProperties,
		XListType: props.XListType, XListMapKeys: props.XListMapKeys, XIntOrString: props.XIntOrString, Description: props.Description,
	}
	if len(props.XListMapKeys) > 0 {
		props.Items.Schema.Required = props.XListMapKeys
	}
	for name, property := range props.Properties {
		loosen(&property)
		props.Properties[name] = property
	}
	if props.Items != nil {
		required := props.Items.Schema.Required
		loosen(props.Items.Schema)
		if len(props.XListMapKeys) > 0 {
			props.Items.Schema.Required = required
		}
	}
}

// applyCRD applies a CRD as a GitOps tool does, and waits until it is served.
func (o *oldCluster) applyCRD(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	GinkgoHelper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	Expect(err).NotTo(HaveOccurred())
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion("apiextensions.k8s.io/v1")
	u.SetKind("CustomResourceDefinition")
	u.SetResourceVersion("")
	u.SetManagedFields(nil)
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	Expect(o.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("gitops"), client.ForceOwnership)).To(Succeed())
	Eventually(ctx, func(g Gomega) {
		var now apiextensionsv1.CustomResourceDefinition
		g.Expect(o.client.Get(ctx, client.ObjectKey{Name: crd.Name}, &now)).To(Succeed())
		g.Expect(established(&now)).To(BeTrue())
		for _, version := range now.Spec.Versions {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(as(version.Name, now.Spec.Names.Kind).GroupVersionKind())
			g.Expect(o.client.List(ctx, list, client.Limit(1))).To(Succeed())
		}
	}).WithTimeout(soon).Should(Succeed(), "the API server takes a moment to serve a new CRD")
}

// upgrade installs what is shipped today.
func (o *oldCluster) upgrade(ctx context.Context) {
	GinkgoHelper()
	objects := rendered()
	for _, crd := range typed[apiextensionsv1.CustomResourceDefinition](objects, "CustomResourceDefinition") {
		o.door.convertHere(crd)
		o.applyCRD(ctx, crd)
	}
	o.door.installWebhooks(o.client, objects)
	awaitWebhooks(ctx, o.client)
}

// drop takes v1alpha1 out of the CRDs.
func (o *oldCluster) drop(ctx context.Context) {
	GinkgoHelper()
	for _, crd := range o.crds(ctx) {
		crd.Spec.Conversion = nil
		crd.Spec.Versions = crd.Spec.Versions[:1]
		Expect(crd.Spec.Versions[0].Name).To(Equal("v1"))
		o.applyCRD(ctx, &crd)
	}
}

func (o *oldCluster) crds(ctx context.Context) []apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	return crdsOf(ctx, o.client)
}

// served says whether v1alpha1 is.
func (o *oldCluster) served(ctx context.Context) bool {
	GinkgoHelper()
	served := 0
	for _, crd := range o.crds(ctx) {
		for _, v := range crd.Spec.Versions {
			if v.Name == "v1alpha1" && v.Served {
				served++
			}
		}
	}
	Expect(served).To(BeElementOf(0, 2), "both kinds alike")
	return served > 0
}

// list are all objects of both kinds in a version.
func (o *oldCluster) list(ctx context.Context, version string) []unstructured.Unstructured {
	GinkgoHelper()
	var all []unstructured.Unstructured
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(as(version, kind).GroupVersionKind())
		Expect(o.client.List(ctx, list, client.InNamespace(o.namespace))).To(Succeed())
		all = append(all, list.Items...)
	}
	return all
}

func (o *oldCluster) read(ctx context.Context, version string, of *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	u := as(version, of.GetKind())
	Expect(o.client.Get(ctx, client.ObjectKeyFromObject(of), u)).To(Succeed())
	return u
}

// contents are every object in both versions, all that is not the server's own
// account of writes. v1's defaults are filled in, which the server does when it
// stores an object as v1. What others write meanwhile is left out.
func (o *oldCluster) contents(ctx context.Context) map[string]string {
	GinkgoHelper()
	found, schemas := map[string]string{}, o.schemas(ctx)
	for _, version := range versions {
		for _, u := range o.list(ctx, version) {
			if u.GetName() == busy {
				continue
			}
			u.SetResourceVersion("")
			u.SetManagedFields(nil)
			u.SetGeneration(0)
			hub := inNew(&u)
			defaulting.Default(hub.Object, schemas[u.GetKind()])
			data, err := json.Marshal([]any{u.GetAPIVersion(), hub.Object})
			Expect(err).NotTo(HaveOccurred())
			found[version+" "+key(&u)] = string(data)
		}
	}
	return found
}

// schemas are those of v1, by kind.
func (o *oldCluster) schemas(ctx context.Context) map[string]*structuralschema.Structural {
	GinkgoHelper()
	found := map[string]*structuralschema.Structural{}
	for _, crd := range o.crds(ctx) {
		for _, version := range crd.Spec.Versions {
			if version.Name != "v1" {
				continue
			}
			props := &apiextensions.JSONSchemaProps{}
			Expect(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, props, nil)).To(Succeed())
			structural, err := structuralschema.NewStructural(props)
			Expect(err).NotTo(HaveOccurred())
			found[crd.Spec.Names.Kind] = structural
		}
	}
	return found
}

// expectSame compares contents, and names only what differs.
func expectSame(got, want map[string]string) {
	GinkgoHelper()
	Expect(slices.Sorted(maps.Keys(got))).To(Equal(slices.Sorted(maps.Keys(want))))
	var differing []string
	for name, text := range got {
		if text != want[name] {
			differing = append(differing, name+"\nis  "+text+"\nwas "+want[name])
		}
	}
	Expect(len(differing)).To(BeZero(), "%d objects differ, such as\n%s", len(differing), strings.Join(differing[:min(len(differing), 3)], "\n"))
}

// raw is all that a step could have changed.
func (o *oldCluster) raw(ctx context.Context) map[string]string {
	GinkgoHelper()
	raw := map[string]string{}
	for _, u := range o.list(ctx, "v1") {
		raw[key(&u)] = u.GetResourceVersion()
	}
	for _, crd := range o.crds(ctx) {
		raw[crd.Name] = crd.ResourceVersion
	}
	return raw
}

// managersOf counts the entries of managedFields that say a version.
func (o *oldCluster) managersOf(ctx context.Context, version string) int {
	GinkgoHelper()
	n := 0
	for _, u := range o.list(ctx, "v1") {
		for _, entry := range u.GetManagedFields() {
			if entry.APIVersion == backupv1.GroupName+"/"+version {
				n++
			}
		}
	}
	return n
}

func (o *oldCluster) apply(ctx context.Context, manager string, config *unstructured.Unstructured) error {
	return o.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config.DeepCopy()), client.FieldOwner(manager))
}

// inNew is a config of v1alpha1 in v1.
func inNew(config *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	raw, err := config.MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	converted, err := conversion.Convert(raw, backupv1.GroupVersion.String())
	Expect(err).NotTo(HaveOccurred())
	u := &unstructured.Unstructured{}
	Expect(u.UnmarshalJSON(converted)).To(Succeed())
	return u
}

// watched counts what is judged, and serves the webhook of another team.
func (o *oldCluster) watched(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/policy":
			var review admissionv1.AdmissionReview
			if json.NewDecoder(r.Body).Decode(&review) != nil {
				http.Error(w, "no review", http.StatusBadRequest)
				return
			}
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "this backup needs an owner"}}
			review.Request = nil
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(review)
			return
		case webhooks.PathConvert:
		default:
			o.judged.Add(1)
		}
		next.ServeHTTP(w, r)
	})
}

const policyName = "owners.policy.example.com"

// refuse has the webhook of another team refuse each write of one object.
func (o *oldCluster) refuse(ctx context.Context, name string) {
	GinkgoHelper()
	rule := admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{backupv1.GroupName}, APIVersions: []string{"*"}, Resources: []string{"backupjobs"}},
	}
	Expect(o.client.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: policyName, Rules: []admissionregistrationv1.RuleWithOperations{rule}, AdmissionReviewVersions: []string{"v1"},
			SideEffects:     new(admissionregistrationv1.SideEffectClassNone),
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "one", Expression: fmt.Sprintf("object.metadata.name == %q", name)}},
			ClientConfig:    admissionregistrationv1.WebhookClientConfig{URL: new(o.door.url("/policy")), CABundle: o.door.bundle},
		}},
	})).To(Succeed())
	u := as("v1", backupv1.KindBackupJob)
	u.SetNamespace(o.namespace)
	u.SetName(name)
	Eventually(ctx, func() error {
		return o.client.Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte("{}")), client.DryRunAll)
	}).WithTimeout(soon).Should(MatchError(ContainSubstring("needs an owner")), "a configuration takes a moment to reach the admission chain")
}

func (o *oldCluster) acceptAll(ctx context.Context) {
	GinkgoHelper()
	Expect(o.client.Delete(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: policyName}})).To(Succeed())
	u := as("v1", backupv1.KindBackupJob)
	u.SetNamespace(o.namespace)
	u.SetName("bj-1")
	Eventually(ctx, func() error {
		return o.client.Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte("{}")), client.DryRunAll)
	}).WithTimeout(soon).Should(Succeed())
}

func (o *oldCluster) awaitJudged(ctx context.Context, n int64) {
	GinkgoHelper()
	until := o.judged.Load() + n
	Eventually(ctx, o.judged.Load).WithTimeout(5*soon).Should(BeNumerically(">=", until), "writes must go on")
}

// lockedBuffer is a buffer that a process writes to while it is read.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
