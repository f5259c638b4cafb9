// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// finished waits for the run that was asked for and returns the status.
func finished(ctx context.Context, b backupv1.Backup, want backupv1.RunResult) *backupv1.BackupStatus {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
		g.Expect(b.RunStatus().LastHandledRunRequest).To(Equal(b.GetAnnotations()[backupv1.AnnotationRunRequestedAt]))
		g.Expect(b.RunStatus().Active).To(BeEmpty())
		g.Expect(b.RunStatus().LastResult).To(Equal(want))
	}).WithTimeout(aRun).Should(Succeed(), func() string {
		return fmt.Sprintf("the run must end as %s; status: %+v", want, *b.RunStatus())
	})
	return b.RunStatus()
}

// restored restores the newest backup into the empty server and compares.
func restored(ctx context.Context, name, claimName string) {
	GinkgoHelper()
	sql(ctx, "mysql-empty", "DROP DATABASE IF EXISTS user_profiles")
	manifest, err := os.ReadFile("../database/restore.yaml")
	Expect(err).NotTo(HaveOccurred())
	text := strings.NewReplacer("restore-maindb", "restore-"+name, "--name=backup-maindb", "--name="+name,
		"backup-maindb-backups", claimName).Replace(string(manifest))
	file := GinkgoT().TempDir() + "/restore.yaml"
	Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	kubectl(ctx, "apply", "-f", file)
	DeferCleanup(func(ctx context.Context) { kubectl(ctx, "delete", "-f", file, "--ignore-not-found", "--timeout=3m") })
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "restore-" + name}}
	Eventually(ctx, func(g Gomega) {
		g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(job), job)).To(Succeed())
		g.Expect(job.Status.Succeeded + job.Status.Failed).To(BeEquivalentTo(1))
	}).WithTimeout(aRun).Should(Succeed(), "the restore must end")
	Expect(job.Status.Succeeded).To(BeEquivalentTo(1), kubectl(ctx, "logs", "job/restore-"+name))
	Expect(checksums(ctx, "mysql-empty")).To(Equal(checksums(ctx, "mysql-primary")))
}

var _ = Describe("From kubectl apply to a restored dump", Ordered, func() {
	for _, c := range []struct {
		file, claim string
		object      backupv1.Backup
	}{
		{"v1alpha1_mysqlbackup.yaml", "backup-maindb-backups", &backupv1.MySQLBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "backup-maindb"}}},
		{"v1alpha1_backupjob.yaml", "nightly-backups", &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"}}},
	} {
		It("the old manifest "+c.file+" ends with a restored dump", func(ctx context.Context) {
			out := kubectl(ctx, "apply", "-f", "../../config/samples/"+c.file)
			DeferCleanup(func(ctx context.Context) {
				kubectl(ctx, "delete", "-f", "../../config/samples/"+c.file, "--ignore-not-found", "--timeout=3m")
			})
			Expect(out).To(ContainSubstring("is deprecated; use backup.example.com/v1"))
			Eventually(ctx, func(g Gomega) {
				g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(c.object), c.object)).To(Succeed())
				g.Expect(c.object.RunStatus().Phase).To(Equal(backupv1.PhaseScheduled))
				g.Expect(c.object.RunStatus().NextScheduleTime).NotTo(BeNil())
			}).WithTimeout(soon).Should(Succeed(), "the controller must see it")
			Expect(jobsOf(ctx, c.object)).To(BeEmpty(), "creating an object starts nothing")

			requestRun(ctx, c.object)
			status := finished(ctx, c.object, backupv1.ResultSucceeded)
			Expect(status.LastBackup).NotTo(BeNil())
			Expect(status.LastBackup.SHA256).To(HaveLen(64))
			Expect(*status.LastBackup.SizeBytes).To(BeNumerically(">", 1000))
			restored(ctx, c.object.GetName(), c.claim)
		})
	}

	It("a MySQLBackup written in v1 by the other kind's image works too", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "maria")
		b := backupJob(ns, "maria", func(b *backupv1.BackupJob) {
			b.Spec.Source.Engine = backupv1.EngineMariaDB
			b.Spec.Compression = backupv1.CompressionGzip
		})
		Expect(cluster.Create(ctx, b)).To(Succeed())
		requestRun(ctx, b)
		Expect(finished(ctx, b, backupv1.ResultSucceeded).LastBackup.Location).To(HaveSuffix(".sql.gz"))
	})
})

