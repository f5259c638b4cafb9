// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// expiresSoon is when a bundle that ends is worth a warning: a migration and its
// repetitions must fit in.
const expiresSoon = 48 * time.Hour

// checkHealth looks at what a migration leans on, as far as the API shows it.
func (m *migration) checkHealth(ctx context.Context, subjects []*subject, report *Report) {
	for _, s := range subjects {
		if err := s.storesNew(); err != nil {
			report.check("CRD "+s.Name, ResultBlocked, "v1 is not the version that is stored",
				"Install this release first: kubectl apply --server-side -k config/default")
			continue
		}
		m.checkConversion(ctx, s, report)
	}
	m.checkWebhooks(ctx, report)
}

// checkConversion has the server convert, and looks at how it asks the webhook.
func (m *migration) checkConversion(ctx context.Context, s *subject, report *Report) {
	name := "Conversion of " + s.Name
	if s.version(oldVersion.Version) < 0 {
		report.check(name, ResultOK, "the CRD has no v1alpha1 any more: there is nothing to convert", "")
		return
	}
	conversion := s.crd.Spec.Conversion
	if conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		report.check(name, ResultBlocked, "the CRD has no conversion webhook, but two versions",
			"Install the CRDs of this release again: kubectl apply --server-side -k config/default")
		return
	}
	cc := conversion.Webhook.ClientConfig
	result, message, advice := m.endpoint(ctx, admissionService(cc.Service), cc.URL, cc.CABundle)
	if s.serves(oldVersion.Version) && result != ResultBlocked {
		tried, err := m.tryConversion(ctx, s)
		switch {
		case err != nil:
			result, message = ResultBlocked, "a read in v1alpha1 fails: "+err.Error()
			advice = "Look at the webhook ('kubectl logs -n backupjob-system deploy/backupjob-webhook') and its certificate ('kubectl get certificate -n backupjob-system')."
		case !tried:
			message += "; there is no object to try it with"
		default:
			message = "works; " + message
		}
	}
	report.check(name, result, message, advice)
}

// tryConversion reads an object in both versions, if there is one: however it is
// stored, one of the two takes a conversion. A list takes none, because the
// server has each version in memory.
func (m *migration) tryConversion(ctx context.Context, s *subject) (tried bool, err error) {
	first, err := m.firstOf(ctx, s)
	if err != nil || first == nil {
		return false, err
	}
	for _, version := range []schema.GroupVersion{oldVersion, newVersion} {
		object := named(first)
		object.SetGroupVersionKind(version.WithKind(s.Kind))
		err := m.retry(ctx, quiet, func() error { return m.client.Get(ctx, client.ObjectKeyFromObject(first), object) })
		if err != nil {
			return true, client.IgnoreNotFound(err) // it was deleted meanwhile
		}
	}
	return true, nil
}

// firstOf is some object in v1alpha1, nil if there is none.
func (m *migration) firstOf(ctx context.Context, s *subject) (*unstructured.Unstructured, error) {
	pages := m.pager(s.kind, oldVersion)
	pages.options.Limit = 1
	page, err := pages.next(ctx)
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	return &page.Items[0], nil
}

// service is where a webhook is, for CRDs and configurations alike.
type service struct{ namespace, name string }

func admissionService(s *apiextensionsv1.ServiceReference) *service {
	if s == nil {
		return nil
	}
	return &service{s.Namespace, s.Name}
}

// endpoint looks at how the server reaches a webhook.
func (m *migration) endpoint(ctx context.Context, s *service, url *string, bundle []byte) (result, message, advice string) {
	where := "a URL"
	if url != nil {
		where = *url
	}
	result = ResultOK
	if s != nil {
		ready, err := m.ready(ctx, s)
		where = fmt.Sprintf("%d ready endpoints of Service %s/%s", ready, s.namespace, s.name)
		switch {
		case err != nil:
			result, where = ResultUnknown, fmt.Sprintf("Service %s/%s (its endpoints: %v)", s.namespace, s.name, err)
			advice = "Have someone look who may list EndpointSlices."
		case ready == 0:
			return ResultBlocked, where, "Find out why no Pod is ready: kubectl get pods -n " + s.namespace
		}
	}
	bundleResult, bundleMessage, bundleAdvice := m.judgeBundle(bundle)
	if bundleResult != ResultOK {
		return bundleResult, where + "; " + bundleMessage, bundleAdvice
	}
	return result, where + "; " + bundleMessage, advice
}

