// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// full is an object of v1 that says whatever v1 can say.
func full(kind, namespace, name string) *unstructured.Unstructured {
	u := object("v1", kind, namespace, name, map[string]any{
		"schedule":                   "30 4 * * 1-5",
		"timeZone":                   "Europe/Berlin",
		"suspend":                    true,
		"concurrencyPolicy":          "Replace",
		"startingDeadlineSeconds":    int64(60),
		"maxRetries":                 int64(0),
		"activeDeadlineSeconds":      int64(600),
		"retention":                  map[string]any{"days": int64(30), "minBackups": int64(5)},
		"storage":                    map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "c", "subPath": "a/b"}},
		"compression":                "Gzip",
		"deletionPolicy":             "Delete",
		"successfulJobsHistoryLimit": int64(0),
		"failedJobsHistoryLimit":     int64(0),
		"podTemplate": map[string]any{
			"labels":    map[string]any{"team": "a"},
			"image":     "mysql:8.0.40",
			"resources": map[string]any{"limits": map[string]any{"cpu": "0.5", "memory": "1024Mi"}},
			"runAsUser": int64(1000), "fsGroup": int64(1000),
			"tolerations":  []any{map[string]any{"key": "k", "operator": "Exists"}},
			"nodeSelector": map[string]any{},
		},
	})
	source := map[string]any{
		"host": "2001:db8::1", "port": int64(3307), "databases": []any{"a", "täble"},
		"credentialsSecretRef": map[string]any{"name": "s", "usernameKey": "u", "passwordKey": "p"},
		"tls":                  map[string]any{"mode": "VerifyCA", "caSecretRef": map[string]any{"name": "ca", "key": "k"}},
	}
	if kind == backupv1.KindMySQLBackup {
		source["options"] = map[string]any{
			"singleTransaction": false, "routines": false, "triggers": false, "events": false,
			"ignoreTables": []any{"a.b"}, "setGTIDPurged": "Off",
		}
	} else {
		source["engine"] = "MariaDB"
	}
	return set(u, source, "spec", "source")
}

func spec(u *unstructured.Unstructured) any { return u.Object["spec"] }

func read(ctx context.Context, version, kind, namespace, name string) *unstructured.Unstructured {
	GinkgoHelper()
	u := as(version, kind)
	Expect(admin.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, u)).To(Succeed())
	return u
}

func applyAs(ctx context.Context, manager string, u *unstructured.Unstructured) error {
	return admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(u.DeepCopy()), client.FieldOwner(manager))
}

