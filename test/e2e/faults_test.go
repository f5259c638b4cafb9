// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// component stops, starts or restarts a part of the embedded cluster.
func component(ctx context.Context, args ...string) {
	GinkgoHelper()
	args = append(args[:1:1], append([]string{"--name", os.Getenv("EMBEDDED")}, args[1:]...)...)
	out, err := command(ctx, os.Getenv("CLUSTER"), args...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "cluster %s\n%s", strings.Join(args, " "), out)
}

// leader is the Pod that holds the lease.
func leader(ctx context.Context) string {
	GinkgoHelper()
	var lease coordinationv1.Lease
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: "backupjob-operator.example.com"}, &lease)).To(Succeed())
	Expect(lease.Spec.HolderIdentity).NotTo(BeNil())
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod
}

// processOf is the controller's process in the Pod, on this machine.
func processOf(ctx context.Context, pod string) int {
	GinkgoHelper()
	var p corev1.Pod
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: pod}, &p)).To(Succeed())
	_, container, _ := strings.Cut(p.Status.ContainerStatuses[0].ContainerID, "://")
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	Expect(err).NotTo(HaveOccurred())
	for _, file := range groups {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			Expect(err).NotTo(HaveOccurred())
		}
		if container != "" && strings.Contains(string(data), container) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			Expect(err).NotTo(HaveOccurred())
			return pid
		}
	}
	Fail("no process of Pod " + pod)
	return 0
}

func signal(pid int, s syscall.Signal) {
	GinkgoHelper()
	Expect(syscall.Kill(pid, s)).To(Succeed())
}

// before waits until so long before the next full minute, and returns that.
func before(ctx context.Context, long time.Duration) time.Time {
	GinkgoHelper()
	minute := time.Now().Add(long + time.Second).Truncate(time.Minute).Add(time.Minute)
	select {
	case <-time.After(time.Until(minute.Add(-long))):
	case <-ctx.Done():
		Fail("interrupted")
	}
	return minute.UTC()
}

// jobFor waits for the Job of one scheduled time.
func jobFor(ctx context.Context, b *backupv1.BackupJob, tick time.Time) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		var times []string
		for _, job := range jobsOf(ctx, b) {
			times = append(times, job.Annotations[backupv1.AnnotationScheduledTime])
		}
		g.Expect(times).To(ContainElement(tick.Format(time.RFC3339)))
	}).WithTimeout(90*time.Second).Should(Succeed(), "the run of %s must start", tick)
}

var _ = Describe("A schedule, with the cluster failing around it", Serial, func() {
	It("misses no time and runs none twice", func(ctx context.Context) {
		if os.Getenv("CLUSTER") == "" || os.Getenv("EMBEDDED") == "" {
			Skip("only the parts of the embedded cluster can be stopped")
		}
		ns := newNamespace(ctx)
		prepared(ctx, ns, "minutely")
		b := backupJob(ns, "minutely", func(b *backupv1.BackupJob) {
			b.Spec.Schedule, b.Spec.ConcurrencyPolicy = "* * * * *", backupv1.ConcurrencyAllow
			b.Spec.SuccessfulJobsHistoryLimit, b.Spec.FailedJobsHistoryLimit = new(int32(50)), new(int32(50))
		})
		Expect(cluster.Create(ctx, b)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.NextScheduleTime).NotTo(BeNil())
		}).WithTimeout(soon).Should(Succeed(), "the controller must see it")

		By("freezing the leader across a time: the other one takes over")
		first := before(ctx, 2*time.Second)
		was := leader(ctx)
		frozen := processOf(ctx, was)
		signal(frozen, syscall.SIGSTOP)
		jobFor(ctx, b, first)
		Expect(leader(ctx)).NotTo(Equal(was))
		signal(frozen, syscall.SIGCONT)

		By("killing leader, API server and etcd right before a time, and the kubelet for a while after it")
		second := before(ctx, 2*time.Second)
		signal(processOf(ctx, leader(ctx)), syscall.SIGKILL)
		component(ctx, "restart", "--kill", "etcd")
		component(ctx, "restart", "--kill", "kube-apiserver")
		component(ctx, "stop", "kubelet")
		jobFor(ctx, b, second)

		By("starting the kubelet again after the next time")
		third := second.Add(time.Minute)
		jobFor(ctx, b, third)
		component(ctx, "start", "kubelet")

		By("seeing every run to its end")
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.LastSuccessfulTime).NotTo(BeNil())
			g.Expect(b.Status.LastSuccessfulTime.Time).To(BeTemporally(">", third))
			ended := map[string]int{}
			for _, job := range jobsOf(ctx, b) {
				ended[job.Annotations[backupv1.AnnotationScheduledTime]] += int(job.Status.Succeeded)
			}
			for tick := first; !tick.After(third); tick = tick.Add(time.Minute) {
				g.Expect(ended).To(HaveKeyWithValue(tick.Format(time.RFC3339), 1))
			}
		}).WithTimeout(aRun).WithPolling(time.Second).Should(Succeed(), "each time must have one run that succeeded")
		Expect(b.Status.LastSkippedTime).To(BeNil())
		kubectl(ctx, "-n", operatorNamespace, "rollout", "status", "deployment/backupjob-controller", "deployment/backupjob-webhook", "--timeout=120s")
	})
})
