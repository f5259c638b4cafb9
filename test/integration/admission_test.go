// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// fourFaults are four mistakes in four layers: a rule on text, a bound, a
// wrong type and a name.
func fourFaults(version, kind string) (spec map[string]any, fields []string) {
	schedule := scheduleField(version, kind)
	if version == "v1" {
		source := map[string]any{"host": "mysql://db:3306", "databases": []any{"-h evil"}}
		return map[string]any{schedule: "0 2 * *", "retention": map[string]any{"days": int64(-1)}, "source": source},
			[]string{"spec.source.host", "spec.source.databases[0]", "spec.schedule", "spec.retention.days"}
	}
	return map[string]any{schedule: "0 2 * *", hostField(kind): "mysql://db:3306", "retentionDays": "7", "database": "-h evil"},
		[]string{"spec." + hostField(kind), "spec.database", "spec." + schedule, "spec.retentionDays"}
}

var _ = Describe("Admission, through the API server", func() {
	for _, kind := range kinds {
		for _, version := range versions {
			Context(version+" "+kind, func() {
				It("tells four faults of every layer in one answer, in the fields of the version", func(ctx context.Context) {
					spec, fields := fourFaults(version, kind)
					err := admin.Create(ctx, object(version, kind, "default", "wrong", spec), client.DryRunAll)
					found := causes(err)
					Expect(found).To(HaveLen(len(fields)))
					for _, field := range fields {
						Expect(found).To(HaveKey(field))
						Expect(len(found[field])).To(BeNumerically("<=", 300))
					}
				})

				It("judges an update as it judges a create", func(ctx context.Context) {
					ns := newNamespace(ctx, nil)
					Expect(admin.Create(ctx, object(version, kind, ns, "a", nil))).To(Succeed())
					u := read(ctx, version, kind, ns, "a")
					set(u, "0 2 * *", "spec", scheduleField(version, kind))
					Expect(causes(admin.Update(ctx, u))).To(HaveKey("spec." + scheduleField(version, kind)))
				})

				It("fills the names that follow from the object's, once", func(ctx context.Context) {
					ns := newNamespace(ctx, nil)
					Expect(admin.Create(ctx, object(version, kind, ns, "nightly", nil))).To(Succeed())
					got := read(ctx, "v1", kind, ns, "nightly")
					name, _, _ := unstructured.NestedString(got.Object, "spec", "source", "credentialsSecretRef", "name")
					Expect(name).To(Equal("nightly-credentials"))
					claim, _, _ := unstructured.NestedString(got.Object, "spec", "storage", "persistentVolumeClaim", "claimName")
					Expect(claim).To(Equal("nightly-backups"))

					// The first time the writer comes to own what the schema filled
					// in, which is a change of managedFields and nothing else.
					Expect(admin.Update(ctx, read(ctx, version, kind, ns, "nightly"))).To(Succeed())
					settled := read(ctx, "v1", kind, ns, "nightly")
					Expect(spec(settled)).To(Equal(spec(got)))
					Expect(settled.GetGeneration()).To(Equal(got.GetGeneration()))
					Expect(admin.Update(ctx, read(ctx, version, kind, ns, "nightly"))).To(Succeed())
					Expect(read(ctx, "v1", kind, ns, "nightly").GetResourceVersion()).To(Equal(settled.GetResourceVersion()),
						"writing an object back as it is changes nothing")
				})

				It("gives a dry run the same verdict and keeps nothing", func(ctx context.Context) {
					ns := newNamespace(ctx, nil)
					Expect(admin.Create(ctx, object(version, kind, ns, "dry", nil), client.DryRunAll)).To(Succeed())
					list := &unstructured.UnstructuredList{}
					list.SetGroupVersionKind(as(version, kind).GroupVersionKind())
					Expect(admin.List(ctx, list, client.InNamespace(ns))).To(Succeed())
					Expect(list.Items).To(BeEmpty())
				})

				It("lets what is stored be labelled, finalized and deleted, whatever it holds", func(ctx context.Context) {
					// Stored while the webhooks were away.
					ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
					u := object(version, kind, ns, "stuck", map[string]any{scheduleField(version, kind): "abc"})
					controllerutil.AddFinalizer(u, "integration.test/hold")
					Expect(admin.Create(ctx, u)).To(Succeed())
					setLabels(ctx, ns, nil)

					By("a label")
					Eventually(ctx, func(g Gomega) {
						u := read(ctx, version, kind, ns, "stuck")
						u.SetLabels(map[string]string{"edited": "yes"})
						g.Expect(admin.Update(ctx, u)).To(Succeed())
					}).WithTimeout(soon).Should(Succeed(), "another write may come between")

					By("another field, with a warning that names the old fault")
					w := &warnings{}
					u = read(ctx, version, kind, ns, "stuck")
					Expect(clientWithHandler(config, w).Update(ctx, set(u, int64(5), "spec", "maxRetries"))).To(Succeed())
					Expect(w.texts).To(ContainElement(HavePrefix("spec." + scheduleField(version, kind))))

					By("a new fault in the same field, which is refused")
					u = read(ctx, version, kind, ns, "stuck")
					Expect(causes(admin.Update(ctx, set(u, "abcd", "spec", scheduleField(version, kind))))).
						To(HaveKey("spec." + scheduleField(version, kind)))

					By("its end")
					Expect(admin.Delete(ctx, read(ctx, version, kind, ns, "stuck"))).To(Succeed())
					u = read(ctx, version, kind, ns, "stuck")
					Expect(u.GetDeletionTimestamp()).NotTo(BeNil())
					controllerutil.RemoveFinalizer(u, "integration.test/hold")
					Expect(admin.Update(ctx, u)).To(Succeed())
				})
			})
		}
	}

	It("leaves user-set zero, false and empty alone", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		u := object("v1", backupv1.KindBackupJob, ns, "zero", map[string]any{
			"maxRetries": int64(0), "suspend": false, "failedJobsHistoryLimit": int64(0),
		})
		set(u, []any{}, "spec", "source", "databases")
		Expect(admin.Create(ctx, u)).To(Succeed())
		for _, version := range versions {
			got := read(ctx, version, backupv1.KindBackupJob, ns, "zero")
			Expect(got.Object["spec"]).To(HaveKeyWithValue("maxRetries", int64(0)))
			Expect(got.Object["spec"]).To(HaveKeyWithValue("suspend", false))
		}
		databases, found, _ := unstructured.NestedSlice(read(ctx, "v1", backupv1.KindBackupJob, ns, "zero").Object, "spec", "source", "databases")
		Expect(found).To(BeTrue())
		Expect(databases).To(BeEmpty())
	})

	It("says which schedule a clock change touches", func(ctx context.Context) {
		w := &warnings{}
		u := object("v1", backupv1.KindBackupJob, "default", "spring", map[string]any{"schedule": "30 2 * * *", "timeZone": "Europe/Berlin"})
		Expect(clientWithHandler(config, w).Create(ctx, u, client.DryRunAll)).To(Succeed())
		Expect(w.texts).To(ContainElement(ContainSubstring("2027-03-28")))
	})

	It("writes one decision per request into the server's audit log", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		spec, _ := fourFaults("v1alpha1", backupv1.KindMySQLBackup)
		Expect(admin.Create(ctx, object("v1alpha1", backupv1.KindMySQLBackup, ns, "audited", spec))).NotTo(Succeed())
		Eventually(ctx, func() []string { return auditAnnotations(ns, "audited") }).WithTimeout(soon).
			Should(ContainElement(ContainSubstring("spec.backupSchedule")), "the log is written after the answer")
	})
})

// setLabels replaces a namespace's labels of this suite.
func setLabels(ctx context.Context, name string, labels map[string]string) {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	Eventually(ctx, func() error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(ns), ns); err != nil {
			return err
		}
		delete(ns.Labels, labelNoWebhooks)
		maps.Copy(ns.Labels, labels)
		return admin.Update(ctx, ns)
	}).WithTimeout(soon).Should(Succeed(), "another write may come between")
	// The admission chain reads namespaces from a cache.
	Eventually(ctx, func() error {
		return admin.Create(ctx, object("v1", backupv1.KindBackupJob, name, "probe", map[string]any{"schedule": "never"}), client.DryRunAll)
	}).WithTimeout(soon).ShouldNot(Succeed(), "the webhooks must see the namespace again")
}
