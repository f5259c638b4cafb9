// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const ourNamespace = "backupjob-system"

func TestTheNamespaceEnforcesRestrictedPods(t *testing.T) {
	namespace := named[*corev1.Namespace](t, render(t, "default"), ourNamespace)
	for _, mode := range []string{"enforce", "audit", "warn"} {
		if got := namespace.Labels["pod-security.kubernetes.io/"+mode]; got != "restricted" {
			t.Errorf("%s is %q, want restricted", mode, got)
		}
	}
}

func TestPodsAreRestrictedAndMore(t *testing.T) {
	for _, deployment := range all[*appsv1.Deployment](render(t, "default")) {
		t.Run(deployment.Name, func(t *testing.T) {
			pod := deployment.Spec.Template.Spec
			nonRoot, id, no, yes := true, int64(65532), false, true
			wantPod := &corev1.PodSecurityContext{
				RunAsNonRoot: &nonRoot, RunAsUser: &id, RunAsGroup: &id, FSGroup: &id,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			}
			if diff := cmp.Diff(wantPod, pod.SecurityContext); diff != "" {
				t.Errorf("security context of the Pod (-want +got):\n%s", diff)
			}
			if pod.HostNetwork || pod.HostPID || pod.HostIPC {
				t.Error("the Pod shares something with its host")
			}
			wantContainer := &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}
			for _, container := range append(pod.InitContainers, pod.Containers...) {
				if diff := cmp.Diff(wantContainer, container.SecurityContext); diff != "" {
					t.Errorf("security context of %s (-want +got):\n%s", container.Name, diff)
				}
			}
		})
	}
}

func TestDeploymentsStayAvailable(t *testing.T) {
	m := render(t, "default")
	for _, deployment := range all[*appsv1.Deployment](m) {
		t.Run(deployment.Name, func(t *testing.T) {
			checkAvailability(t, deployment.Spec, named[*policyv1.PodDisruptionBudget](t, m, deployment.Name).Spec)
			for _, container := range deployment.Spec.Template.Spec.Containers {
				checkContainer(t, container)
			}
		})
	}
}

func checkAvailability(t *testing.T, spec appsv1.DeploymentSpec, budget policyv1.PodDisruptionBudgetSpec) {
	t.Helper()
	if *spec.Replicas != 2 {
		t.Errorf("%d replicas, want 2", *spec.Replicas)
	}
	if rolling := spec.Strategy.RollingUpdate; rolling == nil || rolling.MaxUnavailable.String() != "0" || rolling.MaxSurge.String() != "1" {
		t.Errorf("strategy %v, want one Pod more and none less", spec.Strategy)
	}
	if len(spec.Template.Spec.TopologySpreadConstraints) == 0 {
		t.Error("both replicas may land on one node")
	}
	if !selects(t, budget.Selector, spec.Template.Labels) || budget.MaxUnavailable.String() != "1" {
		t.Errorf("the disruption budget %v does not keep one replica", budget)
	}
}

func checkContainer(t *testing.T, container corev1.Container) {
	t.Helper()
	for name, probe := range map[string]*corev1.Probe{"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || !hasPort(container, probe.HTTPGet.Port.StrVal) {
			t.Errorf("%s has no %s probe on a port of its own", container.Name, name)
		}
	}
	resources := container.Resources
	if resources.Requests.Cpu().IsZero() || resources.Requests.Memory().IsZero() || resources.Limits.Memory().IsZero() {
		t.Errorf("%s lacks requests, or a limit of memory", container.Name)
	}
	if strings.HasSuffix(container.Image, ":latest") || !strings.Contains(container.Image, ":") {
		t.Errorf("image %s is not pinned", container.Image)
	}
}

func hasPort(container corev1.Container, name string) bool {
	for _, port := range container.Ports {
		if port.Name == name {
			return true
		}
	}
	return false
}

func selects(t *testing.T, selector *metav1.LabelSelector, target map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(labels.Set(target))
}

