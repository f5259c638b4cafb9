// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"
	"strings"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// known warns in an installation as it is shipped: client certificates take a
// setting of the API server.
var shippedWarnings = []string{"client-authentication"}

func TestAHealthyInstallationPasses(t *testing.T) {
	s, _ := healthy(t)
	for _, row := range Judge(s, nil) {
		want := Pass
		if slices.Contains(shippedWarnings, row.ID) {
			want = Warn
		}
		if row.Status != want || !row.Checked || len(row.Seen) == 0 {
			t.Errorf("%s: %s, want %s; checked: %t; seen: %q", row.ID, row.Status, want, row.Checked, row.Seen)
		}
	}
}

// breakage is one thing that is wrong with a cluster.
type breakage struct {
	row  string
	want Status
	seen string // a part of the first line
	make func(t *testing.T, s *Snapshot, ca authority)
}

func someone(name string) rbacv1.Subject { return rbacv1.Subject{Kind: "User", Name: name} }

func choose() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
}

func (s *Snapshot) webhookArgs(args ...string) {
	c := manager(s.deployment(webhookPart))
	c.Args = args
}

var breakages = map[string]breakage{
	// webhooks
	"a version that no rule lists": {"webhook-rules", Fail, "sees CREATE of v1alpha1/backupjobs", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Validating[0].Webhooks[0].Rules[0].APIVersions = []string{"v1"}
	}},
	"updates that no rule lists": {"webhook-rules", Fail, "sees UPDATE of v1/mysqlbackups", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[1].Rules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Create}
	}},
	"a webhook configuration that is gone": {"webhook-rules", Fail, "no webhook that validates sees CREATE", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Validating = nil
	}},
	"a match of the exact version": {"webhook-rules", Fail, "matchPolicy Exact", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[0].MatchPolicy = new(admissionregistrationv1.Exact)
	}},
	"a rule that takes in Pods": {"webhook-rules", Warn, "also sees the groups ", func(_ *testing.T, s *Snapshot, _ authority) {
		rules := &s.Mutating[0].Webhooks[0].Rules
		*rules = append(*rules, admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{"CREATE"},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		})
	}},
	"a rule for deletes": {"webhook-rules", Warn, "also sees DELETE of v1/backupjobs", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[0].Rules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll}
	}},
	"a CRD that is gone": {"webhook-rules", Fail, "only 1 are installed", func(_ *testing.T, s *Snapshot, _ authority) { s.CRDs = s.CRDs[:1] }},
	"a webhook that fails open": {"webhook-failure-policy", Fail, "failurePolicy Ignore", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Validating[0].Webhooks[1].FailurePolicy = new(admissionregistrationv1.Ignore)
	}},
	"no webhooks at all": {"webhook-failure-policy", Fail, "there is no webhook of ours", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating, s.Validating = nil, nil
	}},
	"a namespace that is exempt": {"webhook-exemptions", Fail, "namespaceSelector", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Validating[0].Webhooks[0].NamespaceSelector = choose()
	}},
	"objects that are exempt": {"webhook-exemptions", Fail, "objectSelector", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[0].ObjectSelector = choose()
	}},
	"requests that are exempt": {"webhook-exemptions", Fail, "match condition not-me: request", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[0].MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "not-me", Expression: "request.userInfo.username != 'me'"}}
	}},
	"a long time-out": {"webhook-answers", Warn, "may take 30 seconds", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[0].TimeoutSeconds = new(int32(30))
	}},
	"a time-out shorter than the questions": {"webhook-answers", Warn, "only 2 seconds", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Validating[0].Webhooks[0].TimeoutSeconds = new(int32(2))
	}},
	"side effects": {"webhook-answers", Fail, "dry runs are refused", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[0].SideEffects = new(admissionregistrationv1.SideEffectClassSome)
	}},
	"reviews of another version": {"webhook-answers", Fail, "admission reviews of v1", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Webhooks[0].AdmissionReviewVersions = []string{"v1beta1"}
	}},
	"an address elsewhere": {"webhook-target", Warn, "https://elsewhere.example.com/mutate-backupjob", func(_ *testing.T, s *Snapshot, _ authority) {
		c := &s.Mutating[0].Webhooks[0].ClientConfig
		c.Service, c.URL = nil, new("https://elsewhere.example.com/mutate-backupjob")
	}},
	"a Service of another namespace": {"webhook-target", Fail, "in namespace evil", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Validating[0].Webhooks[0].ClientConfig.Service.Namespace = "evil"
	}},
	"another Service": {"webhook-target", Fail, "several Services", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[0].Spec.Conversion.Webhook.ClientConfig.Service.Name = "other"
	}},
	"a policy engine": {"other-webhooks", Warn, "engine.example.com of configuration engine can mutate", func(_ *testing.T, s *Snapshot, _ authority) {
		every := []string{"*"}
		s.Mutating = append(s.Mutating, admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "engine"},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name:         "engine.example.com",
				ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "engine", Name: "engine"}},
				Rules: []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{"*"}, Rule: admissionregistrationv1.Rule{APIGroups: every, APIVersions: every, Resources: []string{"*/*"}},
				}},
			}},
		})
	}},

	// certificates
	"a bundle that is not filled in": {"ca-bundles", Fail, "webhook validate-backupjob.backup.example.com: the CA bundle is empty", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Validating[0].Webhooks[0].ClientConfig.CABundle = nil
	}},
	"a bundle of a CRD that is not filled in": {"ca-bundles", Fail, "CRD backupjobs.backup.example.com: the CA bundle is empty", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[0].Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	}},
	"a CA that has expired": {"ca-bundles", Fail, "has expired", func(t *testing.T, s *Snapshot, _ authority) {
		t.Helper()
		s.CRDs[1].Spec.Conversion.Webhook.ClientConfig.CABundle = newAuthority(t, noon.Add(-2*day), noon.Add(-day)).pem
	}},
	"a CA that expires soon": {"ca-bundles", Warn, "expires in 99 days", func(t *testing.T, s *Snapshot, _ authority) {
		t.Helper()
		s.CRDs[1].Spec.Conversion.Webhook.ClientConfig.CABundle = newAuthority(t, noon.Add(-2*day), noon.Add(99*day+time.Hour)).pem
	}},
	"a certificate of another CA": {"served-certificate", Fail, "does not trust Pod backupjob-webhook-0", func(t *testing.T, s *Snapshot, _ authority) {
		t.Helper()
		s.Served[0].Chain[0] = newAuthority(t, noon.Add(-2*day), noon.Add(999*day)).leaf(t, servedName, noon.Add(-day), noon.Add(80*day))
	}},
	"one bundle of another CA": {"served-certificate", Fail, "CRD mysqlbackups.backup.example.com does not trust", func(t *testing.T, s *Snapshot, _ authority) {
		t.Helper()
		s.CRDs[1].Spec.Conversion.Webhook.ClientConfig.CABundle = newAuthority(t, noon.Add(-2*day), noon.Add(999*day)).pem
	}},
	"a certificate of another name": {"served-certificate", Fail, "not accepted", func(t *testing.T, s *Snapshot, ca authority) {
		t.Helper()
		s.Served[0].Chain[0] = ca.leaf(t, "other.svc", noon.Add(-day), noon.Add(80*day))
	}},
	"an old protocol": {"served-certificate", Fail, "TLS 1.1", func(_ *testing.T, s *Snapshot, _ authority) { s.Served[0].TLS = 0x0302 }},
	"a server that does not answer": {"served-certificate", Warn, "could not be asked: refused", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Served = append(s.Served, Served{Where: "Pod backupjob-webhook-1", DNSName: servedName, Err: "refused"})
	}},
	"nobody to ask":               {"served-certificate", Warn, "not checked", func(_ *testing.T, s *Snapshot, _ authority) { s.Served = nil }},
	"nobody to ask for an expiry": {"certificate-expiry", Warn, "not checked", func(_ *testing.T, s *Snapshot, _ authority) { s.Served = nil }},
	"a renewal that is late": {"certificate-expiry", Warn, "expires in 20 days", func(t *testing.T, s *Snapshot, ca authority) {
		t.Helper()
		s.Served[0].Chain[0] = ca.leaf(t, servedName, noon.Add(-70*day), noon.Add(20*day+time.Hour))
	}},
	"a renewal that does not come": {"certificate-expiry", Fail, "expires in 5 days", func(t *testing.T, s *Snapshot, ca authority) {
		t.Helper()
		s.Served[0].Chain[0] = ca.leaf(t, servedName, noon.Add(-85*day), noon.Add(5*day+time.Hour))
	}},
	"a certificate that has expired": {"certificate-expiry", Fail, "has expired", func(t *testing.T, s *Snapshot, ca authority) {
		t.Helper()
		s.Served[0].Chain[0] = ca.leaf(t, servedName, noon.Add(-91*day), noon.Add(-day))
	}},
	"a Certificate that is not ready": {"cert-manager", Fail, "Certificate backupjob-ca is not ready: no issuer", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Certificates[0].Status.Conditions = []certmanagerv1.CertificateCondition{{Type: "Ready", Status: "False", Message: "no issuer"}}
	}},
	"an Issuer that nobody has taken care of": {"cert-manager", Fail, "nothing has taken care of it", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Issuers[0].Status.Conditions = nil
	}},
	"a Certificate whose renewal is late": {"cert-manager", Warn, "should have been renewed 3 days ago", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Certificates[0].Status.RenewalTime = &metav1.Time{Time: noon.Add(-3 * day)}
	}},
	"a Certificate that has expired": {"cert-manager", Fail, "has expired", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Certificates[0].Status.NotAfter = &metav1.Time{Time: noon.Add(-time.Hour)}
	}},
	"a Certificate of a clock that is ahead": {"cert-manager", Warn, "is not valid before 2027-03-20T12:01:00Z", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Certificates[0].Status.NotBefore = &metav1.Time{Time: noon.Add(time.Minute)}
	}},
	"an annotation that names no Certificate": {"cert-manager", Fail, "there is no Certificate backupjob-system/other", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[0].Annotations[injectAnnotation] = "backupjob-system/other"
	}},
	"certificates that come from elsewhere": {"cert-manager", Warn, "come from somewhere else", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Mutating[0].Annotations, s.Validating[0].Annotations, s.CRDs[0].Annotations, s.CRDs[1].Annotations = nil, nil, nil, nil
	}},

	// conversion
	"a CRD without conversion": {"conversion", Fail, "backupjobs.backup.example.com is not converted", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[0].Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}},
	"another path": {"conversion", Fail, "converted at /other", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[0].Spec.Conversion.Webhook.ClientConfig.Service.Path = new("/other")
	}},
	"conversion reviews of another version": {"conversion", Fail, "conversion reviews of v1", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[1].Spec.Conversion.Webhook.ConversionReviewVersions = []string{"v1beta1"}
	}},
	"no CRDs": {"conversion", Fail, "not installed", func(_ *testing.T, s *Snapshot, _ authority) { s.CRDs = nil }},
	"a conversion that fails": {"conversion-works", Fail, "cannot be read as v1alpha1: x509", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Converted[0].Version = oldVersion
		s.Converted[0].Err = "x509: unknown authority"
	}},
	"objects in the old version": {"stored-versions", Warn, "stored as v1alpha1, v1", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[0].Status.StoredVersions = []string{"v1alpha1", "v1"}
	}},
	"the old version as the stored one": {"stored-versions", Fail, "stores new objects as v1alpha1", func(_ *testing.T, s *Snapshot, _ authority) {
		for i := range s.CRDs[0].Spec.Versions {
			v := &s.CRDs[0].Spec.Versions[i]
			v.Storage = v.Name == "v1alpha1"
		}
	}},
	"a schema that is open": {"schemas", Warn, "the schema of backupjobs.backup.example.com v1 ", func(_ *testing.T, s *Snapshot, _ authority) {
		s.CRDs[0].Spec.Versions[0].Schema.OpenAPIV3Schema.XPreserveUnknownFields = new(true)
	}},
	"a version that nobody knows": {"schemas", Warn, "has the version v2", func(_ *testing.T, s *Snapshot, _ authority) {
		v2 := s.CRDs[0].Spec.Versions[0]
		v2.Name, v2.Storage = "v2", false
		s.CRDs[0].Spec.Versions = append(s.CRDs[0].Spec.Versions, v2)
	}},
	"a version that is not served": {"schemas", Fail, "does not serve v1", func(_ *testing.T, s *Snapshot, _ authority) {
		for i := range s.CRDs[0].Spec.Versions {
			s.CRDs[0].Spec.Versions[i].Served = s.CRDs[0].Spec.Versions[i].Name != "v1"
		}
	}},

	// second lock
	"a policy that is gone": {"second-lock", Fail, "backupjob-status is not there", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies = slices.DeleteFunc(s.Policies, func(p admissionregistrationv1.ValidatingAdmissionPolicy) bool { return p.Name == "backupjob-status" })
	}},
	"a binding that only warns": {"second-lock", Fail, "no binding of the policy backupjob-invariants denies", func(_ *testing.T, s *Snapshot, _ authority) {
		s.PolicyBindings[0].Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}
	}},
	"a binding for some namespaces": {"second-lock", Fail, "denies everywhere", func(_ *testing.T, s *Snapshot, _ authority) {
		s.PolicyBindings[0].Spec.MatchResources = &admissionregistrationv1.MatchResources{NamespaceSelector: choose()}
	}},
	"a policy that fails open": {"second-lock", Fail, "failurePolicy Ignore", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies[0].Spec.FailurePolicy = new(admissionregistrationv1.Ignore)
	}},
	"a policy that exempts": {"second-lock", Fail, "exempts", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies[0].Spec.MatchConstraints.ObjectSelector = choose()
	}},
	"a policy that matches less": {"second-lock", Fail, "does not match what it was shipped to", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies[0].Spec.MatchConstraints.ResourceRules[0].APIVersions = []string{"v1"}
	}},
	"a policy with another condition": {"second-lock", Fail, "other match conditions", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies[0].Spec.MatchConditions[0].Expression = "false"
	}},
	"a policy with a weaker rule": {"second-lock", Fail, "other rules", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies[0].Spec.Validations[0].Expression = "true"
	}},
	"another account that writes the status": {"second-lock", Fail, "other rules", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies[slices.IndexFunc(s.Policies, func(p admissionregistrationv1.ValidatingAdmissionPolicy) bool { return p.Name == "backupjob-status" })].Spec.Variables[0].Expression = `"system:serviceaccount:" + "evil" + ":" + "backupjob-controller"`
	}},
	"what the server says of an expression": {"second-lock", Warn, "undefined field", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Policies[0].Status.TypeChecking = &admissionregistrationv1.TypeChecking{
			ExpressionWarnings: []admissionregistrationv1.ExpressionWarning{{FieldRef: "spec.validations[0]", Warning: "undefined field"}},
		}
	}},

	// processes
	"no replica": {"replicas", Fail, "backupjob-controller: none of 2", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return strings.HasPrefix(p.Name, "backupjob-controller") })
	}},
	"one replica that is not ready": {"replicas", Warn, "1 of 2 are ready", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Pods[0].Status.Conditions = nil
	}},
	"one replica only": {"replicas", Warn, "has one replica only", func(_ *testing.T, s *Snapshot, _ authority) {
		s.deployment(webhookPart).Spec.Replicas = new(int32(1))
	}},
	"one node": {"replicas", Warn, "all 2 are on the node a", func(_ *testing.T, s *Snapshot, _ authority) {
		for i := range s.Pods {
			s.Pods[i].Spec.NodeName = "a"
		}
	}},
	"no Deployment":        {"replicas", Fail, "no Deployment of the webhook", func(_ *testing.T, s *Snapshot, _ authority) { s.Deployments = nil }},
	"no disruption budget": {"disruption-budgets", Warn, "has no PodDisruptionBudget", func(_ *testing.T, s *Snapshot, _ authority) { s.Budgets = nil }},
	"a Pod of root": {"pods-restricted", Fail, "may run as root", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Deployments[0].Spec.Template.Spec.SecurityContext.RunAsNonRoot = nil
	}},
	"a Pod that may gain privileges": {"pods-restricted", Fail, "may gain privileges", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Deployments[0].Spec.Template.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
	}},
	"a Pod that may write": {"pods-restricted", Fail, "root file system", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Deployments[1].Spec.Template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem = nil
	}},
	"a Pod with capabilities": {"pods-restricted", Fail, "keeps capabilities", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Deployments[1].Spec.Template.Spec.Containers[0].SecurityContext.Capabilities = nil
	}},
	"a Pod without seccomp": {"pods-restricted", Fail, "seccomp", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Deployments[1].Spec.Template.Spec.SecurityContext.SeccompProfile = nil
	}},
	"a folder of the node": {"pods-restricted", Fail, "the node's folder /etc", func(_ *testing.T, s *Snapshot, _ authority) {
		pod := &s.Deployments[0].Spec.Template.Spec
		pod.Volumes = append(pod.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}}})
	}},
	"the network of the node": {"pods-restricted", Fail, "shares the network", func(_ *testing.T, s *Snapshot, _ authority) {
		s.Deployments[0].Spec.Template.Spec.HostNetwork = true
	}},
	"references that are not asked about": {"reference-authorization", Fail, `mode is "off"`, func(_ *testing.T, s *Snapshot, _ authority) {
		s.webhookArgs("webhook", "--reference-authorization=off")
	}},
	"references that only warn": {"reference-authorization", Warn, "only warned", func(_ *testing.T, s *Snapshot, _ authority) {
		s.webhookArgs("webhook", "--reference-authorization", "warn")
	}},

	// namespace
	"a namespace without a level": {"pod-security", Fail, "has no label", func(_ *testing.T, s *Snapshot, _ authority) { s.Operator.Labels = nil }},
	"a namespace of a lower level": {"pod-security", Fail, `only "baseline"`, func(_ *testing.T, s *Snapshot, _ authority) {
		s.Operator.Labels["pod-security.kubernetes.io/enforce"] = "baseline"
	}},
	"no NetworkPolicies": {"network-policies", Fail, "no NetworkPolicy bounds who may call it", func(_ *testing.T, s *Snapshot, _ authority) {
		s.NetworkPolicies = nil
	}},
	"no bound outwards": {"network-policies", Fail, "whom it may call", func(_ *testing.T, s *Snapshot, _ authority) {
		s.NetworkPolicies[0].Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	}},
	"every port": {"network-policies", Fail, "opens every port", func(_ *testing.T, s *Snapshot, _ authority) {
		s.NetworkPolicies[0].Spec.Ingress[0].Ports = nil
	}},
	"calls to every port": {"network-policies", Fail, "lets it call every port", func(_ *testing.T, s *Snapshot, _ authority) {
		s.NetworkPolicies[0].Spec.Egress[0].Ports = nil
	}},
	"a port that is not ours": {"network-policies", Warn, "opens the port 22", func(_ *testing.T, s *Snapshot, _ authority) {
		s.NetworkPolicies[0].Spec.Ingress[0].Ports[0].Port = new(intstr.FromInt32(22))
	}},
	"calls to another port": {"network-policies", Warn, "lets it call the port 25 and those up to 99", func(_ *testing.T, s *Snapshot, _ authority) {
		port := &s.NetworkPolicies[0].Spec.Egress[0].Ports[0]
		port.Port, port.EndPort = new(intstr.FromInt32(25)), new(int32(99))
	}},

	// rights
	"a right more": {"own-rights", Fail, "backupjob-webhook may get secrets, by ClusterRoleBinding test-extra", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}},
			rbacv1.Subject{Kind: "ServiceAccount", Namespace: shippedNamespace, Name: shippedWebhook})
	}},
	"a right more, by the group of all accounts of the namespace": {"own-rights", Fail, "may list nodes", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"nodes"}},
			rbacv1.Subject{Kind: "Group", Name: "system:serviceaccounts:" + shippedNamespace})
	}},
	"a wildcard in our own role": {"own-rights", Fail, "backupjob-controller may * pods", func(_ *testing.T, s *Snapshot, _ authority) {
		role := s.clusterRole(shippedController)
		role.Rules = append(role.Rules, rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"pods"}})
	}},
	"a right less": {"own-rights", Warn, "backupjob-webhook may not create subjectaccessreviews of authorization.k8s.io", func(_ *testing.T, s *Snapshot, _ authority) {
		s.clusterRole(shippedWebhook).Rules = nil
	}},
	"an editor who reads Secrets": {"user-roles", Fail, "backupjob-editor lets users get secrets", func(_ *testing.T, s *Snapshot, _ authority) {
		role := s.clusterRole("backupjob-editor")
		role.Rules = append(role.Rules, rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}})
	}},
	"a viewer that is no part of view": {"user-roles", Warn, "no part of the built-in role", func(_ *testing.T, s *Snapshot, _ authority) {
		s.clusterRole("backupjob-viewer").Labels = nil
	}},
	"a role of users that is gone": {"user-roles", Warn, "backupjob-admin is not there", func(_ *testing.T, s *Snapshot, _ authority) {
		s.clusterRole("backupjob-admin").Name = "other"
	}},
	"someone who changes webhooks": {"who-writes-webhooks", Warn, "User:eve by ClusterRoleBinding test-extra (extra)", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{admissionGroup}, Resources: []string{configurations}}, someone("eve"))
	}},
	"everyone who changes webhooks": {"who-writes-webhooks", Fail, "Group:system:authenticated, which is everyone", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{validations}}, rbacv1.Subject{Kind: "Group", Name: "system:authenticated"})
	}},
	"someone who changes ours only": {"who-writes-webhooks", Warn, "User:eve", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"delete"}, APIGroups: []string{admissionGroup}, Resources: []string{validations}, ResourceNames: []string{"backupjob-webhook"}}, someone("eve"))
	}},
	"someone who changes CRDs": {"who-writes-crds", Warn, "ServiceAccount:ci/deployer", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"update"}, APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"*"}},
			rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ci", Name: "deployer"})
	}},
	"someone who changes policies": {"who-writes-policies", Warn, "User:eve", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"delete"}, APIGroups: []string{admissionGroup}, Resources: []string{policyBindings}}, someone("eve"))
	}},
	"our webhook, bound as a user": {"who-writes-policies", Fail, "ServiceAccount:backupjob-system/backupjob-webhook, one of our own", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"update"}, APIGroups: []string{admissionGroup}, Resources: []string{policies}},
			someone("system:serviceaccount:backupjob-system:backupjob-webhook"))
	}},
	"our controller with a right to CRDs": {"who-writes-crds", Fail, "one of our own accounts", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"update"}, APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{definitions}},
			rbacv1.Subject{Kind: "ServiceAccount", Namespace: shippedNamespace, Name: shippedController})
	}},
	"a developer in our namespace":      {"who-reaches-secrets", Warn, "User:dev by RoleBinding devs (edit)", developers},
	"a developer who enters Pods":       {"who-runs-pods", Warn, "User:dev", developers},
	"a developer who moves the Service": {"who-writes-services", Warn, "User:dev", developers},
	"someone who gives rights": {"who-takes-rights", Warn, "User:eve", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"bind"}, APIGroups: []string{rbacGroup}, Resources: []string{clusterRoles}}, someone("eve"))
	}},
	"someone who acts as others": {"who-takes-rights", Warn, "User:eve", func(_ *testing.T, s *Snapshot, _ authority) {
		s.role(rbacv1.PolicyRule{Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"users"}}, someone("eve"))
	}},
	"a client authentication that is on, as the one row that warns else": {"client-authentication", Pass, "demand a client certificate of api", func(_ *testing.T, s *Snapshot, _ authority) {
		s.webhookArgs("webhook", "--admission-client-ca=/ca.crt", "--admission-client-name=api")
	}},
}

