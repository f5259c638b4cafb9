// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// odd are fields that no rule of today lets in, each set over those of a good
// object; nil takes a field away. They are BackupJobs, and in v1alpha1 but for
// those of oddInV1.
var odd = map[string]map[string]any{
	"a-schedule-of-nonsense":  {"schedule": "abc"},
	"a-zone-alone":            {"schedule": "TZ="},
	"a-zone-of-nothing":       {"schedule": "CRON_TZ= "},
	"two-zones":               {"schedule": "CRON_TZ=UTC CRON_TZ=UTC 0 2 * * *"},
	"a-zone-from-mars":        {"schedule": "CRON_TZ=Mars/Olympus 0 2 * * *"},
	"a-schedule-of-a-number":  {"schedule": int64(7)},
	"an-endless-schedule":     {"schedule": strings.Repeat("0 ", 2000)},
	"no-schedule":             {"schedule": nil},
	"days-as-text":            {"retentionDays": "7"},
	"days-below-zero":         {"retentionDays": int64(-1)},
	"days-beyond-counting":    {"retentionDays": int64(1) << 53},
	"retries-as-a-list":       {"maxRetries": []any{"3"}},
	"retries-and-a-half":      {"maxRetries": 1.5},
	"a-storage-of-no-type":    {"storage": map[string]any{"type": "Tape"}},
	"two-storages":            {"storage": map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "a", "subPath": "b"}, "s3": map[string]any{"bucket": "c"}}},
	"a-storage-of-neither":    {"storage": map[string]any{}},
	"a-storage-as-text":       {"storage": "disk"},
	"a-host-with-a-scheme":    {"databaseHost": "mysql://db:3306/shop"},
	"a-host-with-a-far-port":  {"databaseHost": "db:99999"},
	"a-host-with-two-ports":   {"databaseHost": "db:1:2"},
	"a-host-of-nothing":       {"databaseHost": ""},
	"a-port-alone":            {"databaseHost": ":3306"},
	"no-host":                 {"databaseHost": nil},
	"a-database-as-a-weapon":  {"database": "x; touch /tmp/p"},
	"databases-of-numbers":    {"databases": []any{int64(1), int64(2)}},
	"databases-as-text":       {"databases": "all"},
	"a-secret-as-a-list":      {"secretRef": []any{"a"}},
	"keys-as-a-list":          {"credentialKeys": []any{"username"}},
	"suspended-as-text":       {"suspend": "yes"},
	"a-zone-beside":           {"timeZone": "Europe/Berlin"},
	"a-pod-template-as-text":  {"podTemplate": "none"},
	"an-engine-of-no-name":    {"engine": "Oracle"},
	"a-deletion-of-no-policy": {"deletionPolicy": "Maybe"},
}

var oddInV1 = map[string]map[string]any{
	"v1-a-schedule-with-a-zone": {"schedule": "CRON_TZ=UTC 0 2 * * *"},
	"v1-an-empty-zone":          {"timeZone": ""},
	"v1-a-zone-with-a-blank":    {"timeZone": "Europe/ Berlin"},
	"v1-a-port-as-text":         {"source": map[string]any{"host": "db", "port": "3306"}},
	"v1-a-port-without-a-host":  {"source": map[string]any{"port": int64(3306)}},
	"v1-a-source-as-text":       {"source": "db"},
	"v1-retention-as-a-number":  {"retention": int64(7)},
	"v1-databases-as-text":      {"source": map[string]any{"host": "db", "databases": "all"}},
	"v1-a-history-below-zero":   {"failedJobsHistoryLimit": int64(-1)},
}

var oddIn = map[string]map[string]map[string]any{"v1alpha1": odd, "v1": oddInV1}

// bare are objects that have no spec, or an odd one, or an odd status.
var bare = map[string]map[string]any{
	"bare-no-spec":        {},
	"bare-a-spec-of-null": {"spec": nil},
	"bare-a-spec-as-text": {"spec": "text"},
	"bare-an-empty-spec":  {"spec": map[string]any{}},
}

