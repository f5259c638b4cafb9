// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	current  = "config/default"
	previous = "test/e2e/testdata/previous"
	v1Only   = "config/overlays/v1-only"
)

// deploy applies manifests as a person does and waits as the guide says.
func deploy(ctx context.Context, manifests string, flags ...string) {
	GinkgoHelper()
	cmd := command(ctx, "bash", append([]string{"../deploy.sh"}, flags...)...)
	cmd.Env = append(os.Environ(), "MANIFESTS="+manifests, "EMBEDDED=")
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

// crds are our CRDs as the server has them.
func crds(ctx context.Context, g Gomega) []apiextensionsv1.CustomResourceDefinition {
	var found []apiextensionsv1.CustomResourceDefinition
	for _, name := range []string{"backupjobs", "mysqlbackups"} {
		var crd apiextensionsv1.CustomResourceDefinition
		g.Expect(cluster.Get(ctx, client.ObjectKey{Name: name + "." + backupv1.GroupName}, &crd)).To(Succeed())
		found = append(found, crd)
	}
	return found
}

func storedIn(ctx context.Context, version string) {
	GinkgoHelper()
	for _, crd := range crds(ctx, Default) {
		for _, v := range crd.Spec.Versions {
			Expect(v.Storage).To(Equal(v.Name == version), "%s %s", crd.Name, v.Name)
		}
	}
}

// asVersion is an empty BackupJob of a version, to read into.
func asVersion(version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(backupv1.GroupName + "/" + version)
	u.SetKind(backupv1.KindBackupJob)
	return u
}

// rewriteAll stores every object anew and notes that only v1 is stored.
func rewriteAll(ctx context.Context) {
	GinkgoHelper()
	for _, kind := range []string{backupv1.KindBackupJob, backupv1.KindMySQLBackup} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(backupv1.GroupVersion.String())
		list.SetKind(kind)
		Expect(cluster.List(ctx, list)).To(Succeed())
		for i := range list.Items {
			u := &list.Items[i]
			Eventually(ctx, func() error {
				if err := cluster.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
					return client.IgnoreNotFound(err)
				}
				return client.IgnoreNotFound(cluster.Update(ctx, u))
			}).WithTimeout(soon).Should(Succeed(), "the controller writes too")
		}
	}
	for _, crd := range crds(ctx, Default) {
		kubectl(ctx, "patch", "crd", crd.Name, "--subresource=status", "--type=merge", "-p", `{"status":{"storedVersions":["v1"]}}`)
	}
}

var _ = Describe("Upgrade and roll-back", Serial, func() {
	BeforeEach(func() {
		DeferCleanup(func(ctx context.Context) {
			deploy(ctx, current, "--force-conflicts")
			rewriteAll(ctx)
		})
	})

	It("of the operator, with another stored version and new Pods, fail no request under load", func(ctx context.Context) {
		ns := newNamespace(ctx)
		load := startApplier(ctx, ns, 50*time.Millisecond)
		load.goOn(ctx, 20)
		for _, hop := range []struct{ manifests, stored string }{{previous, "v1alpha1"}, {current, "v1"}, {previous, "v1alpha1"}, {current, "v1"}} {
			By("going to " + hop.manifests)
			deploy(ctx, hop.manifests)
			storedIn(ctx, hop.stored)
			load.goOn(ctx, 40)
		}
		load.end()

		By("what was written last being what is there, in both versions")
		n := load.writes.Load()
		for version, field := range map[string][]string{"v1": {"spec", "retention", "days"}, "v1alpha1": {"spec", "retentionDays"}} {
			last := n - 1
			if version == "v1" != (last%2 == 0) {
				last--
			}
			u := asVersion(version)
			Expect(cluster.Get(ctx, client.ObjectKey{Namespace: ns, Name: "load-" + version}, u)).To(Succeed())
			days, _, err := unstructured.NestedInt64(u.Object, field...)
			Expect(err).NotTo(HaveOccurred())
			Expect(days).To(Equal(1 + last%30))
		}
		GinkgoWriter.Printf("%d writes in two versions, none failed\n", n)
	})

	It("of nothing but the converter: restarted over and over, no request fails", func(ctx context.Context) {
		load := startApplier(ctx, newNamespace(ctx), 75*time.Millisecond)
		for range 3 {
			kubectl(ctx, "-n", operatorNamespace, "rollout", "restart", "deployment/backupjob-webhook")
			kubectl(ctx, "-n", operatorNamespace, "rollout", "status", "deployment/backupjob-webhook", "--timeout=180s")
			load.goOn(ctx, 20)
		}
		load.end()
	})

	It("to config/overlays/v1-only and back, once nothing is stored as v1alpha1", func(ctx context.Context) {
		ns := newNamespace(ctx)
		Expect(cluster.Create(ctx, backupJob(ns, "a", nil))).To(Succeed())
		key := client.ObjectKey{Namespace: ns, Name: "a"}
		rewriteAll(ctx)

		deploy(ctx, v1Only)
		Eventually(ctx, func() error { return cluster.Get(ctx, key, asVersion("v1alpha1")) }).WithTimeout(soon).ShouldNot(Succeed(), "v1alpha1 must go")
		u := asVersion("v1")
		Expect(cluster.Get(ctx, key, u)).To(Succeed())
		u.SetLabels(map[string]string{"edited": "yes"})
		Expect(cluster.Update(ctx, u)).To(Succeed())
		wrong := backupJob(ns, "wrong", func(b *backupv1.BackupJob) { b.Spec.Schedule = "abc" })
		Expect(cluster.Create(ctx, wrong)).To(MatchError(ContainSubstring("spec.schedule")))

		deploy(ctx, current)
		Eventually(ctx, func(g Gomega) {
			old := asVersion("v1alpha1")
			g.Expect(cluster.Get(ctx, key, old)).To(Succeed())
			g.Expect(old.Object["spec"]).To(HaveKeyWithValue("databaseHost", "mysql-primary.default.svc.cluster.local"))
		}).WithTimeout(soon).Should(Succeed(), "v1alpha1 must come back")
	})
})