// ready counts the endpoints of a Service that take requests.
func (m *migration) ready(ctx context.Context, s *service) (int, error) {
	var found discoveryv1.EndpointSliceList
	err := m.client.List(ctx, &found, client.InNamespace(s.namespace), client.MatchingLabels{discoveryv1.LabelServiceName: s.name})
	ready := 0
	for _, slice := range found.Items {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				ready++
			}
		}
	}
	return ready, err
}

// judgeBundle reads the authorities that the server trusts.
func (m *migration) judgeBundle(bundle []byte) (result, message, advice string) {
	const inject = "Look at the certificate and at cert-manager's cainjector: kubectl get certificate -n backupjob-system"
	if len(bundle) == 0 {
		return ResultBlocked, "no CA bundle", inject
	}
	certificates, err := cert.ParseCertsPEM(bundle)
	if err != nil {
		return ResultBlocked, "the CA bundle holds no certificate", inject
	}
	last := latest(certificates)
	switch left := last.Sub(m.clock.Now()); {
	case left <= 0:
		return ResultBlocked, "the CA bundle ended " + last.UTC().Format(time.RFC3339), inject
	case left < expiresSoon:
		return ResultWarning, "the CA bundle ends " + last.UTC().Format(time.RFC3339), inject
	}
	return ResultOK, "CA bundle valid until " + last.UTC().Format(time.DateOnly), ""
}

func latest(certificates []*x509.Certificate) time.Time {
	var last time.Time
	for _, c := range certificates {
		if c.NotAfter.After(last) {
			last = c.NotAfter
		}
	}
	return last
}

// hook is one webhook of a configuration.
type hook struct {
	configuration, name string
	client              admissionregistrationv1.WebhookClientConfig
}

// judging adds a webhook that judges our objects.
func judging(found []hook, rules []admissionregistrationv1.RuleWithOperations, h hook) []hook {
	if judgesUs(rules) {
		return append(found, h)
	}
	return found
}

// checkWebhooks looks at every webhook that judges our objects, ours or not.
func (m *migration) checkWebhooks(ctx context.Context, report *Report) {
	var mutating admissionregistrationv1.MutatingWebhookConfigurationList
	var validating admissionregistrationv1.ValidatingWebhookConfigurationList
	if err := errors.Join(m.client.List(ctx, &mutating), m.client.List(ctx, &validating)); err != nil {
		report.check("Webhooks", ResultUnknown, short(err.Error()), "Have someone look who may list webhook configurations.")
		return
	}
	var found, validate []hook
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			found = judging(found, w.Rules, hook{"mutating " + c.Name, w.Name, w.ClientConfig})
		}
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			validate = judging(validate, w.Rules, hook{"validating " + c.Name, w.Name, w.ClientConfig})
		}
	}
	none := len(found) == 0 || len(validate) == 0
	found = append(found, validate...)
	if none {
		report.check("Webhooks", ResultWarning, "nothing defaults or validates our objects",
			"That does not stop the migration. To have them judged again: kubectl apply --server-side -k config/default")
	}
	for _, h := range found {
		var where *service
		if s := h.client.Service; s != nil {
			where = &service{s.Namespace, s.Name}
		}
		result, message, advice := m.endpoint(ctx, where, h.client.URL, h.client.CABundle)
		report.check("Webhook "+h.name, result, message, advice)
	}
}

func judgesUs(rules []admissionregistrationv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, backupv1.GroupName) || slices.Contains(rule.APIGroups, "*")
	})
}