func developers(_ *testing.T, s *Snapshot, _ authority) {
	s.RoleBindings = append(s.RoleBindings, rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "devs"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "edit"}, Subjects: []rbacv1.Subject{someone("dev")},
	})
}

func TestEachCheckSeesWhatIsBroken(t *testing.T) {
	broken := map[string]bool{}
	for name, tc := range breakages {
		broken[tc.row] = true
		t.Run(name, func(t *testing.T) {
			s, ca := healthy(t)
			tc.make(t, s, ca)
			row := s.judged(t, tc.row)
			if row.Status != tc.want {
				t.Fatalf("%s, want %s:\n%s", row.Status, tc.want, asJSON(t, row))
			}
			if !strings.Contains(row.Seen[0], tc.seen) {
				t.Errorf("seen first: %q, want %q in it", row.Seen[0], tc.seen)
			}
			if (row.Status == Pass) != (row.Do == "") {
				t.Errorf("%s says to do %q", row.Status, row.Do)
			}
		})
	}
	for _, id := range IDs() {
		if !broken[id] {
			t.Errorf("nothing breaks what %s looks at", id)
		}
	}
}

// TestWhatIsKnownDoesNotWarn: but a fault stays a fault.
func TestWhatIsKnownDoesNotWarn(t *testing.T) {
	s, _ := healthy(t)
	developers(t, s, authority{})
	s.Budgets = nil
	s.role(rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}, rbacv1.Subject{Kind: "Group", Name: "system:authenticated"})
	rows := Judge(s, []string{"User:dev", "disruption-budgets", "who-takes-rights", "Group:system:authenticated"})
	for id, want := range map[string]Status{"who-runs-pods": Fail, "disruption-budgets": Pass, "who-takes-rights": Fail} {
		if row := rowOf(t, rows, id); row.Status != want {
			t.Errorf("%s: %s, want %s: %q", id, row.Status, want, row.Seen)
		}
	}
	s.ClusterRoleBindings = s.ClusterRoleBindings[:len(s.ClusterRoleBindings)-1]
	if row := rowOf(t, Judge(s, []string{"User:dev"}), "who-runs-pods"); row.Status != Pass || !strings.Contains(asJSON(t, row.Seen), "accepted") {
		t.Errorf("a known subject: %s, %q", row.Status, row.Seen)
	}
}

