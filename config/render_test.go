// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package config_test renders the manifests the way that users do, with
// kubectl, and checks what comes out.
package config_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
)

// manifests are rendered documents, decoded strictly.
type manifests []client.Object

// render returns what kubectl makes of one folder of config/.
func render(t *testing.T, folder string) manifests {
	t.Helper()
	return decode(t, kustomize(t, folder))
}

// namespaceLine is the line of config/default that says where to install.
const namespaceLine = "namespace: backupjob-system"

// renderChanged renders config/default with other lines instead of
// namespaceLine.
func renderChanged(t *testing.T, replacement string) manifests {
	t.Helper()
	return render(t, filepath.Join(changedCopy(t, replacement), "default"))
}

// changedCopy returns a copy of config/ whose default has other lines instead
// of namespaceLine.
func changedCopy(t *testing.T, replacement string) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.CopyFS(root, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "default", "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), namespaceLine); n != 1 {
		t.Fatalf("default/kustomization.yaml holds %q %d times, want once", namespaceLine, n)
	}
	changed := strings.Replace(string(text), namespaceLine, replacement, 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func kustomize(t *testing.T, folder string) []byte {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set; it must name the folder with kubectl, which `go run -C test/cluster . assets` builds and prints")
	}
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), filepath.Join(assets, "kubectl"), "kustomize", folder)
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v\n%s", folder, err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("kubectl kustomize %s warns:\n%s", folder, stderr.String())
	}
	return output
}

func documents(t *testing.T, data []byte) [][]byte {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var all [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, document)
	}
}

func decode(t *testing.T, data []byte) manifests {
	t.Helper()
	decoder := serializer.NewCodecFactory(newScheme(t), serializer.EnableStrict).UniversalDeserializer()
	var all manifests
	for _, document := range documents(t, data) {
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("decode strictly: %v\n%s", err, document)
		}
		all = append(all, object.(client.Object))
	}
	return all
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme,
		schedulingv1.AddToScheme, admissionregistrationv1.AddToScheme, apiextensionsv1.AddToScheme, certmanagerv1.AddToScheme,
		backupv1.AddToScheme, backupv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// all returns the objects of one Go type.
func all[T client.Object](m manifests) []T {
	var found []T
	for _, object := range m {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

// named returns the one object of a Go type and a name.
func named[T client.Object](t *testing.T, m manifests, name string) T {
	t.Helper()
	for _, object := range all[T](m) {
		if object.GetName() == name {
			return object
		}
	}
	var none T
	t.Fatalf("nothing of type %T is called %q", none, name)
	return none
}

// walk calls visit for every key of a decoded document, with its path.
func walk(node any, path string, visit func(path, key string, value any)) {
	switch typed := node.(type) {
	case map[string]any:
		for key, value := range typed {
			visit(path, key, value)
			walk(value, path+"."+key, visit)
		}
	case []any:
		for _, item := range typed {
			walk(item, path+"[]", visit)
		}
	}
}

func untyped(t *testing.T, document []byte) map[string]any {
	t.Helper()
	var node map[string]any
	if err := yaml.Unmarshal(document, &node); err != nil {
		t.Fatal(err)
	}
	return node
}
