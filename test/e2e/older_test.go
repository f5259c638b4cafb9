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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func ofOlder(kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("example.com/v1")
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

var _ = Describe("docs/migration.md, coming from the operators of example.com/v1", Serial, func() {
	It("takes their objects over and removes their CRDs with nothing lost", func(ctx context.Context) {
		blocks := commands("migration.md", "## Coming from the operators of example.com/v1")
		Expect(blocks).To(HaveLen(3), "taking over, applying, removing")
		ns, folder := newNamespace(ctx), GinkgoT().TempDir()
		kubectl(ctx, "apply", "-f", "testdata/older/crds.yaml")
		DeferCleanup(func(ctx context.Context) {
			kubectl(ctx, "delete", "--ignore-not-found", "--timeout=3m", "-f", "testdata/older/crds.yaml")
		})
		kubectl(ctx, "wait", "--for=condition=Established", "crd/mysqlbackups.example.com", "crd/backupjobs.example.com", "--timeout=30s")
		kubectl(ctx, "apply", "-n", ns, "-f", "testdata/older/objects.yaml")

		By("what the older operators left: a claim, a Secret and a Job that their objects own")
		mysql := ofOlder("MySQLBackup", ns, "backup-maindb")
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(mysql), mysql)).To(Succeed())
		owner := []metav1.OwnerReference{*metav1.NewControllerRef(mysql, mysql.GroupVersionKind())}
		login := map[string]string{"username": "example-user", "password": "example-password-change-me"}
		prepared(ctx, ns, "nightly")
		owned := []client.Object{
			claim(ns, "backup-maindb-backups"),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mysql-secret"}, StringData: login},
			&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "old-run"}, Spec: batchv1.JobSpec{
				Suspend: new(true),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "c"}},
				}},
			}},
		}
		for _, o := range owned {
			o.SetOwnerReferences(owner)
			Expect(cluster.Create(ctx, o)).To(Succeed())
		}

		By("taking over, applying")
		out := follow(ctx, folder, blocks[0])
		Expect(out).To(ContainSubstring("2 accepted, 0 denied"))
		Expect(out).To(ContainSubstring("metadata.finalizers"))
		follow(ctx, folder, blocks[1])
		for _, name := range []string{"mb/backup-maindb", "bj/nightly"} {
			out, code := plugin(ctx, "run", name, "--wait", "--timeout", "3m", "-n", ns)
			Expect(code).To(Equal(0), out)
		}

		By("removing")
		follow(ctx, folder, blocks[2])
		for _, o := range owned {
			Eventually(ctx, func(g Gomega) {
				g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
				g.Expect(o.GetOwnerReferences()).To(BeEmpty())
				g.Expect(o.GetDeletionTimestamp()).To(BeNil())
			}).WithTimeout(soon).Should(Succeed(), "what is owned must lose its owner")
		}
		Eventually(ctx, func() bool { return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKeyFromObject(mysql), mysql)) }).
			WithTimeout(soon).Should(BeTrue(), "the old kind must go")
		Consistently(ctx, func(g Gomega) {
			for _, o := range owned {
				g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed(), "garbage collection must leave it")
			}
		}).WithTimeout(5 * time.Second).Should(Succeed())
		out, code := plugin(ctx, "run", "mb/backup-maindb", "--wait", "--timeout", "3m", "-n", ns)
		Expect(code).To(Equal(0), out)
	})
})
