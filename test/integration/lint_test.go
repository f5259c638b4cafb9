// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// manyManifests are the cases, the bounds and the four faults as manifests, in
// both versions of both kinds.
func manyManifests() []*unstructured.Unstructured {
	GinkgoHelper()
	var all []*unstructured.Unstructured
	for _, kind := range kinds {
		for _, version := range versions {
			add := func(u *unstructured.Unstructured) {
				u.SetName(fmt.Sprintf("m-%d", len(all)))
				all = append(all, u)
			}
			field := scheduleField(version, kind)
			for _, c := range readCases("schedules.yaml") {
				add(object(version, kind, "default", "", map[string]any{field: c.Value}))
			}
			for _, c := range readCases("timezones.yaml") {
				spec := map[string]any{field: "0 12 * * *", "timeZone": c.Value}
				if version == "v1alpha1" {
					spec = map[string]any{field: "CRON_TZ=" + c.Value + " 0 12 * * *"}
				}
				add(object(version, kind, "default", "", spec))
			}
			for _, b := range bounds {
				if b.kind == "" || b.kind == kind {
					path := append([]string{"spec"}, b.place(version, kind)...)
					add(set(object(version, kind, "default", "", nil), b.in(version), path...))
				}
			}
			spec, _ := fourFaults(version, kind)
			add(object(version, kind, "default", "", spec))
			add(object(version, kind, "default", "", nil))
		}
	}
	return all
}

// linted is what 'kubectl backup lint' says of manifests.
func linted(ctx context.Context, manifests []*unstructured.Unstructured) map[string][]string {
	GinkgoHelper()
	binary := filepath.Join(GinkgoT().TempDir(), "kubectl-backup")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "../../cmd/kubectl-backup").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	var stream bytes.Buffer
	for _, u := range manifests {
		data, err := u.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		stream.Write(append(data, "\n---\n"...))
	}
	cmd := exec.CommandContext(ctx, binary, "lint", "-f", "-", "-o", "json")
	cmd.Stdin = &stream
	printed, err := cmd.Output()
	exit, ok := errors.AsType[*exec.ExitError](err)
	Expect(ok).To(BeTrue(), "something must be denied")
	Expect(exit.ExitCode()).To(Equal(1), string(exit.Stderr))
	var report struct {
		Documents []struct {
			Name, Verdict string
			Errors        []struct{ Field string }
		}
	}
	Expect(json.Unmarshal(printed, &report)).To(Succeed())
	said := map[string][]string{}
	for _, d := range report.Documents {
		fields := []string{}
		for _, e := range d.Errors {
			fields = append(fields, e.Field)
		}
		Expect(d.Verdict == "accept").To(Equal(len(fields) == 0), d.Name)
		slices.Sort(fields)
		said[d.Name] = fields
	}
	return said
}

var _ = Describe("kubectl backup lint", func() {
	It("says of every manifest what the API server says, in the same fields", func(ctx context.Context) {
		manifests := manyManifests()
		said := linted(ctx, manifests)
		Expect(said).To(HaveLen(len(manifests)))
		for _, u := range manifests {
			want := []string{}
			if err := admin.Create(ctx, u.DeepCopy(), client.DryRunAll); err != nil {
				want = slices.Sorted(maps.Keys(causes(err)))
			}
			Expect(said[u.GetName()]).To(Equal(want), "%v", u.Object)
		}
	})
})
