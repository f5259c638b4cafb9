// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// undeploy is "make undeploy" of manifests.
func undeploy(ctx context.Context, objects, manifests string) (out string, err error) {
	cmd := command(ctx, "bash", "../../hack/undeploy.sh")
	cmd.Env = append(os.Environ(), "OBJECTS="+objects, "MANIFESTS="+manifests)
	printed, err := cmd.CombinedOutput()
	GinkgoWriter.Println(string(printed))
	return string(printed), err
}

// backedUp has an object with a backup in a new namespace.
func backedUp(ctx context.Context, name string, policy backupv1.DeletionPolicy) *backupv1.BackupJob {
	GinkgoHelper()
	ns := newNamespace(ctx)
	prepared(ctx, ns, name)
	b := backupJob(ns, name, func(b *backupv1.BackupJob) { b.Spec.DeletionPolicy = policy })
	Expect(cluster.Create(ctx, b)).To(Succeed())
	requestRun(ctx, b)
	finished(ctx, b, backupv1.ResultSucceeded)
	return b
}

// stored is what the agent lists of an object that may be gone.
func stored(ctx context.Context, b client.Object) string {
	GinkgoHelper()
	lister := listJob(b.GetNamespace(), b.GetName())
	Expect(cluster.Create(ctx, lister)).To(Succeed())
	Eventually(ctx, func(g Gomega) {
		g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(lister), lister)).To(Succeed())
		g.Expect(lister.Status.Succeeded).To(BeEquivalentTo(1))
	}).WithTimeout(aRun).Should(Succeed(), "the list must end")
	return kubectl(ctx, "logs", "-n", b.GetNamespace(), "job/"+lister.Name)
}

// goes has a namespace deleted and waits until it is gone.
func goes(ctx context.Context, name string) {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	Expect(client.IgnoreNotFound(cluster.Delete(ctx, ns))).To(Succeed())
	Eventually(ctx, func(g Gomega) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(ns), ns)
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v %+v", err, ns.Status.Conditions)
	}).WithTimeout(2*soon).Should(Succeed(), "nothing may hold namespace "+name)
}

// nothingLeft looks by itself for what the script says is gone.
func nothingLeft(ctx context.Context) {
	GinkgoHelper()
	Expect(kubectl(ctx, "get", "crd,mutatingwebhookconfigurations,validatingwebhookconfigurations,"+
		"validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles,clusterrolebindings,"+
		"priorityclasses,namespaces", "-o", "name")).NotTo(Or(ContainSubstring("backupjob"), ContainSubstring("elsewhere")))
	Expect(kubectl(ctx, "get", "jobs,pods", "-A", "-l", backupv1.LabelUID, "-o", "name")).NotTo(ContainSubstring("/"))
}

// The operator is there again after each, for the other specs.
var _ = Describe("Uninstalling", Serial, func() {
	BeforeEach(func() {
		DeferCleanup(func(ctx context.Context) {
			deploy(ctx, current)
		})
	})

	It("in the right order leaves nothing, does with backups what their objects say, and a fresh install takes the first apply", func(ctx context.Context) {
		going, staying := backedUp(ctx, "going", backupv1.DeletionDelete), backedUp(ctx, "staying", backupv1.DeletionRetain)

		By("not being told what is to become of the objects")
		out, err := undeploy(ctx, "", current)
		Expect(err).To(HaveOccurred())
		Expect(out).To(And(ContainSubstring(going.Namespace+"/going"), ContainSubstring(staying.Namespace+"/staying"), ContainSubstring("OBJECTS=release")))
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(going), going)).To(Succeed())
		Expect(going.DeletionTimestamp).To(BeNil())

		By("deleting them as their deletionPolicy says")
		out, err = undeploy(ctx, "delete", current)
		Expect(err).NotTo(HaveOccurred(), out)
		nothingLeft(ctx)
		Expect(stored(ctx, going)).NotTo(ContainSubstring(".sql."))
		Expect(stored(ctx, staying)).To(ContainSubstring(".sql."))
		goes(ctx, going.Namespace)
		goes(ctx, staying.Namespace)
		goes(ctx, newNamespace(ctx))

		By("doing it once more")
		out, err = undeploy(ctx, "", current)
		Expect(err).NotTo(HaveOccurred(), out)

		By("installing it again: the first apply succeeds")
		install(ctx, project, operatorNamespace, 0)
	})

	It("has a way out when the operator's namespace went first", func(ctx context.Context) {
		kept, held := backedUp(ctx, "kept", backupv1.DeletionDelete), backedUp(ctx, "held", backupv1.DeletionDelete)
		goes(ctx, operatorNamespace)

		By("deleting a namespace with an object whose clean-up nobody does any more")
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: held.Namespace}}
		Expect(cluster.Delete(ctx, ns)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(ns), ns)).To(Succeed())
			g.Expect(ns.Status.Conditions).To(ContainElement(And(
				HaveField("Type", corev1.NamespaceFinalizersRemaining), HaveField("Status", corev1.ConditionTrue),
				HaveField("Message", ContainSubstring(backupv1.FinalizerCleanup)),
			)))
		}).WithTimeout(soon).Should(Succeed(), "it must hang, or there is nothing to find a way out of")
		goes(ctx, newNamespace(ctx)) // others do not

		By("what needs the controller being refused, without a change")
		out, err := undeploy(ctx, "delete", current)
		Expect(err).To(HaveOccurred())
		Expect(out).To(ContainSubstring("OBJECTS=release"))
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(kept), kept)).To(Succeed())
		Expect(kept.DeletionTimestamp).To(BeNil())

		By("letting the objects go")
		out, err = undeploy(ctx, "release", current)
		Expect(err).NotTo(HaveOccurred(), out)
		nothingLeft(ctx)
		goes(ctx, held.Namespace)
		Expect(stored(ctx, kept)).To(ContainSubstring(".sql."))
		goes(ctx, kept.Namespace)
	})
})