var oddStatus = map[string]any{
	"status-as-text": "done",
	"an-odd-status":  map[string]any{"phase": int64(7), "conditions": "none", "active": map[string]any{}},
}

// locked are objects in which the API server itself lets nobody edit a label:
// it lets pass what an update did not change, but neither a field that must be
// there and is not, nor one whose type none of its CEL rules can look at. They
// are read, mended and deleted like all others.
var locked = []string{
	"bare-no-spec", "bare-a-spec-of-null", "bare-a-spec-as-text", "bare-an-empty-spec",
	"no-host", "a-port-alone", "v1-a-port-without-a-host", "no-schedule",
	"a-storage-as-text", "databases-as-text", "databases-of-numbers", "v1-databases-as-text",
}

// elsewhere are fields that an edit in the other version takes to where it has
// a place for them, a zone in front of the schedule, a claim's name into
// storageClaim; or drops, where v1alpha1 has neither source, nor retention, nor
// a port that is no number.
var elsewhere = []string{"a-zone-beside", "two-storages", "v1-a-source-as-text", "v1-retention-as-a-number", "v1-a-port-as-text"}

// oddObjects are all of them, by name.
func oddObjects(namespace string, stored ...string) map[string]*unstructured.Unstructured {
	all := map[string]*unstructured.Unstructured{}
	for _, version := range stored {
		for name, spec := range oddIn[version] {
			all[name] = object(version, backupv1.KindBackupJob, namespace, name, spec)
		}
	}
	for name, fields := range bare {
		u := object("v1alpha1", backupv1.KindBackupJob, namespace, name, nil)
		delete(u.Object, "spec")
		maps.Copy(u.Object, fields)
		all[name] = u
	}
	for name, status := range oddStatus {
		all[name] = object("v1alpha1", backupv1.KindBackupJob, namespace, name, nil)
		all[name].Object["status"] = status
	}
	return all
}

// listed are the objects of a namespace as a LIST in a version gives them.
func listed(ctx context.Context, version, kind, namespace string) map[string]*unstructured.Unstructured {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(as(version, kind).GroupVersionKind())
	Expect(admin.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
	found := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		found[list.Items[i].GetName()] = &list.Items[i]
	}
	return found
}

// carries says whether an object has the fields of a spec with their values,
// or lacks those that are nil. What its schema does not know the server drops.
func carries(u *unstructured.Unstructured, spec map[string]any) bool {
	has, _, _ := unstructured.NestedMap(u.Object, "spec")
	return holds(has, spec)
}

// holds allows for defaults in the objects that the server has.
func holds(has, wanted map[string]any) bool {
	for field, want := range wanted {
		got, found := has[field]
		inner, isMap := pruned(want).(map[string]any)
		gotInner, gotMap := got.(map[string]any)
		switch {
		case (want != nil) != found:
			return false
		case isMap && (!gotMap || !holds(gotInner, inner)):
			return false
		case !isMap && !equality.Semantic.DeepEqual(want, got):
			return false
		}
	}
	return true
}

// pruned is an odd value without the fields that no schema has.
func pruned(value any) any {
	fields, ok := value.(map[string]any)
	if !ok {
		return value
	}
	fields = runtime.DeepCopyJSON(fields)
	delete(fields, "type")
	delete(fields, "s3")
	return fields
}

