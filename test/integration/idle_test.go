// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// passes is how many passes the controllers of this process have made.
func passes() float64 {
	GinkgoHelper()
	families, err := ctrlmetrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, family := range families {
		if family.GetName() == "controller_runtime_reconcile_total" {
			for _, m := range family.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// writes counts every call that changes something.
func writes(n *atomic.Int32) interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			n.Add(1)
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			n.Add(1)
			return c.Delete(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			n.Add(1)
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			n.Add(1)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

var _ = Describe("Idle objects", Serial, func() {
	BeforeEach(OncePerOrdered, func(ctx context.Context) { bindShippedRole(ctx) })

	It("cost no pass, no write and no event, whatever state they are in", func(ctx context.Context) {
		ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
		clock, wrote := clocktesting.NewFakePassiveClock(tick), &atomic.Int32{}
		startController(ns, clock, writes(wrote))
		ask := func(b *backupv1.BackupJob) {
			b.Annotations = map[string]string{backupv1.AnnotationRunRequestedAt: "now"}
		}
		for name, how := range map[string]batchv1.JobConditionType{"succeeded": batchv1.JobComplete, "failed": batchv1.JobFailed, "running": ""} {
			b := backup(ctx, ns, name, ask)
			Eventually(ctx, func(g Gomega) {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
				g.Expect(b.Status.Active).To(HaveLen(1))
			}).WithTimeout(soon).Should(Succeed(), "the run must start")
			if how != "" {
				var job batchv1.Job
				Expect(admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: b.Status.Active[0]}, &job)).To(Succeed())
				end(ctx, &job, how)
			}
		}
		quota(ctx, ns)
		for name, change := range map[string]func(*backupv1.BackupJob){
			"scheduled": nil, "suspended": func(b *backupv1.BackupJob) { b.Spec.Suspend = new(true) },
			"invalid": func(b *backupv1.BackupJob) { b.Spec.Schedule = "abc" }, "refused": ask,
			"finalizer": func(b *backupv1.BackupJob) { b.Spec.DeletionPolicy = backupv1.DeletionDelete },
		} {
			observed(ctx, backup(ctx, ns, name, change))
		}
		state := func() any {
			var backups backupv1.BackupJobList
			var jobs batchv1.JobList
			var events eventsv1.EventList
			versions := map[string]string{}
			for _, list := range []client.ObjectList{&backups, &jobs, &events} {
				Expect(admin.List(ctx, list, client.InNamespace(ns))).To(Succeed())
			}
			for i := range backups.Items {
				versions["object "+backups.Items[i].Name] = backups.Items[i].ResourceVersion + " " + string(backups.Items[i].Status.Phase)
			}
			for i := range jobs.Items {
				versions["Job "+jobs.Items[i].Name] = jobs.Items[i].ResourceVersion
			}
			for i := range events.Items {
				versions["event "+events.Items[i].Name] = events.Items[i].ResourceVersion
			}
			return []any{versions, wrote.Load(), passes()}
		}
		By("waiting until all that has to be done is done")
		last := state()
		Eventually(func() bool {
			before := last
			last = state()
			return reflect.DeepEqual(before, last)
		}).WithTimeout(soon).WithPolling(time.Second).Should(BeTrue())
		By("watching")
		Consistently(state).WithTimeout(5 * time.Second).WithPolling(500 * time.Millisecond).Should(Equal(last))
	})
})
