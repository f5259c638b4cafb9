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
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// conditionOf is what the object says of its runs.
func conditionOf(ctx context.Context, b *backupv1.BackupJob) metav1.Condition {
	GinkgoHelper()
	Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
	if c := meta.FindStatusCondition(b.Status.Conditions, backupv1.ConditionBackupSucceeded); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// says waits until the object says why a run waits or how it ended.
func says(ctx context.Context, b *backupv1.BackupJob, reason string, words ...string) {
	GinkgoHelper()
	Eventually(ctx, func() metav1.Condition { return conditionOf(ctx, b) }).WithTimeout(aRun).
		Should(HaveField("Reason", reason), "%s of %s must show", reason, b.Name)
	for _, word := range words {
		Expect(conditionOf(ctx, b).Message).To(ContainSubstring(word))
	}
}

// eventsOf are the events about the object, by reason.
func eventsOf(ctx context.Context, b client.Object) map[string]int {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(cluster.List(ctx, &list, client.InNamespace(b.GetNamespace()))).To(Succeed())
	count := map[string]int{}
	for _, e := range list.Items {
		if e.Regarding.UID == b.GetUID() {
			count[e.Reason]++
			if e.Series != nil {
				count[e.Reason] += int(e.Series.Count) - 1
			}
		}
	}
	return count
}

// active waits until a run goes on, and returns its Job.
func active(ctx context.Context, b *backupv1.BackupJob) *batchv1.Job {
	GinkgoHelper()
	job := &batchv1.Job{}
	Eventually(ctx, func(g Gomega) {
		g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
		g.Expect(b.Status.Active).To(HaveLen(1))
		g.Expect(cluster.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: b.Status.Active[0]}, job)).To(Succeed())
		g.Expect(job.Status.Active).To(BeEquivalentTo(1))
	}).WithTimeout(aRun).Should(Succeed(), "a run of %s must go on", b.Name)
	return job
}

func gone(ctx context.Context, o client.Object, within time.Duration) {
	GinkgoHelper()
	Eventually(ctx, func() bool {
		return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(o), o))
	}).WithTimeout(within).Should(BeTrue(), "%s must go", o.GetName())
}

// addArgument gives the controllers one more argument until the specs of the
// container are done.
func addArgument(ctx context.Context, argument string) {
	GinkgoHelper()
	change := func(ctx context.Context, op string) {
		kubectl(ctx, "-n", operatorNamespace, "patch", "deployment", "backupjob-controller", "--type=json", "-p", op)
		kubectl(ctx, "-n", operatorNamespace, "rollout", "status", "deployment/backupjob-controller", "--timeout=120s")
	}
	const arguments = "/spec/template/spec/containers/0/args"
	change(ctx, `[{"op":"add","path":"`+arguments+`/1","value":"`+argument+`"}]`)
	DeferCleanup(func(ctx context.Context) { change(ctx, `[{"op":"remove","path":"`+arguments+`/1"}]`) })
}