// editLabel changes labels of an odd object in a version, by a patch and by a
// PUT of the whole: our webhooks let it, and the server does unless it is locked.
func editLabel(ctx context.Context, version string, u *unstructured.Unstructured) {
	GinkgoHelper()
	patched := as(version, u.GetKind())
	patched.SetNamespace(u.GetNamespace())
	patched.SetName(u.GetName())
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"edited-in":"`+version+`"}}}`))
	whole := read(ctx, version, u.GetKind(), u.GetNamespace(), u.GetName())
	whole.SetAnnotations(map[string]string{"edited-in": version})
	for how, err := range map[string]error{"put": admin.Update(ctx, whole), "patched": admin.Patch(ctx, patched, patch)} {
		if err != nil {
			Expect(locked).To(ContainElement(u.GetName()), "%s in %s: %v", how, version, err)
			Expect(err).NotTo(MatchError(ContainSubstring("admission webhook")))
		}
	}
}

var _ = Describe("Contract 1 and 3: odd objects, older than today's rules, among good ones", Serial, func() {
	const good = 500

	setUp := func(ctx context.Context, stored ...string) (ns string, objects map[string]*unstructured.Unstructured) {
		ns = newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
		for i := range good {
			Expect(admin.Create(ctx, object(versions[i%2], backupv1.KindBackupJob, ns, fmt.Sprintf("good-%d", i), nil))).To(Succeed())
		}
		return ns, oddObjects(ns, stored...)
	}

	// prove reads all of them, then edits and deletes each odd one, with the
	// webhooks at work.
	prove := func(ctx context.Context, ns string, objects map[string]*unstructured.Unstructured) {
		GinkgoHelper()
		watched := &corev1.Namespace{}
		Expect(admin.Get(ctx, client.ObjectKey{Name: ns}, watched)).To(Succeed())
		watched.Labels = nil
		Expect(admin.Update(ctx, watched)).To(Succeed())

		for _, version := range versions {
			By("a LIST in " + version)
			found := listed(ctx, version, backupv1.KindBackupJob, ns)
			Expect(found).To(HaveLen(good + len(objects)))
			for name, spec := range oddIn[version] {
				if objects[name] == nil {
					continue
				}
				Expect(carries(found[name], spec)).To(BeTrue(), "%s is carried verbatim: %v", name, found[name])
			}
		}
		for name, written := range objects {
			home := strings.TrimPrefix(written.GetAPIVersion(), backupv1.GroupName+"/")
			for _, version := range versions {
				editLabel(ctx, version, written)
			}
			if slices.Contains(locked, name) {
				mended := read(ctx, home, backupv1.KindBackupJob, ns, name)
				mended.Object["spec"] = object(home, backupv1.KindBackupJob, ns, name, nil).Object["spec"]
				Expect(admin.Update(ctx, mended)).To(Succeed(), name)
				continue
			}
			after := read(ctx, home, backupv1.KindBackupJob, ns, name)
			spec, _, _ := unstructured.NestedMap(written.Object, "spec")
			if !slices.Contains(elsewhere, name) {
				Expect(carries(after, spec)).To(BeTrue(), "%s is verbatim after edits in both versions: %v", name, after.Object["spec"])
			}
			Expect(inStore(ctx, backupv1.KindBackupJob, ns, name)["apiVersion"]).To(Equal("backup.example.com/v1"), name)
		}
		i := 0
		for name := range objects {
			Expect(admin.Delete(ctx, read(ctx, versions[i%2], backupv1.KindBackupJob, ns, name))).To(Succeed(), name)
			i++
		}
		Expect(door.metric("backupjob_conversion_panics_total", nil)).To(BeZero())
	}

	It("stored in v1alpha1 by a release without bounds", func(ctx context.Context) {
		back := anEarlierRelease(ctx, true)
		ns, objects := setUp(ctx, "v1alpha1")
		for _, u := range objects {
			Expect(admin.Create(ctx, u.DeepCopy())).To(Succeed(), u.GetName())
			Expect(inStore(ctx, backupv1.KindBackupJob, ns, u.GetName())["apiVersion"]).To(Equal("backup.example.com/v1alpha1"))
		}
		back(ctx)
		prove(ctx, ns, objects)
		forgetStoredVersions(ctx)
	})

	It("written straight into the store, in either version", func(ctx context.Context) {
		ns, objects := setUp(ctx, versions...)
		for _, u := range objects {
			store(ctx, u.DeepCopy())
		}
		prove(ctx, ns, objects)
	})
})
