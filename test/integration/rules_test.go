// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// bound is one bound or CEL rule of the schema. It is written once, with the
// place of the value in each version.
type bound struct {
	name  string
	v1    string // path below spec in v1
	old   string // in v1alpha1; empty: as in v1
	value any
	kind  string // empty: both kinds
}

func pairs(n int) map[string]any {
	m := map[string]any{}
	for i := range n {
		m["k"+strings.Repeat("x", i)] = "v"
	}
	return m
}

var bounds = []bound{
	{name: "a schedule that is empty", v1: "schedule", old: "SCHEDULE", value: ""},
	{name: "a schedule that is too long", v1: "schedule", old: "SCHEDULE", value: "0 2 * * " + strings.Repeat("1,", 61)},
	{name: "a zone inside the schedule that holds a blank", v1: "schedule", old: "SCHEDULE", value: "TZ=UTC 0 2 * * *"},
	{name: "a concurrency policy of no such name", v1: "concurrencyPolicy", value: "Queue"},
	{name: "a starting deadline below 10", v1: "startingDeadlineSeconds", value: 9},
	{name: "a starting deadline beyond counting", v1: "startingDeadlineSeconds", value: 2147483648},
	{name: "retries below 0", v1: "maxRetries", value: -1},
	{name: "retries above 10", v1: "maxRetries", value: 11},
	{name: "an active deadline below 60", v1: "activeDeadlineSeconds", value: 59},
	{name: "an active deadline beyond counting", v1: "activeDeadlineSeconds", value: 2147483648},
	{name: "retention of 0 days", v1: "retention.days", old: "retentionDays", value: 0},
	{name: "retention of -1 days", v1: "retention.days", old: "retentionDays", value: -1},
	{name: "retention of more than 3650 days", v1: "retention.days", old: "retentionDays", value: 3651},
	{name: "retention that overflows", v1: "retention.days", old: "retentionDays", value: 106752},
	{name: "retention as text", v1: "retention.days", old: "retentionDays", value: "7"},
	{name: "no backup kept", v1: "retention.minBackups", old: "minBackups", value: 0},
	{name: "more than 100 backups kept", v1: "retention.minBackups", old: "minBackups", value: 101},
	{name: "a claim's name in capitals", v1: "storage.persistentVolumeClaim.claimName", old: "storageClaim", value: "Backups"},
	{name: "a sub-path that is absolute", v1: "storage.persistentVolumeClaim.subPath", value: "/etc"},
	{name: "a sub-path that climbs", v1: "storage.persistentVolumeClaim.subPath", value: "a/../../b"},
	{name: "a compression of no such name", v1: "compression", value: "Bzip2"},
	{name: "a deletion policy of no such name", v1: "deletionPolicy", value: "Keep"},
	{name: "a history below 0", v1: "successfulJobsHistoryLimit", value: -1},
	{name: "a history above 100", v1: "successfulJobsHistoryLimit", value: 101},
	{name: "a history of failures below 0", v1: "failedJobsHistoryLimit", value: -1},
	{name: "a history of failures above 100", v1: "failedJobsHistoryLimit", value: 101},
	{name: "a host with a scheme", v1: "source.host", old: "HOST", value: "mysql://db"},
	{name: "a host that is too long", v1: "source.host", old: "HOST", value: strings.Repeat("a", 254)},
	{name: "an empty host", v1: "source.host", old: "HOST", value: ""},
	{name: "port 0", v1: "source.port", old: "HOST", value: 0},
	{name: "port 65536", v1: "source.port", old: "HOST", value: 65536},
	{name: "an engine of no such name", v1: "source.engine", old: "engine", value: "Oracle", kind: backupv1.KindBackupJob},
	{name: "a Secret's name in capitals", v1: "source.credentialsSecretRef.name", old: "secretRef", value: "Secret"},
	{name: "a Secret's key with a slash", v1: "source.credentialsSecretRef.usernameKey", old: "credentialKeys.usernameKey", value: "a/b"},
	{name: "a Secret's key that is empty", v1: "source.credentialsSecretRef.passwordKey", old: "credentialKeys.passwordKey", value: ""},
	{name: "a TLS mode of no such name", v1: "source.tls.mode", old: "tls.mode", value: "On"},
	{name: "a CA Secret's name in capitals", v1: "source.tls.caSecretRef", old: "tls.caSecretRef", value: map[string]any{"name": "CA"}},
	{name: "an ignored table without its database", v1: "source.options.ignoreTables", old: "options.ignoreTables", value: []any{"orders"}, kind: backupv1.KindMySQLBackup},
	{name: "a GTID setting of no such name", v1: "source.options.setGTIDPurged", old: "options.setGTIDPurged", value: "Maybe", kind: backupv1.KindMySQLBackup},
	{name: "a label of ours", v1: "podTemplate.labels", value: map[string]any{"backup.example.com/uid": "x"}},
	{name: "a label of batch", v1: "podTemplate.labels", value: map[string]any{"batch.kubernetes.io/job-name": "x"}},
	{name: "an annotation of app", v1: "podTemplate.annotations", value: map[string]any{"app.kubernetes.io/name": "x"}},
	{name: "too many labels", v1: "podTemplate.labels", value: pairs(33)},
	{name: "a quantity with a huge exponent", v1: "podTemplate.resources.limits", value: map[string]any{"cpu": "1e99999999"}},
	{name: "a quantity with a tiny exponent", v1: "podTemplate.resources.requests", value: map[string]any{"cpu": "1E-99999999"}},
	{name: "a quantity that is too long", v1: "podTemplate.resources.limits", value: map[string]any{"memory": strings.Repeat("9", 33)}},
	{name: "an empty image", v1: "podTemplate.image", value: ""},
	{name: "a pull policy of no such name", v1: "podTemplate.imagePullPolicy", value: "Sometimes"},
	{name: "root as the user", v1: "podTemplate.runAsUser", value: 0},
	{name: "root as the group", v1: "podTemplate.fsGroup", value: 0},
	{name: "a priority class in capitals", v1: "podTemplate.priorityClassName", value: "High"},
	{name: "a service account in capitals", v1: "podTemplate.serviceAccountName", value: "Backup"},
	{name: "too many node labels", v1: "podTemplate.nodeSelector", value: pairs(33)},
}