func TestWhatCannotBeReadIsNotChecked(t *testing.T) {
	s, _ := healthy(t)
	s.Unread = map[string]unread{
		clusterRoles: {why: "you have no right to list clusterroles", lacking: "list clusterroles"},
		certificates: {why: "the cluster has no certificates"},
	}
	rows := Judge(s, nil)
	for id, checked := range map[string]bool{"own-rights": false, "who-runs-pods": false, "cert-manager": false, "replicas": true} {
		row := rowOf(t, rows, id)
		if row.Checked != checked || !checked && (row.Status != Warn || row.Seen[0] != "not checked") {
			t.Errorf("%s: checked %t, %s, %q", id, row.Checked, row.Status, row.Seen)
		}
	}
	if got := s.missing(); !slices.Equal(got, []string{"list clusterroles"}) {
		t.Errorf("missing rights %q", got)
	}
}

// TestAfterTheMigrationAllIsWell: config/overlays/v1-only takes the old version
// out of the CRDs and leaves the rest.
func TestAfterTheMigrationAllIsWell(t *testing.T) {
	s, _ := healthy(t)
	for i := range s.CRDs {
		s.CRDs[i].Spec.Versions = slices.DeleteFunc(s.CRDs[i].Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == oldVersion })
		s.Converted[i].Unserved, s.Converted[i].Objects = true, 0
	}
	for _, row := range Judge(s, shippedWarnings) {
		if row.Status != Pass {
			t.Errorf("%s: %s, %q", row.ID, row.Status, row.Seen)
		}
	}
}