var _ = Describe("Conversion, through the API server", func() {
	for _, kind := range kinds {
		Context(kind, func() {
			It("leaves the server its metadata", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				u := object("v1alpha1", kind, ns, "managed", nil)
				u.SetLabels(map[string]string{"team": "a"})
				Expect(applyAs(ctx, "user", u)).To(Succeed())
				old, hub := read(ctx, "v1alpha1", kind, ns, "managed"), read(ctx, "v1", kind, ns, "managed")
				Expect(old.GetManagedFields()).To(ContainElement(HaveField("Manager", "user")))
				Expect(hub.Object["metadata"]).To(Equal(old.Object["metadata"]))
			})

			It("loses nothing of v1 when the object is put back in v1alpha1", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				Expect(admin.Create(ctx, full(kind, ns, "all"))).To(Succeed())
				before := read(ctx, "v1", kind, ns, "all")

				old := read(ctx, "v1alpha1", kind, ns, "all")
				Expect(old.GetAPIVersion()).To(Equal("backup.example.com/v1alpha1"))
				old.SetLabels(map[string]string{"edited": "in-v1alpha1"})
				Expect(admin.Update(ctx, old)).To(Succeed())

				after := read(ctx, "v1", kind, ns, "all")
				Expect(spec(after)).To(Equal(spec(before)))
				Expect(after.GetGeneration()).To(Equal(before.GetGeneration()), "a label is no change of the spec")
				Expect(after.GetLabels()).To(HaveKeyWithValue("edited", "in-v1alpha1"))
			})

			It("reads an old field as it was written, and in v1 split", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				u := object("v1alpha1", kind, ns, "old", map[string]any{
					hostField(kind):                 "mysql-primary.default.svc.cluster.local:3306",
					scheduleField("v1alpha1", kind): "CRON_TZ=Europe/Berlin 0 2 * * *",
					"database":                      "user_profiles",
					"retentionDays":                 int64(7),
				})
				Expect(admin.Create(ctx, u)).To(Succeed())
				old := read(ctx, "v1alpha1", kind, ns, "old")
				for _, field := range []string{hostField(kind), scheduleField("v1alpha1", kind), "database", "retentionDays"} {
					Expect(old.Object["spec"]).To(HaveKeyWithValue(field, u.Object["spec"].(map[string]any)[field]))
				}
				new := read(ctx, "v1", kind, ns, "old")
				Expect(new.Object["spec"]).To(HaveKeyWithValue("schedule", "0 2 * * *"))
				Expect(new.Object["spec"]).To(HaveKeyWithValue("timeZone", "Europe/Berlin"))
				source, _, _ := unstructured.NestedMap(new.Object, "spec", "source")
				Expect(source).To(HaveKeyWithValue("host", "mysql-primary.default.svc.cluster.local"))
				Expect(source).To(HaveKeyWithValue("port", int64(3306)))
				Expect(source).To(HaveKeyWithValue("databases", []any{"user_profiles"}))
			})

			It("lets two managers apply in two versions twenty times without a conflict", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				first := object("v1", kind, ns, "shared", map[string]any{"timeZone": "Asia/Tokyo"})
				second := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "backup.example.com/v1alpha1", "kind": kind,
					"metadata": map[string]any{"name": "shared", "namespace": ns, "labels": map[string]any{"by": "second"}},
					"spec":     map[string]any{"maxRetries": int64(5), "minBackups": int64(3)},
				}}
				Expect(applyAs(ctx, "first", first)).To(Succeed())
				Expect(applyAs(ctx, "second", second)).To(Succeed())
				settled := read(ctx, "v1", kind, ns, "shared")
				for range 20 {
					Expect(applyAs(ctx, "first", first)).To(Succeed())
					Expect(applyAs(ctx, "second", second)).To(Succeed())
				}
				now := read(ctx, "v1", kind, ns, "shared")
				Expect(now.GetGeneration()).To(Equal(settled.GetGeneration()))
				Expect(spec(now)).To(Equal(spec(settled)))
				Expect(now.Object["spec"]).To(HaveKeyWithValue("maxRetries", int64(5)))
			})

			It("carries status both ways and lets v1alpha1 change only what it changes", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				Expect(admin.Create(ctx, full(kind, ns, "status"))).To(Succeed())
				u := read(ctx, "v1", kind, ns, "status")
				status := map[string]any{
					"phase": "Suspended", "lastResult": "Failed", "observedGeneration": int64(1),
					"lastScheduleTime": "2026-11-29T03:30:00Z", "lastBackupTime": "2026-11-29T03:31:00Z",
					"lastSuccessfulTime": "2026-11-28T03:31:00Z",
					"conditions": []any{
						map[string]any{"type": "Ready", "status": "True", "reason": "Suspended", "message": "m", "lastTransitionTime": "2026-11-29T03:31:00Z"},
						map[string]any{"type": "Pruned", "status": "False", "reason": "PruneFailed", "message": "m", "lastTransitionTime": "2026-11-29T03:31:00Z"},
					},
				}
				Expect(asController().Status().Update(ctx, set(u, status, "status"))).To(Succeed())
				before := read(ctx, "v1", kind, ns, "status").Object["status"]
				old := read(ctx, "v1alpha1", kind, ns, "status")
				if kind == backupv1.KindMySQLBackup {
					Expect(old.Object["status"]).To(HaveKeyWithValue("backupStatus", "Failed"))
					Expect(old.Object["status"]).To(HaveKeyWithValue("lastBackupTime", "2026-11-29T03:30:00Z"))
				}
				Expect(asController().Status().Update(ctx, old)).To(Succeed())
				Expect(read(ctx, "v1", kind, ns, "status").Object["status"]).To(Equal(before))
			})

			It("refuses in v1alpha1 what breaks a bound of v1", func(ctx context.Context) {
				ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
				Expect(admin.Create(ctx, full(kind, ns, "bound"))).To(Succeed())
				old := read(ctx, "v1alpha1", kind, ns, "bound")
				Expect(causes(admin.Update(ctx, set(old, int64(0), "spec", "minBackups")))).To(HaveKey("spec.minBackups"))
			})
		})
	}

	It("lists odd objects among good ones in both versions, and edits and deletes them", func(ctx context.Context) {
		ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
		const good = 50
		for i := range good {
			Expect(admin.Create(ctx, object("v1alpha1", backupv1.KindBackupJob, ns, fmt.Sprintf("good-%d", i), nil))).To(Succeed())
		}
		odd := map[string]map[string]any{
			"schedule": {"schedule": "abc"},
			"zone":     {"schedule": "CRON_TZ=Mars/Olympus 0 2 * * *"},
			"host":     {"databaseHost": "127.0.0.1.5:99"},
			"name":     {"database": "x; touch y"},
		}
		for name, spec := range odd {
			Expect(admin.Create(ctx, object("v1alpha1", backupv1.KindBackupJob, ns, name, spec))).To(Succeed())
		}
		for _, version := range versions {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(as(version, backupv1.KindBackupJob).GroupVersionKind())
			Expect(admin.List(ctx, list, client.InNamespace(ns))).To(Succeed())
			Expect(list.Items).To(HaveLen(good + len(odd)))
		}
		for name, spec := range odd {
			u := read(ctx, "v1alpha1", backupv1.KindBackupJob, ns, name)
			for field, value := range spec {
				Expect(u.Object["spec"]).To(HaveKeyWithValue(field, value))
			}
			u.SetLabels(map[string]string{"edited": "yes"})
			Expect(admin.Update(ctx, u)).To(Succeed())
			Expect(admin.Delete(ctx, read(ctx, "v1", backupv1.KindBackupJob, ns, name))).To(Succeed())
		}
	})

	It("warns of the old version, which v1 does not", func(ctx context.Context) {
		for _, kind := range kinds {
			w := &deprecations{}
			c := clientWithHandler(config, w)
			Expect(c.Create(ctx, object("v1alpha1", kind, "default", "warned", nil), client.DryRunAll)).To(Succeed())
			Expect(w.texts).To(ContainElement(ContainSubstring("v1alpha1 " + kind + " is deprecated")))
			w.texts = nil
			Expect(c.Create(ctx, object("v1", kind, "default", "warned", nil), client.DryRunAll)).To(Succeed())
			Expect(w.texts).To(BeEmpty())
		}
	})

	It("stores v1 and serves both versions with short names and the category", func(ctx context.Context) {
		for _, crd := range crds(ctx) {
			Expect(crd.Status.StoredVersions).To(Equal([]string{"v1"}))
			Expect(crd.Spec.Names.Categories).To(ContainElement("dbbackups"))
			Expect(crd.Spec.Names.ShortNames).To(HaveLen(1))
			for _, v := range crd.Spec.Versions {
				Expect(v.Served).To(BeTrue())
				Expect(v.Deprecated).To(Equal(v.Name == "v1alpha1"))
			}
		}
	})
})
