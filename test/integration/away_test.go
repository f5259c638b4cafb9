// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withoutTimes are managers' entries without the times of their changes.
func withoutTimes(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	for i := range entries {
		entries[i].Time = nil
	}
	return entries
}

var _ = Describe("The converter is away, admission is not", Serial, func() {
	for _, kind := range kinds {
		It("takes plain writes of "+kind+" in v1, whose managers stay as they were, and refuses what needs a conversion in words", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			Expect(applyAs(ctx, "old", object("v1alpha1", kind, ns, "a", nil))).To(Succeed())
			Expect(applyAs(ctx, "new", object("v1", kind, ns, "a", map[string]any{"suspend": true}))).To(Succeed())
			before := read(ctx, "v1", kind, ns, "a")
			Expect(before.GetManagedFields()).To(HaveLen(2))
			door.with(func(d *frontDoor) { d.wrap = withoutConversion })

			u := before.DeepCopy()
			u.SetLabels(map[string]string{"edited": "yes"})
			Expect(admin.Update(ctx, u)).To(Succeed())
			Expect(admin.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"maxRetries":1}}`)))).To(Succeed())
			Expect(asController().Status().Update(ctx, set(u, "Suspended", "status", "phase"))).To(Succeed())
			after := read(ctx, "v1", kind, ns, "a")
			Expect(after.Object["spec"]).To(HaveKeyWithValue("maxRetries", int64(1)))
			Expect(withoutTimes(after.GetManagedFields())).To(Equal(withoutTimes(before.GetManagedFields())))

			away := ContainSubstring("conversion webhook for backup.example.com/v1") // from either version
			Expect(applyAs(ctx, "new", object("v1", kind, ns, "a", map[string]any{"suspend": false}))).To(MatchError(away))
			Expect(applyAs(ctx, "old", object("v1alpha1", kind, ns, "a", nil))).To(MatchError(away))
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(u), as("v1alpha1", kind))).To(MatchError(away))
			Expect(admin.Delete(ctx, after)).To(Succeed())
		})
	}
})
