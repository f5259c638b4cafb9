// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

const (
	namespaces      = "namespaces"
	networkPolicies = "networkpolicies"
)

var namespaceChecks = []check{
	{
		id: "pod-security", title: "The operator's namespace takes restricted Pods only",
		threats: []int{15, 16}, needs: []string{namespaces},
		do: "kubectl label namespace <namespace> --overwrite pod-security.kubernetes.io/enforce=restricted", run: checkPodSecurity,
	},
	{
		id: "network-policies", title: "Our Pods are called on their own ports only, and call only name servers and the API server",
		threats: []int{1, 2, 5, 9, 18}, needs: []string{deployments, networkPolicies}, do: reapply, run: checkNetwork,
	},
}

func checkPodSecurity(s *Snapshot, r *Row) {
	const label = "pod-security.kubernetes.io/enforce"
	switch level := s.Operator.Labels[label]; level {
	case "restricted":
		r.see("%s=restricted", label)
	case "":
		r.fail("namespace %s has no label %s: whoever creates a Pod there may have it privileged", s.Namespace, label)
	default:
		r.fail("namespace %s enforces only %q", s.Namespace, level)
	}
	if version := s.Operator.Labels[label+"-version"]; version != "" && version != "latest" {
		r.see("of version %s", version)
	}
}

// outward are the ports on which our processes call others.
var outward = []string{"53", "443", "6443"}

func checkNetwork(s *Snapshot, r *Row) {
	eachPart(s, r, func(d *appsv1.Deployment) {
		in, out := false, false
		for i := range s.NetworkPolicies {
			p := &s.NetworkPolicies[i]
			if !chosen(&p.Spec.PodSelector, d.Spec.Template.Labels) {
				continue
			}
			in = in || slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeIngress)
			out = out || slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
			judgeNetworkPolicy(r, d, p)
		}
		if !in {
			r.fail("%s: no NetworkPolicy bounds who may call it", d.Name)
		}
		if !out {
			r.fail("%s: no NetworkPolicy bounds whom it may call", d.Name)
		}
	})
	if len(r.failed) == 0 {
		r.see("policies are there; whether the cluster's network keeps to them cannot be seen from here")
	}
}

func judgeNetworkPolicy(r *Row, d *appsv1.Deployment, p *networkingv1.NetworkPolicy) {
	inward := map[string]bool{}
	if c := manager(d); c != nil {
		for _, port := range c.Ports {
			inward[port.Name], inward[strconv.Itoa(int(port.ContainerPort))] = true, true
		}
	}
	who := d.Name + ": the policy " + p.Name
	for _, rule := range p.Spec.Ingress {
		if len(rule.Ports) == 0 {
			r.fail("%s opens every port", who)
		}
		judgePorts(r, rule.Ports, func(port string) bool { return inward[port] }, who+" opens the port %s, which it does not serve")
	}
	for _, rule := range p.Spec.Egress {
		if len(rule.Ports) == 0 {
			r.fail("%s lets it call every port", who)
		}
		judgePorts(r, rule.Ports, func(port string) bool { return slices.Contains(outward, port) }, who+" lets it call the port %s")
	}
}

// judgePorts warns of ports that are not among the known ones.
func judgePorts(r *Row, ports []networkingv1.NetworkPolicyPort, known func(string) bool, warning string) {
	for _, port := range ports {
		if port.Port == nil || port.EndPort != nil || !known(port.Port.String()) {
			r.warn(warning, portText(port))
		}
	}
}

func portText(p networkingv1.NetworkPolicyPort) string {
	switch {
	case p.Port == nil:
		return "of any number"
	case p.EndPort != nil:
		return p.Port.String() + " and those up to " + strconv.Itoa(int(*p.EndPort))
	}
	return p.Port.String()
}