// TestAnotherNameAndNamespace: nothing is missed, and nothing is taken for
// drift, where the operator has other names.
func TestAnotherNameAndNamespace(t *testing.T) {
	for _, policy := range shippedPolicies("team-a-", "elsewhere") {
		if !strings.HasPrefix(policy.Name, "team-a-backupjob-") {
			t.Errorf("the policy is called %s", policy.Name)
		}
		if text := asJSON(t, policy.Spec); strings.Contains(text, `\"backupjob-`) || strings.Contains(text, "serviceaccount") &&
			!strings.Contains(text, `\"elsewhere\" + \":\" + \"team-a-backupjob-controller\"`) {
			t.Errorf("the account is not moved:\n%s", text)
		}
	}
	s, _ := healthy(t)
	g := &gatherer{s: &Snapshot{Mutating: s.Mutating}}
	for i := range s.Mutating[0].Webhooks {
		service := s.Mutating[0].Webhooks[i].ClientConfig.Service
		service.Namespace, service.Name = "elsewhere", "team-a-backupjob-webhook"
	}
	g.place()
	if g.s.Namespace != "elsewhere" || g.s.Prefix != "team-a-" {
		t.Errorf("found in namespace %q with the prefix %q", g.s.Namespace, g.s.Prefix)
	}
}
