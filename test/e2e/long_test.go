// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && long

package e2e

import (
	"context"
	"fmt"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// versions are the resourceVersions of all that a namespace has of ours.
func versions(ctx context.Context, namespace string) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, list := range []client.ObjectList{&backupv1.BackupJobList{}, &backupv1.MySQLBackupList{}, &batchv1.JobList{}, &corev1.PodList{}, &eventsv1.EventList{}} {
		Expect(cluster.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
		Expect(meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			found[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetResourceVersion()
			return nil
		})).To(Succeed())
	}
	return found
}

// one is the value that a query finds, which is to be one.
func (p prometheus) one(query string) float64 {
	GinkgoHelper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	Expect(p.get("query", map[string][]string{"query": {query}}, &answer)).To(Succeed())
	Expect(answer.Data.Result).To(HaveLen(1), query)
	var value float64
	_, err := fmt.Sscan(answer.Data.Result[0].Value[1].(string), &value)
	Expect(err).NotTo(HaveOccurred())
	return value
}

var _ = Describe("A long watch", Label("long"), Serial, Ordered, func() {
	It("sees five minutes without one write, one pass and one event of idle objects, and ten of a run that always fails with ten events at most", func(ctx context.Context) {
		idle, busy := newNamespace(ctx), newNamespace(ctx)
		prepared(ctx, idle, "ran")
		ran := mysqlBackup(idle, "ran", nil)
		Expect(cluster.Create(ctx, ran)).To(Succeed())
		requestRun(ctx, ran)
		finished(ctx, ran, backupv1.ResultSucceeded)
		for name, change := range map[string]func(*backupv1.MySQLBackup){
			"scheduled": nil, "suspended": func(b *backupv1.MySQLBackup) { b.Spec.Suspend = new(true) },
			"finalizer": func(b *backupv1.MySQLBackup) { b.Spec.DeletionPolicy = backupv1.DeletionDelete },
		} {
			Expect(cluster.Create(ctx, mysqlBackup(idle, name, change))).To(Succeed())
		}
		prepared(ctx, busy, "fails")
		fails := backupJob(busy, "fails", func(b *backupv1.BackupJob) {
			b.Spec.MaxRetries, b.Spec.Source.Databases = new(int32(10)), []backupv1.DatabaseName{"no_such_database"}
		})
		Expect(cluster.Create(ctx, fails)).To(Succeed())
		requestRun(ctx, fails)
		began := time.Now()
		p := startPrometheus(ctx)

		By("waiting until all that has to be done is done")
		const made = `sum(controller_runtime_reconcile_total{controller="mysqlbackup"})`
		var last map[string]string
		Eventually(func(g Gomega) {
			now := versions(ctx, idle)
			same := maps.Equal(last, now)
			last = now
			g.Expect(same).To(BeTrue())
			g.Expect(p.series(made)).To(Equal(1))
		}).WithTimeout(3 * time.Minute).WithPolling(10 * time.Second).Should(Succeed())

		By("watching idle objects of a kind that nobody else uses")
		passes := p.one(made)
		Consistently(func(g Gomega) {
			g.Expect(versions(ctx, idle)).To(Equal(last))
			g.Expect(p.one(made)).To(Equal(passes))
		}).WithTimeout(5 * time.Minute).WithPolling(5 * time.Second).Should(Succeed())

		By("counting the events of the run that fails")
		sum := func() int {
			all := 0
			for _, n := range eventsOf(ctx, fails) {
				all += n
			}
			return all
		}
		Expect(sum()).To(BeNumerically(">", 0))
		Consistently(sum).WithTimeout(time.Until(began.Add(10*time.Minute))).WithPolling(10*time.Second).
			Should(BeNumerically("<=", 10), "%v", eventsOf(ctx, fails))
	})

	It("sees the controller's memory unmoved by Secrets and Pods of others", func(ctx context.Context) {
		ns := newNamespace(ctx)
		memory := func() float64 {
			return (startPrometheus(ctx)).settled(fmt.Sprintf(`process_resident_memory_bytes{pod=%q}`, leader(ctx)))
		}
		before := memory()
		var all errgroup.Group
		all.SetLimit(16)
		load := make([]byte, 32<<10)
		for i := range 3000 {
			all.Go(func() error {
				return cluster.Create(ctx, &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("s-%d", i)}, Data: map[string][]byte{"a": load},
				})
			})
		}
		for i := range 5000 {
			all.Go(func() error {
				return cluster.Create(ctx, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("p-%d", i), Labels: map[string]string{"app": "of-others"}},
					Spec: corev1.PodSpec{
						SchedulingGates: []corev1.PodSchedulingGate{{Name: "e2e.test/never"}},
						Containers:      []corev1.Container{{Name: "a", Image: "a"}},
					},
				})
			})
		}
		Expect(all.Wait()).To(Succeed())
		// What the controller reads it reads within seconds; a run makes it work.
		prepared(ctx, ns, "a")
		b := backupJob(ns, "a", nil)
		Expect(cluster.Create(ctx, b)).To(Succeed())
		requestRun(ctx, b)
		finished(ctx, b, backupv1.ResultSucceeded)
		after := memory()
		GinkgoWriter.Printf("memory of the controller: %.1f MiB, then %.1f MiB\n", before/(1<<20), after/(1<<20))
		Expect(after - before).To(BeNumerically("<", 20<<20))
	})
})

// settled is the value once it is there.
func (p prometheus) settled(query string) float64 {
	GinkgoHelper()
	Eventually(func() (int, error) { return p.series(query) }).WithTimeout(soon).Should(Equal(1))
	return p.one(query)
}