var _ = Describe("Runs that go wrong", func() {
	It("say why in words, and heal by themselves once the Secret is there", func(ctx context.Context) {
		ns := newNamespace(ctx)
		Expect(cluster.Create(ctx, claim(ns, "a-backups"))).To(Succeed())
		b := backupJob(ns, "a", nil)
		Expect(cluster.Create(ctx, b)).To(Succeed())
		requestRun(ctx, b)
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
			g.Expect(b.Status.Conditions).To(ContainElement(And(
				HaveField("Type", backupv1.ConditionBackupSucceeded),
				HaveField("Reason", backupv1.ReasonSecretNotFound),
				HaveField("Message", ContainSubstring("a-credentials")),
			)))
		}).WithTimeout(aRun).Should(Succeed(), "the missing Secret must show")
		Expect(cluster.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a-credentials"},
			StringData: map[string]string{"username": "example-user", "password": "example-password-change-me"},
		})).To(Succeed())
		finished(ctx, b, backupv1.ResultSucceeded)
	})

	It("carry the dump tool's own last line, and leave no file", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "a")
		b := backupJob(ns, "a", func(b *backupv1.BackupJob) {
			b.Spec.MaxRetries = new(int32(0))
			b.Spec.Source.Databases = []backupv1.DatabaseName{"no_such_database"}
		})
		Expect(cluster.Create(ctx, b)).To(Succeed())
		requestRun(ctx, b)
		status := finished(ctx, b, backupv1.ResultFailed)
		Expect(status.LastBackup).To(BeNil())
		Expect(status.Conditions).To(ContainElement(And(
			HaveField("Type", backupv1.ConditionBackupSucceeded), HaveField("Status", metav1.ConditionFalse),
			HaveField("Message", ContainSubstring("no_such_database")),
		)))
		Expect(status.Phase).To(Equal(backupv1.PhaseScheduled), "a failed run is no phase")
	})
})

var _ = Describe("Deletion", func() {
	It("removes the object's Jobs and Pods", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "a")
		b := backupJob(ns, "a", nil)
		Expect(cluster.Create(ctx, b)).To(Succeed())
		requestRun(ctx, b)
		finished(ctx, b, backupv1.ResultSucceeded)
		Expect(jobsOf(ctx, b)).NotTo(BeEmpty())
		Expect(cluster.Delete(ctx, b)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(b), b))).To(BeTrue())
			g.Expect(jobsOf(ctx, b)).To(BeEmpty())
			var pods corev1.PodList
			g.Expect(cluster.List(ctx, &pods, client.InNamespace(ns))).To(Succeed())
			g.Expect(pods.Items).To(BeEmpty())
		}).WithTimeout(soon).Should(Succeed(), "the garbage collector takes Jobs and Pods")
	})

	It("removes the backups first with deletionPolicy Delete", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "a")
		b := backupJob(ns, "a", func(b *backupv1.BackupJob) { b.Spec.DeletionPolicy = backupv1.DeletionDelete })
		Expect(cluster.Create(ctx, b)).To(Succeed())
		requestRun(ctx, b)
		finished(ctx, b, backupv1.ResultSucceeded)
		Expect(b.Finalizers).To(ContainElement(backupv1.FinalizerCleanup))
		Expect(cluster.Delete(ctx, b)).To(Succeed())
		Eventually(ctx, func() bool {
			return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(b), b))
		}).WithTimeout(aRun).Should(BeTrue(), "the object must go once its backups are gone")
		lister := listJob(ns, "a")
		Expect(cluster.Create(ctx, lister)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(lister), lister)).To(Succeed())
			g.Expect(lister.Status.Succeeded).To(BeEquivalentTo(1))
		}).WithTimeout(aRun).Should(Succeed(), "the list must end")
		Expect(kubectl(ctx, "logs", "-n", ns, "job/"+lister.Name)).NotTo(ContainSubstring(".sql."))
	})

	It("lets a namespace go with everything in it", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "a")
		Expect(cluster.Create(ctx, backupJob(ns, "a", func(b *backupv1.BackupJob) { b.Spec.DeletionPolicy = backupv1.DeletionDelete }))).To(Succeed())
		Expect(cluster.Create(ctx, backupJob(ns, "b", nil))).To(Succeed())
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
		Expect(cluster.Delete(ctx, namespace)).To(Succeed())
		Eventually(ctx, func() bool {
			return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(namespace), namespace))
		}).WithTimeout(soon).Should(BeTrue(), "nothing of ours may hold a namespace")
	})
})

// listJob prints the backups of an object with the agent of our own image.
func listJob(namespace, name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "list-" + name},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy:   corev1.RestartPolicyNever,
				SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(65532)), FSGroup: new(int64(65532))},
				Containers: []corev1.Container{{
					Name: "list", Image: image(),
					Command:      []string{"/agent", "list", "--namespace=" + namespace, "--name=" + name},
					VolumeMounts: []corev1.VolumeMount{{Name: "backups", MountPath: "/backup"}},
				}},
				Volumes: []corev1.Volume{{Name: "backups", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name + "-backups"},
				}}},
			}},
		},
	}
}

// image is the operator's.
func image() string {
	if name := os.Getenv("IMAGE"); name != "" {
		return name
	}
	return "backup.example.com/backupjob-operator:v0.1.0"
}