// All is provoked at once, and then seen one by one.
var _ = Describe("Provoked trouble", Ordered, Serial, func() {
	const elsewhere = "e2e.test/elsewhere"
	var ns string
	objects := map[string]*backupv1.BackupJob{}
	// held takes a call and never says a word, so that a run goes on.
	held := func(b *backupv1.BackupJob) {
		b.Spec.Source.Host, b.Spec.Source.Port = "kubernetes.default.svc", new(int32(443))
	}

	BeforeAll(func(ctx context.Context) {
		addArgument(ctx, "--cleanup-timeout=30s")
		ns = newNamespace(ctx)
		for name, change := range map[string]func(*backupv1.BackupJob){
			"noclaim": nil,
			"noimage": func(b *backupv1.BackupJob) {
				b.Spec.PodTemplate = &backupv1.PodTemplate{Image: new("backup.example.com/nowhere:1")}
			},
			"nonode": func(b *backupv1.BackupJob) {
				b.Spec.PodTemplate = &backupv1.PodTemplate{NodeSelector: map[string]backupv1.LabelValue{elsewhere: "yes"}}
				b.Spec.Schedule = "* * * * *"
			},
			"noaccount": func(b *backupv1.BackupJob) {
				b.Spec.PodTemplate = &backupv1.PodTemplate{ServiceAccountName: new("backup")}
			},
			"wrong": func(b *backupv1.BackupJob) {
				b.Spec.MaxRetries, b.Spec.Source.Databases = new(int32(1)), []backupv1.DatabaseName{"no_such_database"}
			},
			"lost": held, "left": held,
			"claimless": func(b *backupv1.BackupJob) { b.Spec.DeletionPolicy = backupv1.DeletionDelete },
		} {
			if name == "noclaim" || name == "claimless" {
				Expect(cluster.Create(ctx, secret(ns, name))).To(Succeed())
			} else {
				prepared(ctx, ns, name)
			}
			objects[name] = backupJob(ns, name, change)
			Expect(cluster.Create(ctx, objects[name])).To(Succeed())
			if name != "claimless" && name != "lost" { // which holds for the agent's 20 seconds only
				requestRun(ctx, objects[name])
			}
		}
		Eventually(ctx, func(g Gomega) {
			b := objects["claimless"]
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Finalizers).To(ContainElement(backupv1.FinalizerCleanup))
		}).WithTimeout(soon).Should(Succeed(), "the finalizer must be there")
		Expect(cluster.Delete(ctx, objects["claimless"])).To(Succeed())
	})

	It("a claim that is missing is told with the command that makes it", func(ctx context.Context) {
		says(ctx, objects["noclaim"], backupv1.ReasonClaimNotFound, `"noclaim-backups" is missing`, "kubectl -n "+ns+" create -f -")
		Expect(cluster.Create(ctx, claim(ns, "noclaim-backups"))).To(Succeed())
	})

	It("a Job that is deleted by hand while it runs is told and not run again", func(ctx context.Context) {
		b := objects["lost"]
		requestRun(ctx, b)
		job := active(ctx, b)
		kubectl(ctx, "-n", ns, "delete", "job", job.Name, "--wait=false")
		says(ctx, b, backupv1.ReasonJobDeleted, job.Name, "not run again")
		gone(ctx, job, soon)
		Expect(b.Status.Active).To(BeEmpty())
		Eventually(ctx, func() map[string]int { return eventsOf(ctx, b) }).WithTimeout(soon).Should(Equal(map[string]int{backupv1.ReasonRunStarted: 1, backupv1.ReasonJobDeleted: 1}))
	})

	It("an object that is deleted while it runs takes Job and Pod with it", func(ctx context.Context) {
		b := objects["left"]
		job := active(ctx, b)
		Expect(cluster.Delete(ctx, b)).To(Succeed())
		gone(ctx, b, soon)
		gone(ctx, job, soon)
		Eventually(ctx, func(g Gomega) {
			var pods corev1.PodList
			g.Expect(cluster.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{backupv1.LabelUID: string(b.UID)})).To(Succeed())
			g.Expect(pods.Items).To(BeEmpty())
		}).WithTimeout(soon).Should(Succeed(), "the Pod must go")
	})

	It("an image that is nowhere is told once, with the way out", func(ctx context.Context) {
		b := objects["noimage"]
		says(ctx, b, backupv1.ReasonImagePullFailed, "backup.example.com/nowhere:1", "kubectl -n "+ns+" delete job")
		Eventually(ctx, func() map[string]int { return eventsOf(ctx, b) }).WithTimeout(soon).Should(Equal(map[string]int{backupv1.ReasonRunStarted: 1, backupv1.ReasonImagePullFailed: 1}))
	})

	It("a ServiceAccount that is missing is told though there is no Pod", func(ctx context.Context) {
		says(ctx, objects["noaccount"], backupv1.ReasonPodNotCreated, `ServiceAccount "backup" is missing`, "kubectl -n "+ns+" create serviceaccount backup")
		kubectl(ctx, "-n", ns, "create", "serviceaccount", "backup")
	})

	It("a run that fails tells its attempts and its end, in three events", func(ctx context.Context) {
		b := objects["wrong"]
		finished(ctx, b, backupv1.ResultFailed)
		Expect(conditionOf(ctx, b).Message).To(ContainSubstring("no_such_database"))
		Eventually(ctx, func() map[string]int { return eventsOf(ctx, b) }).WithTimeout(soon).Should(Equal(map[string]int{
			backupv1.ReasonRunStarted: 1, backupv1.ReasonAttemptFailed: 1, backupv1.ReasonRunFailed: 1,
		}))
	})

	It("a deletion goes through in time though the claim is not there, and says what stays", func(ctx context.Context) {
		b := objects["claimless"]
		gone(ctx, b, 2*time.Minute)
		Eventually(ctx, func() map[string]int { return eventsOf(ctx, b) }).WithTimeout(soon).
			Should(HaveKey(backupv1.ReasonCleanupTimedOut))
		Expect(jobsOf(ctx, b)).To(BeEmpty())
	})

	It("a namespace goes while runs and a clean-up go on in it", func(ctx context.Context) {
		doomed := newNamespace(ctx)
		prepared(ctx, doomed, "a")
		b := backupJob(doomed, "a", func(b *backupv1.BackupJob) {
			held(b)
			b.Spec.DeletionPolicy = backupv1.DeletionDelete
		})
		Expect(cluster.Create(ctx, b)).To(Succeed())
		requestRun(ctx, b)
		active(ctx, b)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}
		Expect(cluster.Delete(ctx, namespace)).To(Succeed())
		gone(ctx, namespace, 2*time.Minute)
	})

	It("a Pod that no node takes is told in the scheduler's words, and holds the schedule up, which is told", func(ctx context.Context) {
		b := objects["nonode"]
		says(ctx, b, backupv1.ReasonUnschedulable, "node(s) didn't match Pod's node affinity/selector", "describe pod")
		Eventually(ctx, func() map[string]int { return eventsOf(ctx, b) }).WithTimeout(aRun).Should(HaveKey(backupv1.ReasonRunSkipped))
		kubectl(ctx, "label", "node", "--all", elsewhere+"=yes")
		DeferCleanup(func(ctx context.Context) { kubectl(ctx, "label", "node", "--all", elsewhere+"-") })
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.LastResult).To(Equal(backupv1.ResultSucceeded))
		}).WithTimeout(aRun).Should(Succeed(), "the waiting run must go on by itself")
	})

	It("all that was mended has run", func(ctx context.Context) {
		finished(ctx, objects["noclaim"], backupv1.ResultSucceeded)
		finished(ctx, objects["noaccount"], backupv1.ResultSucceeded)
	})
})
