// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// aggregateRoles runs the one controller of Kubernetes that puts our roles
// into the built-in ones, until the end of the specs.
func aggregateRoles() {
	GinkgoHelper()
	for _, role := range typed[rbacv1.ClusterRole](rendered(), "ClusterRole") {
		if strings.HasPrefix(role.Name, "backupjob-") {
			Expect(client.IgnoreAlreadyExists(admin.Create(context.Background(), role))).To(Succeed())
		}
	}
	var log bytes.Buffer
	manager := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kube-controller-manager"),
		"--kubeconfig", kubeconfigFile(), "--controllers=clusterrole-aggregation-controller", "--leader-elect=false", "--secure-port=0")
	manager.Stdout, manager.Stderr = &log, &log
	Expect(manager.Start()).To(Succeed())
	DeferCleanup(func() {
		Expect(manager.Process.Kill()).To(Succeed())
		_ = manager.Wait() // it was killed
		if CurrentSpecReport().Failed() {
			GinkgoWriter.Println(log.String())
		}
	})
}

// boundTo returns a client of a user with nothing but a ClusterRole in one
// namespace.
func boundTo(ctx context.Context, name, namespace, role string) client.Client {
	GinkgoHelper()
	Expect(admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	})).To(Succeed())
	return impersonated(name, rest.NoWarnings{})
}

func listOf(version, kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(as(version, kind).GroupVersionKind())
	return list
}

// awaitReading waits until a user may read our objects: roles reach the
// authorizer through caches.
func awaitReading(ctx context.Context, c client.Client, namespace string) {
	GinkgoHelper()
	Eventually(ctx, func() error {
		return c.List(ctx, listOf("v1", backupv1.KindMySQLBackup), client.InNamespace(namespace))
	}).WithTimeout(2*soon).Should(Succeed(), "a role takes a moment to be aggregated and to be used")
}

var forbidden = Satisfy(apierrors.IsForbidden)

var _ = Describe("The roles of users", Ordered, func() {
	BeforeAll(aggregateRoles)

	for _, kind := range kinds {
		for _, version := range versions {
			It("let who may view a namespace read "+version+" "+kind+", and nothing else", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				u := object(version, kind, ns, "a", nil)
				Expect(admin.Create(ctx, u)).To(Succeed())
				viewer := boundTo(ctx, "viewer", ns, "view")
				awaitReading(ctx, viewer, ns)
				Expect(viewer.Get(ctx, client.ObjectKeyFromObject(u), as(version, kind))).To(Succeed())
				Expect(viewer.List(ctx, listOf(version, kind), client.InNamespace(ns))).To(Succeed())

				expectNoWrites(ctx, viewer, u)
				Expect(viewer.List(ctx, &corev1.SecretList{}, client.InNamespace(ns))).To(forbidden)
			})

			It("let who may edit a namespace write "+version+" "+kind+", but no status and not all at once", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				editor := boundTo(ctx, "editor", ns, "edit")
				awaitReading(ctx, editor, ns)
				u := object(version, kind, ns, "a", nil)
				Expect(editor.Create(ctx, u)).To(Succeed(), "the built-in role may read the namespace's Secrets")
				Expect(editor.Update(ctx, set(u, true, "spec", "suspend"))).To(Succeed())
				Expect(editor.Status().Update(ctx, set(u.DeepCopy(), "Failed", "status", "lastResult"))).To(forbidden)
				Expect(editor.DeleteAllOf(ctx, as(version, kind), client.InNamespace(ns))).To(forbidden)
				Expect(editor.Delete(ctx, u)).To(Succeed())
			})

			It("let who administers a namespace delete all "+version+" "+kind+" at once, but write no status", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				boss := boundTo(ctx, "boss", ns, "admin")
				awaitReading(ctx, boss, ns)
				u := object(version, kind, ns, "a", nil)
				Expect(boss.Create(ctx, u)).To(Succeed())
				Expect(boss.Status().Update(ctx, set(u.DeepCopy(), "Failed", "status", "lastResult"))).To(forbidden)
				Expect(boss.DeleteAllOf(ctx, as(version, kind), client.InNamespace(ns))).To(Succeed())
				Expect(apierrors.IsNotFound(admin.Get(ctx, client.ObjectKeyFromObject(u), as(version, kind)))).To(BeTrue())
			})

			It("give an editor of "+version+" "+kind+" alone no way to a Secret", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				Expect(admin.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a-credentials"}})).To(Succeed())
				editor := boundTo(ctx, "backup-editor", ns, "backupjob-editor")
				awaitReading(ctx, editor, ns)
				By("reading it")
				Expect(editor.Get(ctx, client.ObjectKey{Namespace: ns, Name: "a-credentials"}, &corev1.Secret{})).To(forbidden)
				Expect(editor.List(ctx, &corev1.SecretList{}, client.InNamespace(ns))).To(forbidden)
				By("having it sent to a host of their own")
				u := object(version, kind, ns, "a", nil)
				Expect(causes(editor.Create(ctx, u.DeepCopy()))).To(HaveKeyWithValue(secretField(version), ContainSubstring("has no right to 'get' the Secret")))
				Expect(admin.Create(ctx, u)).To(Succeed())
				moved := set(read(ctx, "v1", kind, ns, "a"), "evil.example.com", "spec", "source", "host")
				Expect(causes(editor.Update(ctx, moved))).To(HaveKeyWithValue(secretField("v1"), ContainSubstring("has no right to")))
				By("what is harmless")
				Expect(editor.Update(ctx, set(read(ctx, version, kind, ns, "a"), true, "spec", "suspend"))).To(Succeed())
			})
		}
	}
})

// expectNoWrites tries every write of an object.
func expectNoWrites(ctx context.Context, c client.Client, u *unstructured.Unstructured) {
	GinkgoHelper()
	other := u.DeepCopy()
	other.SetName("b")
	other.SetResourceVersion("")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))
	Expect(c.Create(ctx, other)).To(forbidden)
	Expect(c.Update(ctx, u.DeepCopy())).To(forbidden)
	Expect(c.Patch(ctx, u.DeepCopy(), patch)).To(forbidden)
	Expect(c.Status().Update(ctx, u.DeepCopy())).To(forbidden)
	Expect(c.Status().Patch(ctx, u.DeepCopy(), patch)).To(forbidden)
	Expect(c.Delete(ctx, u.DeepCopy())).To(forbidden)
	Expect(c.DeleteAllOf(ctx, as(u.GroupVersionKind().Version, u.GetKind()), client.InNamespace(u.GetNamespace()))).To(forbidden)
}
