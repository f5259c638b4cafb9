// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/webhooks"
)

// hook is what both webhook configurations say of one webhook.
type hook struct {
	configuration, name string
	mutating            bool
	annotations         map[string]string
	target              target
	rules               []admissionregistrationv1.RuleWithOperations
	match               *admissionregistrationv1.MatchPolicyType
	failure             *admissionregistrationv1.FailurePolicyType
	sideEffects         *admissionregistrationv1.SideEffectClass
	timeout             *int32
	reviews             []string
	namespaces, objects *metav1.LabelSelector
	conditions          []admissionregistrationv1.MatchCondition
}

func (h hook) verb() string {
	if h.mutating {
		return "mutate"
	}
	return "validate"
}

// target is where the API server calls, and whom it trusts there.
type target struct {
	owner              string // whose clientConfig it is
	namespace, service string
	port               int32
	url, path          string
	bundle             []byte
}

// dnsName is the name that the API server asks the certificate for.
func (t target) dnsName() string {
	if t.service != "" {
		return t.service + "." + t.namespace + ".svc"
	}
	if parsed, err := url.Parse(t.url); err == nil {
		return parsed.Hostname()
	}
	return ""
}

const httpsPort = 443

// hooks are all webhooks of the cluster: ours, told by the paths that only our
// server has, and those of others.
func (s *Snapshot) hooks() (ours, others []hook) {
	var all []hook
	for _, c := range s.Mutating {
		for _, w := range c.Webhooks {
			all = append(all, hook{
				c.Name, w.Name, true, c.Annotations, targetOf(w.Name, w.ClientConfig), w.Rules, w.MatchPolicy, w.FailurePolicy, w.SideEffects,
				w.TimeoutSeconds, w.AdmissionReviewVersions, w.NamespaceSelector, w.ObjectSelector, w.MatchConditions,
			})
		}
	}
	for _, c := range s.Validating {
		for _, w := range c.Webhooks {
			all = append(all, hook{
				c.Name, w.Name, false, c.Annotations, targetOf(w.Name, w.ClientConfig), w.Rules, w.MatchPolicy, w.FailurePolicy, w.SideEffects,
				w.TimeoutSeconds, w.AdmissionReviewVersions, w.NamespaceSelector, w.ObjectSelector, w.MatchConditions,
			})
		}
	}
	for _, h := range all {
		if h.isOurs() {
			ours = append(ours, h)
		} else {
			others = append(others, h)
		}
	}
	return ours, others
}

func targetOf(owner string, c admissionregistrationv1.WebhookClientConfig) target {
	t := target{owner: "webhook " + owner, bundle: c.CABundle, port: httpsPort}
	if c.Service != nil {
		t.namespace, t.service = c.Service.Namespace, c.Service.Name
		t.path, t.port = deref(c.Service.Path), derefOr(c.Service.Port, httpsPort)
	}
	return t.at(c.URL)
}

// conversionTarget is where the API server has objects of a kind converted.
func conversionTarget(d *apiextensionsv1.CustomResourceDefinition) (target, bool) {
	conversion := d.Spec.Conversion
	if conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		return target{}, false
	}
	c := conversion.Webhook.ClientConfig
	t := target{owner: "CRD " + d.Name, bundle: c.CABundle, port: httpsPort}
	if c.Service != nil {
		t.namespace, t.service = c.Service.Namespace, c.Service.Name
		t.path, t.port = deref(c.Service.Path), derefOr(c.Service.Port, httpsPort)
	}
	return t.at(c.URL), true
}

func (t target) at(address *string) target {
	if address == nil {
		return t
	}
	t.url = *address
	if parsed, err := url.Parse(t.url); err == nil {
		t.path = parsed.Path
	}
	return t
}

// targets are all places that the API server calls for us.
func (s *Snapshot) targets() []target {
	var all []target
	ours, _ := s.hooks()
	for _, h := range ours {
		all = append(all, h.target)
	}
	for i := range s.CRDs {
		if t, ok := conversionTarget(&s.CRDs[i]); ok {
			all = append(all, t)
		}
	}
	return all
}

var admissionPaths = []string{
	webhooks.PathMutateBackupJob, webhooks.PathMutateMySQLBackup, webhooks.PathValidateBackupJob, webhooks.PathValidateMySQLBackup,
}

func (h hook) isOurs() bool {
	return slices.Contains(admissionPaths, h.target.path) &&
		slices.ContainsFunc(h.rules, func(r admissionregistrationv1.RuleWithOperations) bool {
			return slices.Contains(r.APIGroups, backupv1.GroupName)
		})
}

// sees reports whether a webhook of others gets writes of our kinds.
func (h hook) sees() bool {
	return slices.ContainsFunc(h.rules, func(r admissionregistrationv1.RuleWithOperations) bool {
		return holds(r.APIGroups, backupv1.GroupName) && slices.ContainsFunc(r.Resources, func(resource string) bool {
			plain, _, _ := strings.Cut(resource, "/")
			return plain == "*" || slices.Contains(plurals, plain)
		})
	})
}

var plurals = []string{"backupjobs", "mysqlbackups"}

// holds reports whether a list of a rule takes a value in.
func holds(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

// selects reports whether a selector leaves anything out.
func selects(selector *metav1.LabelSelector) bool {
	return selector != nil && (len(selector.MatchLabels) > 0 || len(selector.MatchExpressions) > 0)
}

func deref[T any](p *T) T {
	var zero T
	return derefOr(p, zero)
}

func derefOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
