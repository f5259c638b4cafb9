// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	deployments = "deployments"
	pods        = "pods"
	budgets     = "poddisruptionbudgets"
)

var processChecks = []check{
	{
		id: "replicas", title: "Two replicas of each process are ready, on different nodes",
		threats: []int{1, 15, 17}, needs: []string{deployments, pods},
		do: "kubectl -n <namespace> get pods -o wide, and describe those that are not ready. With a single node, accept this one.", run: checkReplicas,
	},
	{
		id: "disruption-budgets", title: "A drained node never takes both replicas",
		threats: []int{1}, needs: []string{deployments, budgets}, do: reapply, run: checkBudgets,
	},
	{
		id: "pods-restricted", title: "Our Pods can do nothing to their node",
		threats: []int{15, 16}, needs: []string{deployments}, do: reapply, run: checkPods,
	},
	{
		id: "reference-authorization", title: "Only who may read a Secret may have it sent to a database",
		threats: []int{3, 18}, needs: []string{deployments},
		do: "Start the webhook with --reference-authorization=enforce.", run: checkReferences,
	},
	{
		id: "client-authentication", title: "Only the API server may ask the webhook for a judgement",
		threats: []int{1, 2, 5, 8}, needs: []string{deployments},
		do: "Without client certificates any Pod that reaches the webhook can have it judge what it likes: it learns nothing and changes nothing, " +
			"but it takes time of the server. To close that, see 'Client certificates' in docs/security.md; or accept it.", run: checkClients,
	},
}

var parts = []string{webhookPart, controllerPart}

// eachPart calls look for both Deployments.
func eachPart(s *Snapshot, r *Row, look func(d *appsv1.Deployment)) {
	for _, part := range parts {
		d := s.deployment(part)
		if d == nil {
			r.fail("there is no Deployment of the %s in namespace %s", part, s.Namespace)
			continue
		}
		look(d)
	}
}

func checkReplicas(s *Snapshot, r *Row) {
	eachPart(s, r, func(d *appsv1.Deployment) {
		nodes, count := map[string]bool{}, 0
		for i := range s.Pods {
			if pod := &s.Pods[i]; isReady(pod) && chosen(d.Spec.Selector, pod.Labels) {
				nodes[pod.Spec.NodeName] = true
				count++
			}
		}
		wanted := int(derefOr(d.Spec.Replicas, 1))
		switch {
		case count == 0:
			r.fail("%s: none of %d is ready", d.Name, wanted)
		case wanted < 2:
			r.warn("%s: has one replica only", d.Name)
		case count < wanted:
			r.warn("%s: %d of %d are ready", d.Name, count, wanted)
		case len(nodes) < 2:
			r.warn("%s: all %d are on the node %s", d.Name, count, names(sorted(nodes)))
		default:
			r.see("%s: %d are ready, on %d nodes", d.Name, count, len(nodes))
		}
	})
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func chosen(selector *metav1.LabelSelector, target map[string]string) bool {
	chooser, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && chooser.Matches(labels.Set(target))
}

func checkBudgets(s *Snapshot, r *Row) {
	eachPart(s, r, func(d *appsv1.Deployment) {
		if slices.ContainsFunc(s.Budgets, func(b policyv1.PodDisruptionBudget) bool { return chosen(b.Spec.Selector, d.Spec.Template.Labels) }) {
			r.see("%s has one", d.Name)
			return
		}
		r.warn("%s has no PodDisruptionBudget", d.Name)
	})
}

func checkPods(s *Snapshot, r *Row) {
	eachPart(s, r, func(d *appsv1.Deployment) {
		pod := &d.Spec.Template.Spec
		if pod.HostNetwork || pod.HostPID || pod.HostIPC {
			r.fail("%s shares the network, the processes or the memory of its node", d.Name)
		}
		for _, volume := range pod.Volumes {
			if volume.HostPath != nil {
				r.fail("%s mounts the node's folder %s", d.Name, volume.HostPath.Path)
			}
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			judgeContainer(r, d.Name+", container "+c.Name, pod.SecurityContext, c.SecurityContext)
		}
	})
	if len(r.failed) == 0 {
		r.see("no root, no privilege, no capability, a read-only file system, the default seccomp profile")
	}
}

func judgeContainer(r *Row, who string, pod *corev1.PodSecurityContext, c *corev1.SecurityContext) {
	outer, inner := deref(pod), deref(c)
	if !deref(outer.RunAsNonRoot) && !deref(inner.RunAsNonRoot) || !derefOr(inner.RunAsNonRoot, true) {
		r.fail("%s may run as root", who)
	}
	if deref(inner.Privileged) || derefOr(inner.AllowPrivilegeEscalation, true) {
		r.fail("%s may gain privileges", who)
	}
	if !deref(inner.ReadOnlyRootFilesystem) {
		r.fail("%s may write to its root file system", who)
	}
	if capabilities := deref(inner.Capabilities); len(capabilities.Add) > 0 || !slices.Contains(capabilities.Drop, "ALL") {
		r.fail("%s keeps capabilities", who)
	}
	profile := inner.SeccompProfile
	if profile == nil {
		profile = outer.SeccompProfile
	}
	if profile == nil || profile.Type == corev1.SeccompProfileTypeUnconfined {
		r.fail("%s has no seccomp profile", who)
	}
}

func checkReferences(s *Snapshot, r *Row) {
	c := s.webhookContainer(r)
	if c == nil {
		return
	}
	mode, set := flagOf(c, "reference-authorization")
	switch {
	case !set || mode == "enforce":
		r.see("enforce")
	case mode == "warn":
		r.warn("a user who may not read a Secret is only warned, and the Secret is sent where the object says")
	default:
		r.fail("the mode is %q: whoever may write our kinds can have every Secret of the namespace sent to a host of their choice", mode)
	}
}

func checkClients(s *Snapshot, r *Row) {
	c := s.webhookContainer(r)
	if c == nil {
		return
	}
	allowed, _ := flagOf(c, "admission-client-name")
	if ca, set := flagOf(c, "admission-client-ca"); set && ca != "" {
		r.see("the admission routes demand a client certificate of %s; /convert cannot, because the API server has none for it", names([]string{allowed}))
		return
	}
	r.warn("the admission routes answer anyone who reaches them")
}

func (s *Snapshot) webhookContainer(r *Row) *corev1.Container {
	if d := s.deployment(webhookPart); d != nil {
		if c := manager(d); c != nil {
			return c
		}
	}
	r.fail("there is no Deployment of the webhook with a container 'manager' in namespace %s", s.Namespace)
	return nil
}
