// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// split are values of old fields, and what v1 makes of them: host, port or
// schedule, zone.
var split = map[string]map[string][2]any{
	"HOST": {
		"db":                     {"db", nil},
		"db:3306":                {"db", int64(3306)},
		"db.":                    {"db.", nil},
		"db.:1":                  {"db.", int64(1)},
		"10.0.0.1:65535":         {"10.0.0.1", int64(65535)},
		"[2001:db8::1]:3306":     {"2001:db8::1", int64(3306)},
		"2001:db8::1":            {"2001:db8::1", nil},
		"::1":                    {"::1", nil},
		"[::ffff:10.0.0.1]:3306": {"::ffff:10.0.0.1", int64(3306)},
	},
	"SCHEDULE": {
		"0 2 * * *":                                      {"0 2 * * *", nil},
		"CRON_TZ=UTC 0 2 * * *":                          {"0 2 * * *", "UTC"},
		"CRON_TZ=Europe/Berlin @daily":                   {"@daily", "Europe/Berlin"},
		"CRON_TZ=America/Argentina/Buenos_Aires @hourly": {"@hourly", "America/Argentina/Buenos_Aires"},
	},
}

var _ = Describe("Contract 5: what was written in an old field reads back the same", func() {
	for _, kind := range kinds {
		It("of "+kind+", whichever version is written in between", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			for field, values := range split {
				oldField, paths := hostField(kind), [2][]string{{"spec", "source", "host"}, {"spec", "source", "port"}}
				if field == "SCHEDULE" {
					oldField, paths = scheduleField("v1alpha1", kind), [2][]string{{"spec", "schedule"}, {"spec", "timeZone"}}
				}
				i := 0
				for text, want := range values {
					i++
					name := fmt.Sprintf("%s-%d", map[string]string{"HOST": "host", "SCHEDULE": "schedule"}[field], i)
					Expect(admin.Create(ctx, object("v1alpha1", kind, ns, name, map[string]any{oldField: text}))).To(Succeed(), text)
					for round := range 4 {
						old := read(ctx, "v1alpha1", kind, ns, name)
						Expect(old.Object["spec"]).To(HaveKeyWithValue(oldField, text))
						hub := read(ctx, "v1", kind, ns, name)
						for j, path := range paths {
							got, _, err := unstructured.NestedFieldNoCopy(hub.Object, path...)
							Expect(err).NotTo(HaveOccurred())
							if want[j] == nil {
								Expect(got).To(BeNil(), "%q has no %s", text, path)
							} else {
								Expect(got).To(Equal(want[j]), text)
							}
						}
						written := []client.Object{hub, old}[round%2]
						written.SetLabels(map[string]string{"round": strconv.Itoa(round)})
						Expect(admin.Update(ctx, written)).To(Succeed())
					}
				}
			}
		})
	}
})
