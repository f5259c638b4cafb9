// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestOneLineChangesTheNamespace(t *testing.T) {
	m := renderChanged(t, "namespace: elsewhere")
	checkReferences(t, m, "elsewhere", "")
	named[*corev1.Namespace](t, m, "elsewhere")
}

func TestOneLineAddsANamePrefix(t *testing.T) {
	m := renderChanged(t, namespaceLine+"\nnamePrefix: team-a-")
	checkReferences(t, m, ourNamespace, "team-a-")
}

func TestNamespaceAndPrefixTogether(t *testing.T) {
	m := renderChanged(t, "namespace: elsewhere\nnamePrefix: team-a-")
	checkReferences(t, m, "elsewhere", "team-a-")
}

func TestTheAgentFollowsTheOperatorsImage(t *testing.T) {
	m := renderChanged(t, namespaceLine+`
images:
- name: backup.example.com/backupjob-operator
  newName: mirror.example.com/backups/operator
  newTag: v9.9.9`)
	want := "mirror.example.com/backups/operator:v9.9.9"
	for _, deployment := range all[*appsv1.Deployment](m) {
		if got := deployment.Spec.Template.Spec.Containers[0].Image; got != want {
			t.Errorf("%s runs %s, want %s", deployment.Name, got, want)
		}
	}
	args := named[*appsv1.Deployment](t, m, "backupjob-controller").Spec.Template.Spec.Containers[0].Args
	if !strings.Contains(strings.Join(args, " ")+" ", "--agent-image="+want+" ") {
		t.Errorf("the controller is started with %v, want the agent from %s", args, want)
	}
}

// checkReferences follows everything that names something else.
func checkReferences(t *testing.T, m manifests, namespace, prefix string) {
	t.Helper()
	checkInjection(t, m, namespace, namespace+"/"+prefix+"backupjob-webhook-tls")
	checkBindings(t, m)
	service := named[*corev1.Service](t, m, prefix+"backupjob-webhook")
	certificate := named[*certmanagerv1.Certificate](t, m, prefix+"backupjob-webhook-tls")
	if diff := cmp.Diff([]string{service.Name + "." + namespace + ".svc"}, certificate.Spec.DNSNames); diff != "" {
		t.Errorf("names in the certificate (-want +got):\n%s", diff)
	}
	for _, certificate := range all[*certmanagerv1.Certificate](m) {
		named[*certmanagerv1.Issuer](t, m, certificate.Spec.IssuerRef.Name)
	}
	for _, called := range calledServices(m) {
		if called != [2]string{namespace, service.Name} {
			t.Errorf("the API server calls %v, want %s/%s", called, namespace, service.Name)
		}
	}
	for _, binding := range all[*admissionregistrationv1.ValidatingAdmissionPolicyBinding](m) {
		named[*admissionregistrationv1.ValidatingAdmissionPolicy](t, m, binding.Spec.PolicyName)
	}
	account := named[*corev1.ServiceAccount](t, m, prefix+"backupjob-controller")
	wantWriter := `"system:serviceaccount:" + "` + account.Namespace + `" + ":" + "` + account.Name + `"`
	status := named[*admissionregistrationv1.ValidatingAdmissionPolicy](t, m, prefix+"backupjob-status").Spec
	jobs := named[*admissionregistrationv1.ValidatingAdmissionPolicy](t, m, prefix+"backupjob-jobs").Spec
	for _, got := range []string{status.Variables[0].Expression, jobs.MatchConditions[0].Expression} {
		if !strings.HasSuffix(got, wantWriter) {
			t.Errorf("the controller's account is %s, want %s", got, wantWriter)
		}
	}
	for _, deployment := range all[*appsv1.Deployment](m) {
		named[*corev1.ServiceAccount](t, m, deployment.Spec.Template.Spec.ServiceAccountName)
		named[*schedulingv1.PriorityClass](t, m, deployment.Spec.Template.Spec.PriorityClassName)
	}
}

func checkInjection(t *testing.T, m manifests, namespace, certificate string) {
	t.Helper()
	for _, object := range m {
		if object.GetNamespace() != "" && object.GetNamespace() != namespace {
			t.Errorf("%T %s is in namespace %s", object, object.GetName(), object.GetNamespace())
		}
		want := ""
		if wantsInjection(object) {
			want = certificate
		}
		if got := object.GetAnnotations()["cert-manager.io/inject-ca-from"]; got != want {
			t.Errorf("%T %s is injected from %q, want %q", object, object.GetName(), got, want)
		}
	}
}

func checkBindings(t *testing.T, m manifests) {
	t.Helper()
	subjects := map[string]rbacv1.Subject{}
	for _, binding := range all[*rbacv1.ClusterRoleBinding](m) {
		named[*rbacv1.ClusterRole](t, m, binding.RoleRef.Name)
		subjects[binding.Name] = binding.Subjects[0]
	}
	for _, binding := range all[*rbacv1.RoleBinding](m) {
		named[*rbacv1.Role](t, m, binding.RoleRef.Name)
		subjects[binding.Name] = binding.Subjects[0]
	}
	for name, subject := range subjects {
		if account := named[*corev1.ServiceAccount](t, m, subject.Name); account.Namespace != subject.Namespace {
			t.Errorf("%s binds an account of namespace %s", name, subject.Namespace)
		}
	}
}

func wantsInjection(object client.Object) bool {
	switch object.(type) {
	case *apiextensionsv1.CustomResourceDefinition, *admissionregistrationv1.MutatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfiguration:
		return true
	}
	return false
}

// calledServices lists namespace and name wherever the API server calls us.
func calledServices(m manifests) [][2]string {
	var called [][2]string
	for _, configuration := range all[*admissionregistrationv1.MutatingWebhookConfiguration](m) {
		for _, webhook := range configuration.Webhooks {
			called = append(called, [2]string{webhook.ClientConfig.Service.Namespace, webhook.ClientConfig.Service.Name})
		}
	}
	for _, configuration := range all[*admissionregistrationv1.ValidatingWebhookConfiguration](m) {
		for _, webhook := range configuration.Webhooks {
			called = append(called, [2]string{webhook.ClientConfig.Service.Namespace, webhook.ClientConfig.Service.Name})
		}
	}
	for _, definition := range all[*apiextensionsv1.CustomResourceDefinition](m) {
		service := definition.Spec.Conversion.Webhook.ClientConfig.Service
		called = append(called, [2]string{service.Namespace, service.Name})
	}
	return called
}

// TestEveryFileIsUsed: a manifest that no kustomization names is never
// applied, and nobody notices.
func TestEveryFileIsUsed(t *testing.T) {
	used, present := map[string]bool{}, map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		if entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		if filepath.Base(path) != "kustomization.yaml" {
			present[path] = true
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, file := range namedFiles(t, data) {
			used[filepath.Join(filepath.Dir(path), file)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range present {
		if !used[file] {
			t.Errorf("%s stands in no kustomization", file)
		}
	}
}

func namedFiles(t *testing.T, kustomization []byte) []string {
	t.Helper()
	var content struct {
		Resources      []string
		Configurations []string
		Transformers   []string
		Patches        []struct{ Path string }
		Replacements   []struct{ Path string }
	}
	if err := yaml.Unmarshal(kustomization, &content); err != nil {
		t.Fatal(err)
	}
	files := slices.Concat(content.Resources, content.Configurations, content.Transformers)
	for _, list := range [][]struct{ Path string }{content.Patches, content.Replacements} {
		for _, item := range list {
			files = append(files, item.Path)
		}
	}
	return files
}
