// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

var _ = Describe("docs/operating.md, the conversion webhook gone for good", Serial, func() {
	It("says what goes on, how objects can be deleted, and how to come back", func(ctx context.Context) {
		blocks := commands("operating.md", "## When the conversion webhook is gone for good")
		Expect(blocks).To(HaveLen(2), "the way out and the way back")
		ns := newNamespace(ctx)
		key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: ns, Name: name} }
		get := func(version, name string) error { return cluster.Get(ctx, key(name), asVersion(version)) }

		for _, name := range []string{"kept", "deleted", "deleted-later"} {
			Expect(cluster.Create(ctx, backupJob(ns, name, nil))).To(Succeed())
		}
		// It has a manager in the old version, too.
		Expect(cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": backupv1.GroupName + "/v1alpha1", "kind": "BackupJob", "metadata": map[string]any{"namespace": ns, "name": "deleted"},
			"spec": map[string]any{"databaseHost": "mysql-primary.default.svc.cluster.local", "schedule": "0 0 1 1 *", "database": "user_profiles", "retentionDays": int64(9)},
		}}), client.FieldOwner("old"), client.ForceOwnership)).To(Succeed())
		held := backupJob(ns, "held", nil)
		held.Finalizers = []string{"e2e.test/hold"}
		Expect(cluster.Create(ctx, held)).To(Succeed())

		By("losing the webhook")
		DeferCleanup(func(ctx context.Context) { deploy(ctx, current, "--force-conflicts") })
		// Without Pods first, because who deletes them otherwise is the garbage
		// collector, when it comes to it.
		kubectl(ctx, "-n", operatorNamespace, "scale", "deployment/backupjob-webhook", "--replicas=0", "--timeout=2m")
		kubectl(ctx, "-n", operatorNamespace, "delete", "deployment/backupjob-webhook", "--timeout=2m")
		// They finish what is asked over connections that are open: ten seconds in
		// which admission may answer while conversion, on another, is gone.
		kubectl(ctx, "-n", operatorNamespace, "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/component=webhook", "--timeout=2m")
		Eventually(ctx, func() error { return get("v1alpha1", "kept") }).WithTimeout(soon).Should(
			MatchError(ContainSubstring("conversion webhook for backup.example.com/v1")), "v1alpha1 cannot be read")
		Expect(get("v1", "kept")).To(Succeed())
		for _, name := range []string{"deleted", "held"} {
			u := asVersion("v1")
			u.SetNamespace(ns)
			u.SetName(name)
			Expect(cluster.Delete(ctx, u)).To(Succeed())
		}
		Expect(apierrors.IsNotFound(get("v1", "deleted"))).To(BeTrue())
		old := asVersion("v1alpha1")
		old.SetNamespace(ns)
		old.SetName("deleted-later")
		Expect(cluster.Delete(ctx, old)).To(MatchError(ContainSubstring("conversion webhook")))
		release := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		Expect(cluster.Patch(ctx, held, release)).To(MatchError(ContainSubstring("mutate-backupjob.backup.example.com")))

		By("the way out")
		follow(ctx, project, blocks[0])
		Eventually(ctx, func() error { return cluster.Patch(ctx, held, release) }).WithTimeout(soon).Should(Succeed(), "a finalizer can be removed")
		Expect(apierrors.IsNotFound(get("v1", "held"))).To(BeTrue())
		Eventually(ctx, func() error { return cluster.Delete(ctx, old) }).WithTimeout(soon).Should(Succeed(), "v1alpha1 can delete")
		Expect(get("v1alpha1", "kept")).To(Succeed())

		By("the way back, which is refused without force")
		Eventually(ctx, func() string {
			out, _ := run(ctx, "kubectl", "apply", "--server-side", "-k", "../../config/default")
			return out
		}).WithTimeout(soon).Should(ContainSubstring("conflict"))
		follow(ctx, project, blocks[1])
		deploy(ctx, current)
		Eventually(ctx, func(g Gomega) {
			u := asVersion("v1alpha1")
			g.Expect(cluster.Get(ctx, key("kept"), u)).To(Succeed())
			g.Expect(u.Object["spec"]).To(HaveKeyWithValue("databaseHost", "mysql-primary.default.svc.cluster.local"))
		}).WithTimeout(soon).Should(Succeed(), "v1alpha1 must be readable again")
		wrong := backupJob(ns, "wrong", func(b *backupv1.BackupJob) { b.Spec.Schedule = "abc" })
		Eventually(ctx, func() error { return cluster.Create(ctx, wrong, client.DryRunAll) }).WithTimeout(soon).Should(
			MatchError(ContainSubstring("spec.schedule")), "admission is back")
	})
})
