// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// A user of v1 changes what they apply while a manager of v1alpha1 is in the
// object's managedFields, so that the server converts every half-way object.
var _ = Describe("Server-side apply in v1 beside a manager of v1alpha1", func() {
	source := func(databases ...any) map[string]any {
		return map[string]any{"host": "db", "databases": databases}
	}
	claim := func(storage map[string]any) map[string]any {
		return map[string]any{"source": source("a"), "storage": map[string]any{"persistentVolumeClaim": storage}}
	}
	for name, c := range map[string]struct{ before, after map[string]any }{
		"another database":        {map[string]any{"source": source("a")}, map[string]any{"source": source("b")}},
		"a further database":      {map[string]any{"source": source("a")}, map[string]any{"source": source("a", "b")}},
		"one of two databases":    {map[string]any{"source": source("a", "b")}, map[string]any{"source": source("b")}},
		"a folder in the claim":   {claim(map[string]any{"claimName": "c"}), claim(map[string]any{"claimName": "c", "subPath": "f"})},
		"no folder any more":      {claim(map[string]any{"claimName": "c", "subPath": "f"}), claim(map[string]any{"claimName": "c"})},
		"another port and a zone": {map[string]any{"source": source("a")}, map[string]any{"source": map[string]any{"host": "db", "port": int64(1), "databases": []any{"a"}}, "timeZone": "Asia/Tokyo"}},
	} {
		for _, kind := range kinds {
			It("ends with what was applied last: "+kind+", "+name, func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				Expect(applyAs(ctx, "user", object("v1", kind, ns, "o", c.before))).To(Succeed())
				old := read(ctx, "v1alpha1", kind, ns, "o")
				old.SetLabels(map[string]string{"written": "in-v1alpha1"})
				Expect(admin.Update(ctx, old)).To(Succeed())
				Expect(read(ctx, "v1", kind, ns, "o").GetManagedFields()).To(ContainElement(HaveField("APIVersion", "backup.example.com/v1alpha1")))

				Expect(applyAs(ctx, "user", object("v1", kind, ns, "o", c.after))).To(Succeed())

				fresh := newNamespace(ctx, nil)
				Expect(applyAs(ctx, "user", object("v1", kind, fresh, "o", c.after))).To(Succeed())
				Expect(spec(read(ctx, "v1", kind, ns, "o"))).To(Equal(spec(read(ctx, "v1", kind, fresh, "o"))))
			})
		}
	}
})