// TestTheWebhookDrainsBeforeItGoes: the kubelet waits while the Service takes
// the Pod out, then the server finishes what it has, all before the kill.
func TestTheWebhookDrainsBeforeItGoes(t *testing.T) {
	pod := named[*appsv1.Deployment](t, render(t, "default"), "backupjob-webhook").Spec.Template.Spec
	container := pod.Containers[0]
	if container.Lifecycle == nil || container.Lifecycle.PreStop == nil || container.Lifecycle.PreStop.Sleep == nil {
		t.Fatal("no preStop sleep; the image has no shell to sleep with")
	}
	delay := time.Duration(container.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	for _, arg := range container.Args {
		if value, ok := strings.CutPrefix(arg, "--shutdown-delay="); ok {
			more, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			delay += more
		}
	}
	const slowestRequest = 10 * time.Second
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; delay < 5*time.Second || grace < delay+slowestRequest {
		t.Errorf("grace period %s, of which %s are waiting; want %s more for requests in flight", grace, delay, slowestRequest)
	}
}

func TestTheCertificateIsMountedAsAFolder(t *testing.T) {
	m := render(t, "default")
	certificate := named[*certmanagerv1.Certificate](t, m, "backupjob-webhook-tls")
	pod := named[*appsv1.Deployment](t, m, "backupjob-webhook").Spec.Template.Spec
	for _, volume := range pod.Volumes {
		if volume.Secret == nil || volume.Secret.SecretName != certificate.Spec.SecretName {
			t.Errorf("volume %s is not the Secret of the Certificate", volume.Name)
		}
	}
	mounts := pod.Containers[0].VolumeMounts
	if len(mounts) != 1 || mounts[0].SubPath != "" || !mounts[0].ReadOnly {
		t.Fatalf("mounts %v, want the folder, read only", mounts)
	}
	if want := "--cert-dir=" + mounts[0].MountPath; !strings.Contains(strings.Join(pod.Containers[0].Args, " "), want) {
		t.Errorf("the webhook is not started with %s", want)
	}
}

func TestCertificates(t *testing.T) {
	m := render(t, "default")
	root := named[*certmanagerv1.Certificate](t, m, "backupjob-ca").Spec
	leaf := named[*certmanagerv1.Certificate](t, m, "backupjob-webhook-tls").Spec
	day := 24 * time.Hour
	if !root.IsCA || root.Duration.Duration != 3650*day {
		t.Errorf("the root is a CA: %t, for %s; want one for ten years", root.IsCA, root.Duration)
	}
	if leaf.Duration.Duration != 90*day || leaf.RenewBefore.Duration != 30*day {
		t.Errorf("the leaf lives %s and is renewed %s before; want 90 and 30 days", leaf.Duration, leaf.RenewBefore)
	}
	if diff := cmp.Diff([]string{"backupjob-webhook.backupjob-system.svc"}, leaf.DNSNames); diff != "" {
		t.Errorf("names of the leaf (-want +got):\n%s", diff)
	}
	wantKey := &certmanagerv1.CertificatePrivateKey{
		Algorithm: certmanagerv1.ECDSAKeyAlgorithm, Size: 256, RotationPolicy: certmanagerv1.RotationPolicyAlways,
	}
	for name, spec := range map[string]certmanagerv1.CertificateSpec{"root": root, "leaf": leaf} {
		if diff := cmp.Diff(wantKey, spec.PrivateKey); diff != "" {
			t.Errorf("key of the %s (-want +got):\n%s", name, diff)
		}
	}
	if ca := named[*certmanagerv1.Issuer](t, m, leaf.IssuerRef.Name).Spec.CA; ca == nil || ca.SecretName != root.SecretName {
		t.Errorf("the leaf's Issuer %s does not sign with the root", leaf.IssuerRef.Name)
	}
	if named[*certmanagerv1.Issuer](t, m, root.IssuerRef.Name).Spec.SelfSigned == nil {
		t.Errorf("the root's Issuer %s is not self-signed", root.IssuerRef.Name)
	}
}

func TestNetworkPoliciesOpenOnlyWhatIsCalled(t *testing.T) {
	m := render(t, "default")
	for _, deployment := range all[*appsv1.Deployment](m) {
		t.Run(deployment.Name, func(t *testing.T) {
			checkPolicy(t, named[*networkingv1.NetworkPolicy](t, m, deployment.Name).Spec, deployment.Spec.Template)
		})
	}
}

func checkPolicy(t *testing.T, policy networkingv1.NetworkPolicySpec, pod corev1.PodTemplateSpec) {
	t.Helper()
	if !selects(t, &policy.PodSelector, pod.Labels) {
		t.Error("the policy does not select the Pods")
	}
	both := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}
	if diff := cmp.Diff(both, policy.PolicyTypes); diff != "" {
		t.Errorf("policy types (-want +got):\n%s", diff)
	}
	var declared []string
	for _, port := range pod.Spec.Containers[0].Ports {
		who := "anyone"
		if port.Name == "metrics" {
			who = "every Pod"
		}
		declared = append(declared, string(port.Protocol)+" "+port.Name+", "+who)
	}
	in, out := waysThrough(policy)
	slices.Sort(declared)
	slices.Sort(in)
	if diff := cmp.Diff(declared, in); diff != "" {
		t.Errorf("ports of the container and open ones (-declared +open):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"UDP 53, anyone", "TCP 53, anyone", "TCP 443, anyone", "TCP 6443, anyone"}, out); diff != "" {
		t.Errorf("ways out (-want +got):\n%s", diff)
	}
}

// waysThrough lists protocol, port and other side of what a policy lets in and
// out.
func waysThrough(policy networkingv1.NetworkPolicySpec) (in, out []string) {
	for _, rule := range policy.Ingress {
		in = append(in, ways(rule.Ports, rule.From)...)
	}
	for _, rule := range policy.Egress {
		out = append(out, ways(rule.Ports, rule.To)...)
	}
	return in, out
}

func ways(ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer) (all []string) {
	who := "anyone"
	everyPod := networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{}}
	switch {
	case len(peers) == 1 && cmp.Equal(peers[0], everyPod):
		who = "every Pod"
	case len(peers) > 0:
		who = fmt.Sprint(peers)
	}
	if len(ports) == 0 {
		return []string{"all ports, " + who}
	}
	for _, port := range ports {
		text := string(*port.Protocol) + " " + port.Port.String()
		if port.EndPort != nil {
			text += fmt.Sprintf("-%d", *port.EndPort)
		}
		all = append(all, text+", "+who)
	}
	return all
}
