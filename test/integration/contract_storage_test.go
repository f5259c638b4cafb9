// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/webhooks"
)

var _ = Describe("Another version stored, or only one served", Serial, func() {
	It("keeps resourceVersion still with the controller on v1 and v1alpha1 stored", func(ctx context.Context) {
		bindShippedRole(ctx)
		back := anEarlierRelease(ctx, false)
		ns := newNamespace(ctx, nil)
		clock := clocktesting.NewFakePassiveClock(tick.Add(-time.Minute))
		b := backup(ctx, ns, "a", nil)
		whole := everything(backupv1.KindBackupJob, ns, "whole")
		Expect(admin.Create(ctx, whole)).To(Succeed())
		Expect(inStore(ctx, backupv1.KindBackupJob, ns, "a")["apiVersion"]).To(Equal("backup.example.com/v1alpha1"))
		stop := startController(ns, clock, interceptor.Funcs{})
		observed(ctx, b)
		w := &backupv1.BackupJob{}
		w.Namespace, w.Name = ns, "whole"
		observed(ctx, w)
		were := []string{b.ResourceVersion, w.ResourceVersion}

		By("looking at everything anew, again and again, as a resync or a restart does")
		for range 5 {
			stop()
			stop = startController(ns, clock, interceptor.Funcs{})
			pending := backup(ctx, ns, "signal", nil)
			observed(ctx, pending) // so this controller is at work
			Expect(admin.Delete(ctx, pending)).To(Succeed())
		}
		Consistently(ctx, func(g Gomega) {
			for i, o := range []*backupv1.BackupJob{b, w} {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
				g.Expect(o.ResourceVersion).To(Equal(were[i]), o.Name)
			}
		}).WithTimeout(2 * time.Second).Should(Succeed())
		stop()
		back(ctx)
		for _, o := range []*backupv1.BackupJob{b, w} {
			Expect(admin.Delete(ctx, o)).To(Succeed())
		}
		forgetStoredVersions(ctx)
	})

	It("cannot even delete in v1 what is stored as v1alpha1 without the converter, and can with strategy None", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		old, hub := object("v1alpha1", backupv1.KindBackupJob, ns, "old", nil), object("v1", backupv1.KindBackupJob, ns, "hub", nil)
		store(ctx, old.DeepCopy())
		store(ctx, hub.DeepCopy())
		DeferCleanup(keepCRDs(ctx))
		door.with(func(d *frontDoor) { d.wrap = withoutConversion })
		Expect(admin.Delete(ctx, hub)).To(Succeed())
		u := as("v1", backupv1.KindBackupJob)
		u.SetNamespace(ns)
		u.SetName("old")
		Expect(admin.Delete(ctx, u)).To(MatchError(ContainSubstring("conversion webhook")))
		changeCRDs(ctx, func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		})
		Eventually(ctx, func() error { return admin.Delete(ctx, u) }).WithTimeout(soon).Should(Succeed(), "the server takes a moment")
	})

	It("serves only v1 with config/overlays/v1-only, and goes back", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		for _, kind := range kinds {
			Expect(admin.Create(ctx, object("v1", kind, ns, "before", nil))).To(Succeed())
		}
		DeferCleanup(keepCRDs(ctx))

		By("an apply while v1alpha1 is among the stored versions, which the server refuses")
		for _, crd := range crds(ctx) {
			crd.Status.StoredVersions = []string{"v1alpha1", "v1"}
			Expect(admin.Status().Update(ctx, &crd)).To(Succeed())
			crd.Spec = *v1Only(crd.Name)
			Expect(admin.Update(ctx, &crd)).To(MatchError(ContainSubstring("v1alpha1")))
		}
		forgetStoredVersions(ctx)

		changeCRDs(ctx, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec = *v1Only(crd.Name) })
		for _, kind := range kinds {
			Eventually(ctx, func() error {
				return admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: "before"}, as("v1alpha1", kind))
			}).
				WithTimeout(soon).ShouldNot(Succeed(), "v1alpha1 must go")
			before := read(ctx, "v1", kind, ns, "before")
			before.SetLabels(map[string]string{"edited": "yes"})
			Expect(admin.Update(ctx, before)).To(Succeed())
			Expect(applyAs(ctx, "user", everything(kind, ns, "whole"))).To(Succeed())
			Expect(causes(admin.Create(ctx, object("v1", kind, ns, "wrong", map[string]any{"schedule": "abc"})))).To(HaveKey("spec.schedule"))
			out, err := kubectl(ctx, "", "apply", "-n", ns, "-f", filepath.Join("..", "..", "config", "samples", "v1_"+strings.ToLower(kind)+".yaml"))
			Expect(err).NotTo(HaveOccurred(), out)
		}
		By("the converter being away, whom nobody needs any more")
		door.with(func(d *frontDoor) { d.wrap = withoutConversion })
		for _, kind := range kinds {
			Expect(applyAs(ctx, "user", everything(kind, ns, "again"))).To(Succeed())
			Expect(admin.Delete(ctx, read(ctx, "v1", kind, ns, "before"))).To(Succeed())
		}
	})
})

// v1Only is the spec of a CRD in config/overlays/v1-only, with the door of
// these specs in it.
func v1Only(name string) *apiextensionsv1.CustomResourceDefinitionSpec {
	GinkgoHelper()
	for _, crd := range typed[apiextensionsv1.CustomResourceDefinition](renderedFrom("../../config/overlays/v1-only"), "CustomResourceDefinition") {
		if crd.Name == name {
			door.convertHere(crd)
			return &crd.Spec
		}
	}
	Fail("the overlay has no CRD " + name)
	return nil
}

// withoutConversion answers whatever is asked of /convert with a fault.
func withoutConversion(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == webhooks.PathConvert {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}
