// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const servingCertificate = "backupjob-webhook-tls"

// applier writes an object again and again, in turn in each version, until it
// is stopped, and keeps every error.
type applier struct {
	stop   context.CancelFunc
	done   chan struct{}
	writes atomic.Int64
	errs   []error
}

// startApplier begins once the front door is whole, whatever the spec before
// did to it.
func startApplier(ctx context.Context, namespace string, every time.Duration) *applier {
	GinkgoHelper()
	kubectl(ctx, "rollout", "status", "-n", operatorNamespace, "deployment/backupjob-webhook", "--timeout=180s")
	first := &applier{}
	Eventually(ctx, func() error { first.writes.Add(1); return first.apply(ctx, namespace) }).WithTimeout(soon).MustPassRepeatedly(6).
		Should(Succeed(), "every Pod must be known to the API server")
	ctx, stop := context.WithCancel(ctx)
	a := &applier{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err := a.apply(context.WithoutCancel(ctx), namespace); err != nil {
				a.errs = append(a.errs, fmt.Errorf("%s write %d: %w", time.Now().Format(time.TimeOnly), a.writes.Load(), err))
			}
			a.writes.Add(1)
		}
	}()
	return a
}

func (a *applier) apply(ctx context.Context, namespace string) error {
	n := a.writes.Load()
	days := 1 + n%30
	spec := map[string]any{"schedule": "0 2 * * *", "databaseHost": "db.example.com:3306", "retentionDays": days}
	version := "v1alpha1"
	if n%2 == 0 {
		version = "v1"
		spec = map[string]any{"schedule": "0 2 * * *", "source": map[string]any{"host": "db.example.com"},
			"retention": map[string]any{"days": days}}
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": backupv1.GroupName + "/" + version, "kind": "BackupJob",
		"metadata": map[string]any{"namespace": namespace, "name": "load-" + version}, "spec": spec,
	}}
	return cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("load"), client.ForceOwnership)
}

// goOn waits for n more writes.
func (a *applier) goOn(ctx context.Context, n int64) {
	GinkgoHelper()
	until := a.writes.Load() + n
	Eventually(ctx, a.writes.Load).WithTimeout(soon).Should(BeNumerically(">=", until), "writes must go on")
}

// end stops the applier; every write must have succeeded.
func (a *applier) end() {
	GinkgoHelper()
	a.stop()
	<-a.done
	Expect(a.errs).To(BeEmpty())
}

// issued is the serial of the serving certificate that cert-manager issued.
func issued(ctx context.Context, g Gomega) string {
	var secret corev1.Secret
	g.Expect(cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: servingCertificate}, &secret)).To(Succeed())
	return serial(g, secret.Data[corev1.TLSCertKey])
}

// doors are the two Pods of the webhook.
func doors(ctx context.Context, g Gomega) []corev1.Pod {
	var pods corev1.PodList
	g.Expect(cluster.List(ctx, &pods, client.InNamespace(operatorNamespace), client.MatchingLabels{"app.kubernetes.io/component": "webhook"})).To(Succeed())
	g.Expect(pods.Items).To(HaveLen(2))
	return pods.Items
}

// served checks that each webhook Pod answers with the certificate of that
// serial.
func served(ctx context.Context, g Gomega, want string) {
	for _, pod := range doors(ctx, g) {
		g.Expect(servedSerial(g, pod.Status.PodIP+":9443")).To(Equal(want), pod.Name)
	}
}

// bothServe waits for it: a Pod that another spec replaced may be on its way out.
func bothServe(ctx context.Context, serial string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) { served(ctx, g, serial) }).WithTimeout(soon).Should(Succeed(), "two Pods must serve it")
}

// renew asks cert-manager to issue a certificate anew, as cmctl renew does.
func renew(ctx context.Context, name string) {
	GinkgoHelper()
	var certificate cmv1.Certificate
	issuing := cmv1.CertificateCondition{
		Type: cmv1.CertificateConditionIssuing, Status: "True", Reason: "ManuallyTriggered",
		Message: "renewal asked for by a test", LastTransitionTime: &metav1.Time{Time: time.Now()},
	}
	Eventually(ctx, func() error {
		if err := cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: name}, &certificate); err != nil {
			return err
		}
		certificate.Status.Conditions = append(certificate.Status.Conditions, issuing)
		return cluster.Status().Update(ctx, &certificate)
	}).WithTimeout(soon).Should(Succeed(), "cert-manager writes the status too")
}

// hurry has the kubelet look at the Pods' Secret now, as it does when a Pod
// changes, and not within its minute.
func hurry(ctx context.Context) {
	_ = command(ctx, "kubectl", "annotate", "pods", "-n", operatorNamespace, "-l", "app.kubernetes.io/component=webhook",
		"--overwrite", "e2e.test/hurry="+time.Now().Format("150405.000")).Run()
}

// reloaded waits until both Pods serve another certificate than that of the
// serial, the one that is in the Secret now.
func reloaded(ctx context.Context, before string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		hurry(ctx)
		inUse(ctx, g, before)
	}).WithTimeout(2*time.Minute).WithPolling(time.Second).Should(Succeed(), "both Pods must serve the new certificate")
}

func inUse(ctx context.Context, g Gomega, before string) {
	now := issued(ctx, g)
	g.Expect(now).NotTo(Equal(before))
	served(ctx, g, now)
}

var _ = Describe("Certificates", Serial, func() {
	It("are renewed under load without one failed write", func(ctx context.Context) {
		ns := newNamespace(ctx)
		before := issued(ctx, Default)
		bothServe(ctx, before)

		load := startApplier(ctx, ns, 50*time.Millisecond)
		load.goOn(ctx, 20)
		renew(ctx, servingCertificate)
		Eventually(ctx, func(g Gomega) { inUse(ctx, g, before) }).WithTimeout(2*time.Minute).
			Should(Succeed(), "both Pods must serve the new certificate once the kubelet's minute is over")
		load.goOn(ctx, 20)
		load.end()
	})
})
