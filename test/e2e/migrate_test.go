// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The specs take the whole cluster to v1 and back, so nothing runs beside them.
var _ = Describe("kubectl backup migrate", Label("long"), Serial, Ordered, func() {
	var (
		f      *fleet
		before map[string]string
		sums   []string
	)
	BeforeAll(func(ctx context.Context) {
		f = newFleet(ctx)
		DeferCleanup(f.restore)
		f.store(ctx, "v1alpha1")
		begun := time.Now()
		f.create(ctx)
		AddReportEntry(fmt.Sprintf("%d objects were made and seen by the controller in %s", migrated, time.Since(begun).Round(time.Second)))
		f.store(ctx, "v1")
		before = f.contents(ctx)
		Expect(before).To(HaveLen(2 * migrated))
	})

	It("plans: names the object that a policy would refuse, and the cluster's own migration fails over it, with nothing lost", func(ctx context.Context) {
		f.refuse(ctx, "m-7")
		r, code := f.migrate(ctx, "plan")
		Expect(code).To(Equal(1))
		Expect(r.Problems).To(HaveLen(1))
		Expect(r.Problems[0]).To(And(HaveField("Name", "m-7"), HaveField("Reason", "Refused"),
			HaveField("Message", ContainSubstring("this backup needs an owner")),
			HaveField("Advice", ContainSubstring("kubectl edit -n "+f.namespace))))
		out, code := f.plugin(ctx, "run")
		Expect(code).To(Equal(1), out)
		Expect(out).To(And(ContainSubstring("this backup needs an owner"), ContainSubstring("Nothing is lost")))
		expectSame(f.contents(ctx), before)
		Expect(f.storedVersions(ctx)[1]).To(Equal("v1alpha1,v1"), "Kubernetes trims them after a failure too, which would let v1alpha1 be dropped")
		f.acceptAll(ctx)
	})

	It("plans: finds nothing in the way", func(ctx context.Context) {
		r, code := f.migrate(ctx, "plan")
		Expect(code).To(Equal(0), "%+v", r)
		Expect(r.Checks).To(HaveEach(HaveField("Result", "OK")))
		Expect(r.Managers).To(ContainElement(HaveField("Name", "team-a")))
		Expect(r.Notes).To(ContainElement(ContainSubstring("StorageVersionMigration")))
		for _, resource := range r.Resources {
			sums = append(sums, resource.Checksum)
		}
	})

	It("runs by the cluster's own migration: interrupted, with the webhook restarted and others writing v1alpha1", func(ctx context.Context) {
		others := f.startBystander(ctx)
		others.goOn(ctx, 5)
		out, code := f.interrupted(ctx, "the cluster stores as v1", "run")
		if code != 0 {
			Expect(out).To(ContainSubstring("the cluster's own migration goes on"))
		}
		kubectl(ctx, "-n", operatorNamespace, "rollout", "restart", "deployment/backupjob-webhook")
		r, code := f.migrate(ctx, "run")
		Expect(code).To(Equal(0), "%+v", r)
		kubectl(ctx, "-n", operatorNamespace, "rollout", "status", "deployment/backupjob-webhook", "--timeout=180s")
		others.goOn(ctx, 5)
		others.end()
		Expect(f.storedVersions(ctx)).To(Equal([]string{"v1", "v1"}))
		expectSame(f.contents(ctx), before)
		Expect(f.requests()).To(BeZero(), "what is done is tidied up")
	})

	It("verifies, with the checksum of the plan", func(ctx context.Context) {
		f.deleteBusy(ctx)
		r, code := f.migrate(ctx, "verify")
		Expect(code).To(Equal(0), "%+v", r)
		for i, resource := range r.Resources {
			Expect(resource.Checksum).To(Equal(sums[i]), resource.Name)
			Expect(resource.Different).To(BeZero())
		}
	})

	It("finishes, once it is told that the manifests are updated, and is taken back", func(ctx context.Context) {
		f.restore(ctx) // kubectl applies the CRDs again, which this test has edited
		r, code := f.migrate(ctx, "finish")
		Expect(code).To(Equal(1))
		Expect(r.Checks).To(ContainElement(And(HaveField("Result", "Blocked"), HaveField("Message", ContainSubstring("kubectl applies a CRD")))))
		r, code = f.migrate(ctx, "finish", "--manifests-updated")
		Expect(code).To(Equal(0), "%+v", r)
		_, code = f.migrate(ctx, "finish", "--undo")
		Expect(code).To(Equal(0))
		expectSame(f.contents(ctx), before)
		r, code = f.migrate(ctx, "finish", "--manifests-updated")
		Expect(code).To(Equal(0), "%+v", r)
	})

	It("loses the version, and every old manager goes on in v1, pruning included", func(ctx context.Context) {
		f.drop(ctx)
		f.goOnInNew(ctx)
	})

	if migrated > 1000 {
		It("tells how long it takes beside the cluster's migration alone", func(ctx context.Context) {
			f.restore(ctx)
			f.store(ctx, "v1alpha1")
			f.ask(ctx)
			f.store(ctx, "v1")
			begun := time.Now()
			f.ask(ctx)
			alone := time.Since(begun)

			f.store(ctx, "v1alpha1")
			f.ask(ctx)
			f.store(ctx, "v1")
			begun = time.Now()
			_, code := f.migrate(ctx, "run")
			Expect(code).To(Equal(0))
			ran := time.Since(begun)
			_, code = f.migrate(ctx, "verify")
			Expect(code).To(Equal(0))
			both := time.Since(begun)
			// The figures are for people; a busy machine is no failure.
			AddReportEntry(fmt.Sprintf("P9: the cluster's migration alone %s; run %s, run and verify %s: ratio %.2f",
				alone.Round(time.Second), ran.Round(time.Second), both.Round(time.Second), both.Seconds()/alone.Seconds()))
		})
	}
})

// bystander applies an object in v1alpha1 again and again; the webhook has two
// replicas, so no write may fail.
type bystander struct {
	stop   context.CancelFunc
	done   chan struct{}
	writes chan struct{}
	errs   []error
}

func (f *fleet) startBystander(ctx context.Context) *bystander {
	ctx, stop := context.WithCancel(ctx)
	b := &bystander{stop: stop, done: make(chan struct{}), writes: make(chan struct{}, 1_000_000)}
	go func() {
		defer close(b.done)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for n := int64(0); ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			u := f.config(busy, 0)
			u.Object["spec"].(map[string]any)["retentionDays"] = 1 + n%3000
			if err := cluster.Apply(context.WithoutCancel(ctx), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("team-a")); err != nil {
				b.errs = append(b.errs, err)
			}
			b.writes <- struct{}{}
		}
	}()
	return b
}

func (b *bystander) goOn(ctx context.Context, n int) {
	GinkgoHelper()
	until := len(b.writes) + n
	Eventually(ctx, func() int { return len(b.writes) }).WithTimeout(soon).Should(BeNumerically(">=", until), "writes must go on")
}

func (b *bystander) end() {
	GinkgoHelper()
	b.stop()
	<-b.done
	Expect(b.errs).To(BeEmpty())
}

// expectSame compares contents, and names only what differs.
func expectSame(got, want map[string]string) {
	GinkgoHelper()
	Expect(got).To(HaveLen(len(want)))
	var differing []string
	for name, text := range got {
		if text != want[name] {
			differing = append(differing, name+" is "+text+", was "+want[name])
		}
	}
	Expect(len(differing)).To(BeZero(), "%d objects differ, such as %s", len(differing), strings.Join(differing[:min(len(differing), 3)], "\n"))
}
