// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// rounds is how often each way of writing is tried, in turn in each version.
const rounds = 20

// resourceIn is what kubectl calls a kind in a version.
func resourceIn(version, kind string) string {
	return plural(kind) + "." + version + "." + backupv1.GroupName
}

// everythingStored creates the object with everything and gives it a status
// with everything.
func everythingStored(ctx context.Context, kind, namespace string) *unstructured.Unstructured {
	GinkgoHelper()
	u := everything(kind, namespace, "whole")
	Expect(admin.Create(ctx, u)).To(Succeed())
	status := map[string]any{
		"phase": "Suspended", "lastResult": "Failed", "observedGeneration": int64(1), "lastHandledRunRequest": "a",
		"lastScheduleTime": "2026-11-29T03:30:00Z", "lastBackupTime": "2026-11-29T03:31:00Z", "lastSkippedTime": "2026-11-29T03:32:00Z",
		"lastSuccessfulTime": "2026-11-28T03:31:00Z", "nextScheduleTime": "2026-11-30T03:30:00Z", "active": []any{"a", "b"},
		"observedSchedule": map[string]any{"schedule": "30 4 * * 1-5", "timeZone": "Europe/Berlin", "since": "2026-11-01T00:00:00Z"},
		"lastBackup": map[string]any{
			"jobName": "a", "location": "a/b.sql.zst", "sizeBytes": int64(1) << 40, "sha256": fmt.Sprintf("%064d", 7),
			"startTime": "2026-11-28T03:30:00Z", "completionTime": "2026-11-28T03:31:00Z",
		},
		"conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "reason": "Suspended", "message": "m", "observedGeneration": int64(1), "lastTransitionTime": "2026-11-29T03:31:00Z"},
			map[string]any{"type": "Pruned", "status": "False", "reason": "PruneFailed", "message": "n", "lastTransitionTime": "2026-11-29T03:31:00Z"},
		},
	}
	Expect(asController().Status().Update(ctx, set(u, status, "status"))).To(Succeed())
	u = read(ctx, "v1", kind, namespace, "whole")
	Expect(u.Object["status"]).To(Equal(status), "every field of the status is kept")
	return u
}

// written is what the user and the controller wrote.
func written(u *unstructured.Unstructured) map[string]any {
	return map[string]any{"spec": u.Object["spec"], "status": u.Object["status"]}
}

// unharmed checks that it is as it was.
func unharmed(ctx context.Context, was *unstructured.Unstructured) {
	GinkgoHelper()
	is := read(ctx, "v1", was.GetKind(), was.GetNamespace(), was.GetName())
	Expect(written(is)).To(Equal(written(was)))
	Expect(is.GetGeneration()).To(Equal(was.GetGeneration()), "no write changed the spec")
}

var _ = Describe("Contract 2: no field of v1 is lost or changed", func() {
	for _, kind := range kinds {
		Context(kind, func() {
			It("by PUTs of what was read, in alternating versions, of the status too", func(ctx context.Context) {
				was := everythingStored(ctx, kind, newNamespace(ctx, nil))
				for i := range rounds {
					u := read(ctx, versions[i%2], kind, was.GetNamespace(), was.GetName())
					u.SetLabels(map[string]string{"round": strconv.Itoa(i)})
					Expect(admin.Update(ctx, u)).To(Succeed())
					Expect(asController().Status().Update(ctx, u)).To(Succeed())
				}
				unharmed(ctx, was)
			})

			It("by merge patches in alternating versions", func(ctx context.Context) {
				was := everythingStored(ctx, kind, newNamespace(ctx, nil))
				for i := range rounds {
					u := as(versions[i%2], kind)
					u.SetNamespace(was.GetNamespace())
					u.SetName(was.GetName())
					patch := fmt.Sprintf(`{"metadata":{"labels":{"round":"%d"}},"spec":{"maxRetries":%d}}`, i, i%2)
					Expect(admin.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
				}
				is := read(ctx, "v1", kind, was.GetNamespace(), was.GetName())
				Expect(is.Object["spec"]).To(HaveKeyWithValue("maxRetries", int64(1)))
				before, now := spec(was).(map[string]any), spec(is).(map[string]any)
				now["maxRetries"] = before["maxRetries"]
				Expect(now).To(Equal(before))
				Expect(is.Object["status"]).To(Equal(was.Object["status"]))
			})

			It("by kubectl apply of one manifest in two versions in turn, which stays unchanged", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				manifest := map[string]string{}
				for _, version := range versions {
					raw, err := inVersion(version, everything(kind, ns, "whole")).MarshalJSON()
					Expect(err).NotTo(HaveOccurred())
					manifest[version] = string(raw)
				}
				out, err := kubectl(ctx, manifest["v1"], "apply", "-f", "-")
				Expect(err).NotTo(HaveOccurred(), out)
				was := read(ctx, "v1", kind, ns, "whole")
				for i := range rounds {
					out, err := kubectl(ctx, manifest[versions[i%2]], "apply", "-f", "-")
					Expect(err).NotTo(HaveOccurred(), out)
				}
				unharmed(ctx, was)
			})

			It("by server-side apply of two managers in two versions, which never conflict", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				all := everything(kind, ns, "whole")
				for _, manager := range versions {
					Expect(applyAs(ctx, manager, inVersion(manager, all))).To(Succeed())
				}
				was := read(ctx, "v1", kind, ns, "whole")
				Expect(spec(was)).To(Equal(spec(all)))
				for range rounds {
					for _, manager := range versions {
						Expect(applyAs(ctx, manager, inVersion(manager, all))).To(Succeed())
						Expect(read(ctx, "v1", kind, ns, "whole").GetResourceVersion()).To(Equal(was.GetResourceVersion()), "nothing is written")
					}
				}
				unharmed(ctx, was)
			})

			It("by 'kubectl get -o yaml | kubectl apply -f -' in alternating versions, and it does not grow", func(ctx context.Context) {
				was := everythingStored(ctx, kind, newNamespace(ctx, nil))
				var sizes []int
				for i := range 10 {
					text := printed(ctx, "get", resourceIn(versions[i%2], kind), "whole", "-n", was.GetNamespace(), "-o", "yaml")
					out, err := kubectl(ctx, text, "apply", "-f", "-")
					Expect(err).NotTo(HaveOccurred(), out)
					unharmed(ctx, was)
					raw, err := json.Marshal(withoutManagers(inStore(ctx, kind, was.GetNamespace(), "whole")))
					Expect(err).NotTo(HaveOccurred())
					sizes = append(sizes, len(raw))
				}
				Expect(sizes[2:]).To(HaveEach(BeElementOf(sizes[0], sizes[1])), "sizes %v: two forms, one of the annotation in each version", sizes)
			})
		})
	}
})

// withoutManagers leaves out what the server notes of each write: times, and
// versions of the object.
func withoutManagers(object map[string]any) map[string]any {
	metadata := object["metadata"].(map[string]any)
	delete(metadata, "managedFields")
	return object
}