// databaseBounds are those of the field that is shaped differently in each
// version.
var databaseBounds = []struct {
	name string
	list []any
}{
	{"a name with a leading hyphen", []any{"-h evil"}},
	{"a name with a slash", []any{"../../x"}},
	{"a name with a line break", []any{"a\nb"}},
	{"a name that is too long", []any{strings.Repeat("a", 65)}},
	{"an empty name", []any{""}},
	{"a name twice", []any{"a", "b", "a"}},
}

func (b bound) place(version, kind string) []string {
	path := b.v1
	if version == "v1alpha1" && b.old != "" {
		path = strings.NewReplacer("SCHEDULE", scheduleField(version, kind), "HOST", hostField(kind)).Replace(b.old)
	}
	return strings.Split(path, ".")
}

func (b bound) in(version string) any {
	if version == "v1alpha1" && b.v1 == "source.port" {
		return "db:" + fmt.Sprint(b.value)
	}
	if n, ok := b.value.(int); ok {
		return int64(n)
	}
	return b.value
}

var _ = Describe("Bounds and rules of the schema", func() {
	for _, kind := range kinds {
		for _, version := range versions {
			Context(version+" "+kind, func() {
				for _, b := range bounds {
					if b.kind != "" && b.kind != kind {
						continue
					}
					path := b.place(version, kind)
					bad := func(ns string) error {
						u := set(object(version, kind, ns, "bad", nil), b.in(version), append([]string{"spec"}, path...)...)
						return admin.Create(context.Background(), u)
					}
					It("holds with the webhooks gone: "+b.name, func(ctx context.Context) {
						found := causes(bad(newNamespace(ctx, map[string]string{labelNoWebhooks: ""})))
						Expect(found).To(HaveKey(HavePrefix("spec." + strings.Join(path, "."))))
					})
					It("is told in our words: "+b.name, func(ctx context.Context) {
						found := causes(bad(newNamespace(ctx, nil)))
						Expect(found).To(HaveLen(1))
						Expect(found).To(HaveKey(HavePrefix("spec." + strings.Join(path, "."))))
						for _, message := range found {
							Expect(message).NotTo(ContainSubstring("in body"), "that is the library's text")
						}
					})
				}
				for _, b := range databaseBounds {
					It("refuses as a database "+b.name+", with and without webhooks", func(ctx context.Context) {
						for _, labels := range []map[string]string{nil, {labelNoWebhooks: ""}} {
							u := object(version, kind, newNamespace(ctx, labels), "bad", nil)
							prefix := "spec.database"
							switch {
							case version == "v1":
								set(u, b.list, "spec", "source", "databases")
								prefix = "spec.source.databases"
							case len(b.list) > 1:
								unstructured.RemoveNestedField(u.Object, "spec", "database")
								set(u, b.list, "spec", "databases")
							default:
								set(u, b.list[0], "spec", "database")
							}
							Expect(causes(admin.Create(ctx, u))).To(HaveKey(HavePrefix(prefix)))
						}
					})
				}
				It("holds a name to 63 characters", func(ctx context.Context) {
					for _, labels := range []map[string]string{nil, {labelNoWebhooks: ""}} {
						ns := newNamespace(ctx, labels)
						Expect(admin.Create(ctx, object(version, kind, ns, strings.Repeat("a", 63), nil))).To(Succeed())
						Expect(admin.Create(ctx, object(version, kind, ns, strings.Repeat("b", 64), nil))).NotTo(Succeed())
						Expect(admin.Create(ctx, object(version, kind, ns, "db.prod.eu", nil))).To(Succeed())
					}
				})
			})
		}
	}

	Context("rules that keep old and new fields of v1alpha1 apart", func() {
		for _, kind := range kinds {
			for name, c := range map[string]struct {
				spec map[string]any
				path string
				only string
			}{
				"a zone of its own":              {spec: map[string]any{"timeZone": "Europe/Berlin"}, path: "spec.timeZone"},
				"a claim's name in storage":      {spec: map[string]any{"storage": map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "a", "subPath": "b"}}}, path: "spec.storage.persistentVolumeClaim.claimName"},
				"storage without a folder":       {spec: map[string]any{"storageClaim": "a", "storage": map[string]any{"persistentVolumeClaim": map[string]any{}}}, path: "spec.storage"},
				"databases beside database":      {spec: map[string]any{"database": "a", "databases": []any{"a", "b"}}, path: "spec.databases"},
				"databases with one name":        {spec: map[string]any{"database": nil, "databases": []any{"a"}}, path: "spec.databases"},
				"neither database nor databases": {spec: map[string]any{"database": nil}, path: "spec.database", only: backupv1.KindMySQLBackup},
			} {
				if c.only != "" && c.only != kind {
					continue
				}
				It("refuses in "+kind+" "+name, func(ctx context.Context) {
					for _, labels := range []map[string]string{nil, {labelNoWebhooks: ""}} {
						u := object("v1alpha1", kind, newNamespace(ctx, labels), "bad", c.spec)
						Expect(causes(admin.Create(ctx, u))).To(HaveKey(HavePrefix(c.path)))
					}
				})
			}
		}
	})
})
