// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	open = "open"
	shut = "shut"
	// databasePort is one that no Pod of ours has, nor may call.
	databasePort = 3306
)

// databaseServer is a Pod that listens on the database's port and has a shell.
// It never calls itself ready, so that a Service that takes its labels for those
// of the operator sends nothing there.
func databaseServer(namespace, name string, labels map[string]string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	pod.Spec = corev1.PodSpec{
		AutomountServiceAccountToken:  new(false),
		TerminationGracePeriodSeconds: new(int64(0)),
		ReadinessGates:                []corev1.PodReadinessGate{{ConditionType: "example.com/never"}},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser: new(int64(999)), RunAsGroup: new(int64(999)), FSGroup: new(int64(999)), RunAsNonRoot: new(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "mariadb", Image: "mariadb:11.8.3",
			Env: []corev1.EnvVar{{Name: "MARIADB_ROOT_PASSWORD", Value: "example-root-password"}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
	for volume, path := range map[string]string{"data": "/var/lib/mysql", "run": "/run/mysqld", "tmp": "/tmp"} {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		})
		container := &pod.Spec.Containers[0]
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
	}
	return pod
}

// started makes a Pod and returns when its server listens. The Pod is gone when
// the spec is over.
func started(ctx context.Context, pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	Expect(cluster.Create(ctx, pod)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		kubectl(ctx, "delete", "pod", "-n", pod.Namespace, pod.Name, "--ignore-not-found", "--timeout=60s")
	})
	Eventually(ctx, func(g Gomega) {
		g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
		g.Expect(pod.Status.PodIP).NotTo(BeEmpty())
		g.Expect(knock(ctx, pod, "127.0.0.1", databasePort)).To(Equal(open))
	}).WithTimeout(aRun).Should(Succeed(), "the server of Pod %s must listen", pod.Name)
	return pod
}

// knockScript says whether it reached $0 at port $1. Some engines refuse by
// silence, and Pods on a busy machine are slow: the time is taken inside.
const knockScript = `exec 2>/dev/null
(exec 3<>"/dev/tcp/$0/$1") & knock=$!
(sleep 5; kill "$knock") >/dev/null &
if wait "$knock"; then echo open; else echo shut; fi`

// knock opens a connection from inside a Pod and tells whether that works, or
// why it could not be tried.
func knock(ctx context.Context, from *corev1.Pod, host string, port int32) string {
	out, err := run(ctx, "kubectl", "exec", "-n", from.Namespace, from.Name, "--",
		"bash", "-c", knockScript, host, strconv.Itoa(int(port)))
	if err != nil {
		return out + err.Error()
	}
	return strings.TrimSpace(out)
}

// expectDoor waits until the cluster has noticed Pods and policies.
func expectDoor(ctx context.Context, want string, from *corev1.Pod, host string, port int32) {
	GinkgoHelper()
	Eventually(ctx, func() string { return knock(ctx, from, host, port) }).WithTimeout(soon).
		Should(Equal(want), "the way from %s to %s, port %d", from.Name, host, port)
}

// needsEngine skips the spec on a cluster that lets a Pod out which may not go
// anywhere. The embedded one has to be better than that.
func needsEngine(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	const host = "mysql-primary.default.svc.cluster.local"
	expectDoor(ctx, open, pod, host, databasePort)
	nowhere := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: "nowhere"}}
	nowhere.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	Expect(cluster.Create(ctx, nowhere)).To(Succeed())
	enforced := wait.PollUntilContextTimeout(ctx, time.Second, soon, true, func(ctx context.Context) (bool, error) {
		return knock(ctx, pod, host, databasePort) == shut, nil
	})
	if enforced != nil && os.Getenv("EMBEDDED") == "" {
		Skip("NOT PROVED HERE: this cluster enforces no NetworkPolicies")
	}
	Expect(enforced).NotTo(HaveOccurred(), "the embedded cluster must enforce NetworkPolicies")
	Expect(cluster.Delete(ctx, nowhere)).To(Succeed())
	expectDoor(ctx, open, pod, host, databasePort)
}

