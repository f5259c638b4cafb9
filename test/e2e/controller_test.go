// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// killController ends every controller Pod without grace, as kill -9 does.
func killController(ctx context.Context) {
	GinkgoHelper()
	Expect(cluster.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(operatorNamespace),
		client.MatchingLabels{"app.kubernetes.io/component": "controller"}, client.GracePeriodSeconds(0))).To(Succeed())
}

// jobNames are the names of all Jobs of an object that a watch has seen
// created, so that a Job which is gone again counts too.
func watchJobs(ctx context.Context, b client.Object) func() []string {
	GinkgoHelper()
	cfg, err := config.GetConfig()
	Expect(err).NotTo(HaveOccurred())
	watcher, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	stream, err := watcher.Watch(ctx, &batchv1.JobList{}, client.InNamespace(b.GetNamespace()))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(stream.Stop)
	seen := make(chan string, 100)
	go func() {
		defer GinkgoRecover()
		for event := range stream.ResultChan() {
			if job, ok := event.Object.(*batchv1.Job); ok && event.Type == watch.Added {
				seen <- job.Annotations[backupv1.AnnotationScheduledTime]
			}
		}
	}()
	var times []string
	return func() []string {
		for {
			select {
			case at := <-seen:
				times = append(times, at)
			default:
				return times
			}
		}
	}
}

var _ = Describe("The controller", Serial, func() {
	It("starts one Job per scheduled time with two replicas, one of them killed over and over", func(ctx context.Context) {
		var pods corev1.PodList
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.List(ctx, &pods, client.InNamespace(operatorNamespace), client.MatchingLabels{"app.kubernetes.io/component": "controller"})).To(Succeed())
			g.Expect(pods.Items).To(HaveLen(2))
		}).WithTimeout(soon).Should(Succeed(), "one that another spec replaced may be on its way out")

		ns := newNamespace(ctx)
		prepared(ctx, ns, "minutely")
		b := backupJob(ns, "minutely", func(b *backupv1.BackupJob) {
			b.Spec.Schedule = "* * * * *"
			b.Spec.SuccessfulJobsHistoryLimit = new(int32(50))
		})
		seen := watchJobs(ctx, b)
		Expect(cluster.Create(ctx, b)).To(Succeed())

		By("killing both as soon as each Job appears, which is between its creation and the status")
		killed := 0
		Eventually(ctx, func(g Gomega) {
			if n := len(seen()); n > killed {
				killController(ctx)
				killed = n
			}
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(killed).To(BeNumerically(">=", 2))
			g.Expect(b.Status.LastResult).To(Equal(backupv1.ResultSucceeded))
		}).WithTimeout(6*time.Minute).WithPolling(100*time.Millisecond).Should(Succeed(), "two ticks must pass and a run be seen to its end")

		times := seen()
		unique := map[string]bool{}
		for _, at := range times {
			Expect(unique).NotTo(HaveKey(at), "two Jobs for one scheduled time: %v", times)
			unique[at] = true
		}
		kubectl(ctx, "-n", operatorNamespace, "rollout", "status", "deployment/backupjob-controller", "--timeout=120s")
	})
})
