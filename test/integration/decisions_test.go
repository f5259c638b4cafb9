// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// decisionKeys are all that a line about a decision may hold.
var decisionKeys = []string{
	"allowed", "dryRun", "duration", "faults", "groups", "kind", "level", "logger", "msg", "name", "namespace", "operation",
	"reason", "ts", "uid", "user", "version", "warnings",
}

var _ = Describe("What is left of a decision", func() {
	for _, kind := range kinds {
		for _, version := range versions {
			counted := func(result, operation string) func() float64 {
				return func() float64 {
					return door.metric("backupjob_admission_decisions_total",
						map[string]string{"kind": kind, "version": version, "operation": operation, "result": result})
				}
			}
			field := scheduleField(version, kind)

			It("is one line of log, one of audit and one count for each write of "+version+" "+kind, func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				Expect(admin.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a-credentials", Namespace: ns},
					StringData: map[string]string{"password": "hunter2"}})).To(Succeed())
				allowed, denied := counted("allowed", "CREATE")(), counted("denied", "UPDATE")()
				u := object(version, kind, ns, "a", map[string]any{field: "*/5 * * * *"})
				set(u, map[string]any{"hunter3": "hunter4"}, "spec", "podTemplate", "annotations")
				Expect(admin.Create(ctx, u.DeepCopy(), client.DryRunAll)).To(Succeed())
				Expect(admin.Create(ctx, u)).To(Succeed())
				spec, _ := fourFaults(version, kind)
				bad := read(ctx, version, kind, ns, "a")
				for name, value := range spec {
					set(bad, value, "spec", name)
				}
				refused := causes(admin.Update(ctx, bad))

				lines := logs.decisions(ns, "a")
				Expect(lines).To(HaveLen(3))
				for i, want := range []map[string]any{
					{"operation": "CREATE", "dryRun": true, "allowed": true, "reason": "Valid"},
					{"operation": "CREATE", "dryRun": false, "allowed": true, "reason": "Valid"},
					{"operation": "UPDATE", "dryRun": false, "allowed": false, "reason": "Invalid"},
				} {
					line := lines[i]
					maps.Copy(want, map[string]any{"kind": kind, "version": version, "user": "admin", "namespace": ns, "name": "a"})
					for key, value := range want {
						Expect(line).To(HaveKeyWithValue(key, value))
					}
					Expect(slices.Sorted(maps.Keys(line))).To(Equal(decisionKeys))
					Expect(line["groups"]).To(ContainElements("system:masters", "system:authenticated"))
					Expect(line["uid"]).To(MatchRegexp(`^[0-9a-f]{8}-[0-9a-f-]{27}$`))
					Expect(line["duration"]).To(MatchRegexp(`[0-9]s$`))
					text, err := json.Marshal(line)
					Expect(err).NotTo(HaveOccurred())
					Expect(string(text)).NotTo(ContainSubstring("hunter"), "no content of Secrets, and no value without a fault")
				}
				Expect(lines[1]["warnings"]).To(HaveLen(1))
				Expect(lines[2]["faults"]).To(HaveLen(len(refused)))
				for path := range refused {
					Expect(lines[2]["faults"]).To(ContainElement(HavePrefix(path + ": ")))
				}

				By("the metrics")
				Expect(counted("allowed", "CREATE")() - allowed).To(BeNumerically("==", 2))
				Expect(counted("denied", "UPDATE")() - denied).To(BeNumerically("==", 1))
				Expect(door.metric("backupjob_admission_duration_seconds", map[string]string{"kind": kind})).To(BeNumerically(">=", 5))
				Expect(door.metric("backupjob_webhook_panics_total", nil)).To(BeZero())

				By("the audit log")
				var audit []string
				Eventually(ctx, func() []string {
					audit = auditAnnotations(ns, "a")
					return audit
				}).WithTimeout(soon).Should(ContainElement(And(HavePrefix(mutating(kind)+"/faults="), ContainSubstring("spec."+field+" (Invalid value)"))),
					"the log is written after the answer")
				Expect(audit).To(ContainElements(
					validating(kind)+"/decision=allowed", validating(kind)+"/reason=Valid", mutating(kind)+"/decision=denied", mutating(kind)+"/reason=Invalid"))
				Expect(audit).To(ContainElement(And(HavePrefix(validating(kind)+"/warnings="), ContainSubstring("15 minutes"))))
				Expect(strings.Join(audit, "\n")).NotTo(ContainSubstring("hunter"))
			})
		}
	}
})

