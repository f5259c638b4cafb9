// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	configurations = "mutatingwebhookconfigurations"
	validations    = "validatingwebhookconfigurations"
	definitions    = "customresourcedefinitions"

	reapply = "Apply the shipped manifests again: kubectl apply --server-side --force-conflicts -k config/default."
)

var webhookChecks = []check{
	{
		id: "webhook-rules", title: "Every served version of both kinds goes through both webhooks, and nothing else does",
		threats: []int{3, 4, 10, 12, 14}, needs: []string{configurations, validations, definitions}, do: reapply, run: checkRules,
	},
	{
		id: "webhook-failure-policy", title: "A write is refused when the webhook does not answer",
		threats: []int{1, 2, 5}, needs: []string{configurations, validations}, do: reapply, run: checkFailurePolicy,
	},
	{
		id: "webhook-exemptions", title: "No namespace, object or request is exempt",
		threats: []int{3, 11}, needs: []string{configurations, validations},
		do: "Take the selector or condition out; who must not be judged must not have a right to write our kinds. " + reapply, run: checkExemptions,
	},
	{
		id: "webhook-answers", title: "The webhooks are called within bounds: time-out, side effects, review version",
		threats: []int{1, 2}, needs: []string{configurations, validations}, do: reapply, run: checkBounds,
	},
	{
		id: "webhook-target", title: "The API server calls one Service in the operator's namespace",
		threats: []int{9, 18}, needs: []string{configurations, validations, definitions}, do: reapply, run: checkTarget,
	},
	{
		id: "other-webhooks", title: "No webhook of others sees our objects",
		threats: []int{9, 10, 18}, needs: []string{configurations, validations},
		do: "Find out what it does with them: it reads every spec, and one that mutates can change what a user wrote " +
			"(our validating webhook judges the outcome). Known ones are accepted with --accept other-webhooks.", run: checkOthers,
	},
}

// served are version and resource of what the CRDs serve.
func (s *Snapshot) served() []string {
	var served []string
	for i := range s.CRDs {
		for _, version := range s.CRDs[i].Spec.Versions {
			if version.Served {
				served = append(served, version.Name+"/"+s.CRDs[i].Spec.Names.Plural)
			}
		}
	}
	return served
}

func checkRules(s *Snapshot, r *Row) {
	if len(s.CRDs) < len(plurals) {
		r.fail("of the CRDs of both kinds only %d are installed", len(s.CRDs))
	}
	ours, _ := s.hooks()
	for _, mutating := range []bool{true, false} {
		seen, count := map[string]bool{}, 0
		for _, h := range ours {
			if h.mutating == mutating {
				h.addRules(r, seen)
				count++
			}
		}
		verb := hook{mutating: mutating}.verb()
		s.compareRules(r, verb, seen)
		r.see("%d webhooks %s", count, verb)
	}
	r.see("served: %s", names(s.served()))
}

func (s *Snapshot) compareRules(r *Row, verb string, seen map[string]bool) {
	for _, resource := range s.served() {
		for _, operation := range []string{"CREATE", "UPDATE"} {
			if !seen[operation+" "+resource] {
				r.fail("no webhook that %ss sees %s of %s", verb, operation, resource)
			}
		}
	}
}

// addRules notes what a webhook sees, and warns of what is none of ours.
func (h hook) addRules(r *Row, seen map[string]bool) {
	if deref(h.match) == admissionregistrationv1.Exact {
		r.fail("%s has matchPolicy Exact: a version that it does not list goes by unseen", h.name)
	}
	for i := range h.rules {
		rule := &h.rules[i]
		if rule.Scope != nil && *rule.Scope == admissionregistrationv1.ClusterScope {
			r.fail("%s has a rule with scope Cluster, which our kinds do not have", h.name)
			continue
		}
		if !slices.Equal(rule.APIGroups, []string{groupName}) {
			r.warn("%s also sees the groups %s", h.name, names(rule.APIGroups))
		}
		for _, operation := range rule.Operations {
			for _, single := range operations(operation) {
				h.addRule(r, rule, single, seen)
			}
		}
	}
}

