// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// fieldCase is one line of testdata/*.yaml: a value that somebody wrote, and
// the right answer.
type fieldCase struct {
	Value   string `json:"value"`
	Verdict string `json:"verdict"`
	Says    string `json:"says"`
	Why     string `json:"why"`
}

func readCases(file string) []fieldCase {
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		panic(err)
	}
	var cases []fieldCase
	if err := yaml.UnmarshalStrict(data, &cases); err != nil {
		panic(err)
	}
	return cases
}

// warnings collects what the API server warns of.
type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	// The version's own deprecation is not about the value.
	if !strings.Contains(text, "is deprecated; use") {
		w.texts = append(w.texts, text)
	}
}

// deprecations collects every warning, also that of the old version.
type deprecations struct{ texts []string }

func (d *deprecations) HandleWarningHeader(_ int, _ string, text string) {
	d.texts = append(d.texts, text)
}

func clientWithHandler(cfg *rest.Config, w rest.WarningHandler) client.Client {
	GinkgoHelper()
	quiet := rest.CopyConfig(cfg)
	quiet.WarningHandler = w
	c, err := client.New(quiet, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// judge sends one case through the API server and checks verdict, path and
// words.
func judge(ctx context.Context, c fieldCase, version, kind, path string, spec map[string]any) {
	GinkgoHelper()
	w := &warnings{}
	err := clientWithHandler(config, w).Create(ctx, object(version, kind, "default", "case", spec), client.DryRunAll)
	all := strings.Join(w.texts, "\n")
	switch c.Verdict {
	case "accept":
		Expect(err).NotTo(HaveOccurred())
		Expect(w.texts).To(BeEmpty())
	case "warn":
		Expect(err).NotTo(HaveOccurred())
		Expect(w.texts).NotTo(BeEmpty())
		Expect(all).To(HavePrefix(path))
		Expect(strings.ToLower(all)).To(ContainSubstring(strings.ToLower(c.Says)))
	case "deny":
		Expect(err).To(HaveOccurred())
		found := causes(err)
		Expect(found).To(HaveLen(1), "one mistake gives one fault")
		Expect(found).To(HaveKey(path))
		Expect(strings.ToLower(found[path])).To(ContainSubstring(strings.ToLower(c.Says)))
	default:
		Fail("unknown verdict " + c.Verdict)
	}
}

var _ = Describe("Every case, through the API server", func() {
	for _, kind := range kinds {
		for _, version := range versions {
			field := scheduleField(version, kind)
			Context(version+" "+kind, func() {
				for _, c := range readCases("schedules.yaml") {
					if version == "v1alpha1" && strings.HasPrefix(c.Value, "CRON_TZ=Asia/Tokyo ") {
						c = fieldCase{Value: c.Value, Verdict: "accept"} // how v1alpha1 writes a zone
					}
					if version == "v1alpha1" {
						c.Says = strings.ReplaceAll(c.Says, "timeZone", "CRON_TZ=")
					}
					It(fmt.Sprintf("%ss the schedule %q", c.Verdict, c.Value), func(ctx context.Context) {
						judge(ctx, c, version, kind, "spec."+field, map[string]any{field: c.Value})
					})
				}
				for _, c := range readCases("timezones.yaml") {
					spec, path := map[string]any{field: "0 12 * * *", "timeZone": c.Value}, "spec.timeZone"
					if version == "v1alpha1" {
						if strings.TrimSpace(c.Value) != c.Value || c.Value == "" {
							continue // has no form in v1alpha1
						}
						spec, path = map[string]any{field: "CRON_TZ=" + c.Value + " 0 12 * * *"}, "spec."+field
					}
					It(fmt.Sprintf("%ss the zone %q", c.Verdict, c.Value), func(ctx context.Context) {
						judge(ctx, c, version, kind, path, spec)
					})
				}
			})
		}
	}
})