// oddSpecs are specs of v1alpha1 as they may be stored: from before a rule
// existed, or while the webhooks were away.
func oddSpecs(kind string) map[string]map[string]any {
	field := scheduleField("v1alpha1", kind)
	return map[string]map[string]any{
		"schedule": {field: "abc"}, "zone": {field: "CRON_TZ=Mars/Olympus 0 2 * * *"}, "seldom": {field: "0 0 30 2 *"},
		"often": {field: "*/5 * * * *"}, "host": {hostField(kind): "127.0.0.1.5:99"}, "tls": {"tls": map[string]any{"mode": "Required", "caSecretRef": map[string]any{"name": "ca"}}},
	}
}

var _ = Describe("A write that changes nothing", func() {
	for _, kind := range kinds {
		It("passes without a warning whatever is stored of "+kind+", in both versions", func(ctx context.Context) {
			ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
			odd := oddSpecs(kind)
			for name, spec := range odd {
				Expect(admin.Create(ctx, object("v1alpha1", kind, ns, name, spec))).To(Succeed())
			}
			setLabels(ctx, ns, nil)
			w := &warnings{}
			c := clientWithHandler(config, w)
			for name := range odd {
				for _, version := range versions {
					writeBack(ctx, c, read(ctx, version, kind, ns, name))
				}
				Expect(w.texts).To(BeEmpty(), name)
			}
		})

		It("and every other one of "+kind+" is possible as far as it goes in a namespace that is being deleted", func(ctx context.Context) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "it-", Labels: map[string]string{labelNoWebhooks: ""}}}
			Expect(admin.Create(ctx, ns)).To(Succeed())
			odd := oddSpecs(kind)
			for name, spec := range odd {
				u := object("v1alpha1", kind, ns.Name, name, spec)
				u.SetFinalizers([]string{"integration.test/hold"})
				Expect(admin.Create(ctx, u)).To(Succeed())
			}
			setLabels(ctx, ns.Name, nil)
			Expect(admin.Delete(ctx, ns)).To(Succeed())
			for name := range odd {
				for _, version := range versions {
					writeBack(ctx, admin, read(ctx, version, kind, ns.Name, name))
				}
				Expect(admin.Delete(ctx, read(ctx, "v1", kind, ns.Name, name))).To(Succeed())
				gone := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
				Expect(admin.Patch(ctx, read(ctx, "v1alpha1", kind, ns.Name, name), gone)).To(Succeed())
			}
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(as("v1", kind).GroupVersionKind())
			Expect(admin.List(ctx, list, client.InNamespace(ns.Name))).To(Succeed())
			Expect(list.Items).To(BeEmpty())
		})
	}
})

// writeBack writes an object as it is in each of the ways that there are.
func writeBack(ctx context.Context, c client.Client, u *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(c.Update(ctx, u.DeepCopy())).To(Succeed())
	whole, err := json.Marshal(map[string]any{"spec": u.Object["spec"]})
	Expect(err).NotTo(HaveOccurred())
	for _, patch := range [][]byte{[]byte(`{}`), whole} {
		Expect(c.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	}
	part := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "spec": u.Object["spec"],
		"metadata": map[string]any{"name": u.GetName(), "namespace": u.GetNamespace()},
	}}
	Expect(c.Apply(ctx, client.ApplyConfigurationFromUnstructured(part), client.FieldOwner("again"), client.ForceOwnership)).To(Succeed())
}

var _ = Describe("Kinds that are not ours", func() {
	It("are written without asking the webhooks", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		calls := door.metric("backupjob_admission_duration_seconds", nil)
		expectOthersUntouched(ctx, ns)
		Expect(door.metric("backupjob_admission_duration_seconds", nil)).To(Equal(calls))
	})
})