func (h hook) addRule(r *Row, rule *admissionregistrationv1.RuleWithOperations, operation string, seen map[string]bool) {
	for _, version := range rule.APIVersions {
		for _, resource := range rule.Resources {
			if slices.Contains(rule.APIGroups, groupName) {
				seen[operation+" "+version+"/"+resource] = true
			}
			if !slices.Contains(plurals, resource) || version == "*" || operation == "DELETE" || operation == "CONNECT" {
				r.warn("%s also sees %s of %s/%s", h.name, operation, version, resource)
			}
		}
	}
}

func operations(o admissionregistrationv1.OperationType) []string {
	if o == admissionregistrationv1.OperationAll {
		return []string{"CREATE", "UPDATE", "DELETE", "CONNECT"}
	}
	return []string{string(o)}
}

// each calls look for every webhook of ours; without one there is nothing to
// praise.
func each(s *Snapshot, r *Row, look func(h hook)) {
	ours, _ := s.hooks()
	if len(ours) == 0 {
		r.fail("there is no webhook of ours")
	}
	for _, h := range ours {
		look(h)
	}
}

func checkFailurePolicy(s *Snapshot, r *Row) {
	each(s, r, func(h hook) {
		// Unset means Fail.
		if policy := derefOr(h.failure, admissionregistrationv1.Fail); policy != admissionregistrationv1.Fail {
			r.fail("%s has failurePolicy %s: what it cannot answer in time is admitted unjudged", h.name, policy)
			return
		}
		r.see("%s: Fail", h.name)
	})
}

func checkExemptions(s *Snapshot, r *Row) {
	each(s, r, func(h hook) {
		if selects(h.namespaces) {
			r.fail("%s leaves out the namespaces that its namespaceSelector does not choose: %s", h.name, metav1.FormatLabelSelector(h.namespaces))
		}
		if selects(h.objects) {
			r.fail("%s leaves out the objects that its objectSelector does not choose, and their writer sets the labels: %s", h.name, metav1.FormatLabelSelector(h.objects))
		}
		for _, c := range h.conditions {
			r.fail("%s lets by what does not meet its match condition %s: %s", h.name, c.Name, c.Expression)
		}
	})
	if len(r.failed) == 0 {
		r.see("no selector and no match condition")
	}
}

// shortestTimeout leaves room for the questions about a user's rights, which
// take five seconds at most.
const (
	shortestTimeout = 6
	longestTimeout  = 10
)

func checkBounds(s *Snapshot, r *Row) {
	each(s, r, func(h hook) {
		timeout := derefOr(h.timeout, longestTimeout)
		switch {
		case timeout > longestTimeout:
			r.warn("%s may take %d seconds: each write of ours waits so long when it is away", h.name, timeout)
		case timeout < shortestTimeout:
			r.warn("%s may take only %d seconds, less than the questions about a user's rights", h.name, timeout)
		}
		if effects := deref(h.sideEffects); effects != admissionregistrationv1.SideEffectClassNone {
			r.fail("%s has sideEffects %q: dry runs are refused", h.name, effects)
		}
		if !slices.Contains(h.reviews, "v1") {
			r.fail("%s does not take admission reviews of v1: %s", h.name, names(h.reviews))
		}
	})
	if len(r.failed)+len(r.warned) == 0 {
		r.see("time-outs of %d to %d seconds, no side effects, reviews of v1", shortestTimeout, longestTimeout)
	}
}

func checkTarget(s *Snapshot, r *Row) {
	services := map[string]bool{}
	for _, t := range s.targets() {
		if t.service == "" {
			r.warn("%s is called at %s, outside the cluster's Services", t.owner, t.url)
			continue
		}
		if t.namespace != s.Namespace {
			r.fail("%s is called in namespace %s, not in the operator's, %s", t.owner, t.namespace, s.Namespace)
		}
		services[t.namespace+"/"+t.service] = true
	}
	if len(services) > 1 {
		r.fail("several Services are called: %s", names(sorted(services)))
	}
	if len(services) == 0 && len(r.warned) == 0 {
		r.fail("nothing of ours is called at all")
	}
	for _, service := range sorted(services) {
		r.see("Service %s", service)
	}
}

func checkOthers(s *Snapshot, r *Row) {
	_, others := s.hooks()
	for _, h := range others {
		if h.sees() {
			r.warn("%s of configuration %s can %s our objects", h.name, h.configuration, h.verb())
		}
	}
	if len(r.warned) == 0 {
		r.see("none")
	}
}