// shippedPolicies puts the policies of config/default back, whatever became of them.
func shippedPolicies(ctx context.Context) {
	GinkgoHelper()
	kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-k", "../../config/network-policy")
}

// nameServer is the one that a Pod asks.
func nameServer(ctx context.Context, pod *corev1.Pod) string {
	GinkgoHelper()
	for line := range strings.Lines(kubectl(ctx, "exec", "-n", pod.Namespace, pod.Name, "--", "cat", "/etc/resolv.conf")) {
		if address, found := strings.CutPrefix(line, "nameserver "); found {
			return strings.TrimSpace(address)
		}
	}
	Fail("Pod " + pod.Name + " knows no name server")
	return ""
}

var _ = Describe("The NetworkPolicies that are shipped", Serial, func() {
	for _, component := range []string{"webhook", "controller"} {
		It("open to the "+component+" what is called, API server and name servers, and nothing else", func(ctx context.Context) {
			var policy networkingv1.NetworkPolicy
			Expect(cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: "backupjob-" + component}, &policy)).To(Succeed())
			var ours corev1.PodList
			labels := client.MatchingLabels(policy.Spec.PodSelector.MatchLabels)
			Eventually(ctx, func(g Gomega) {
				g.Expect(cluster.List(ctx, &ours, client.InNamespace(operatorNamespace), labels)).To(Succeed())
				g.Expect(ours.Items).NotTo(BeEmpty())
				g.Expect(ours.Items).To(HaveEach(HaveField("DeletionTimestamp", BeNil())))
			}).WithTimeout(soon).Should(Succeed(), "one that another spec replaced may be on its way out")
			stranger := started(ctx, databaseServer(newNamespace(ctx), "stranger", nil))
			needsEngine(ctx, stranger)
			// Ours have no shell and listen nowhere else. A policy sees labels only.
			double := started(ctx, databaseServer(operatorNamespace, "double-of-"+component, labels))
			DeferCleanup(shippedPolicies)

			By("calling ports of ours")
			for _, pod := range ours.Items {
				for _, port := range pod.Spec.Containers[0].Ports {
					expectDoor(ctx, open, stranger, pod.Status.PodIP, port.ContainerPort)
				}
			}
			expectDoor(ctx, shut, stranger, double.Status.PodIP, databasePort)

			By("calling from inside")
			expectDoor(ctx, open, double, "kubernetes.default.svc", 443)
			expectDoor(ctx, open, double, nameServer(ctx, double), 53)
			expectDoor(ctx, shut, double, stranger.Status.PodIP, databasePort)

			By("closing a port that ours listen on")
			metrics := policy.DeepCopy()
			metrics.Spec.Ingress = metrics.Spec.Ingress[:1]
			Expect(cluster.Update(ctx, metrics)).To(Succeed())
			for _, pod := range ours.Items {
				expectDoor(ctx, shut, stranger, pod.Status.PodIP, metricsPort(&pod))
			}

			By("taking the policy away: nothing else closes anything")
			Expect(cluster.Delete(ctx, metrics)).To(Succeed())
			expectDoor(ctx, open, stranger, double.Status.PodIP, databasePort)
			expectDoor(ctx, open, double, stranger.Status.PodIP, databasePort)

			By("putting it back")
			shippedPolicies(ctx)
			expectDoor(ctx, shut, stranger, double.Status.PodIP, databasePort)
			expectDoor(ctx, shut, double, stranger.Status.PodIP, databasePort)
			for _, pod := range ours.Items {
				expectDoor(ctx, open, stranger, pod.Status.PodIP, metricsPort(&pod))
			}
		})
	}
})

// metricsPort is the number of the port of that name.
func metricsPort(pod *corev1.Pod) int32 {
	GinkgoHelper()
	for _, port := range pod.Spec.Containers[0].Ports {
		if port.Name == "metrics" {
			return port.ContainerPort
		}
	}
	Fail("Pod " + pod.Name + " has no port for metrics")
	return 0
}
