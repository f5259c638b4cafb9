// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// noon is when the snapshots of the tests are taken.
var noon = time.Date(2027, 3, 20, 12, 0, 0, 0, time.UTC)

// manifests is config/default as kubectl renders it.
var manifests = sync.OnceValues(func() ([]*unstructured.Unstructured, error) {
	kubectl := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	rendered, err := exec.Command(kubectl, "kustomize", "../../../../config/default").Output()
	if err != nil {
		return nil, errors.Join(errors.New("KUBEBUILDER_ASSETS must name the folder with kubectl"), err)
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(rendered), len(rendered))
	for {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(u); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		objects = append(objects, u)
	}
})

// decoded are the objects of the manifests in the places of a snapshot. They
// are decoded once, because the CRDs are large.
var decoded = sync.OnceValues(func() (*Snapshot, error) {
	objects, err := manifests()
	if err != nil {
		return nil, err
	}
	s, of := &Snapshot{}, map[string][]*unstructured.Unstructured{}
	for _, u := range objects {
		of[u.GetKind()] = append(of[u.GetKind()], u)
	}
	var operator []corev1.Namespace
	err = errors.Join(
		fill(of, "MutatingWebhookConfiguration", &s.Mutating), fill(of, "ValidatingWebhookConfiguration", &s.Validating),
		fill(of, "ValidatingAdmissionPolicy", &s.Policies), fill(of, "ValidatingAdmissionPolicyBinding", &s.PolicyBindings),
		fill(of, "CustomResourceDefinition", &s.CRDs), fill(of, "Deployment", &s.Deployments), fill(of, "Service", &s.Services),
		fill(of, "PodDisruptionBudget", &s.Budgets), fill(of, "NetworkPolicy", &s.NetworkPolicies),
		fill(of, "Certificate", &s.Certificates), fill(of, "Issuer", &s.Issuers), fill(of, "Role", &s.Roles),
		fill(of, "RoleBinding", &s.RoleBindings), fill(of, "ClusterRole", &s.ClusterRoles),
		fill(of, "ClusterRoleBinding", &s.ClusterRoleBindings), fill(of, "Namespace", &operator),
	)
	if err == nil {
		s.Operator = operator[0]
	}
	return s, err
})

func fill[T any](of map[string][]*unstructured.Unstructured, kind string, into *[]T) error {
	for _, u := range of[kind] {
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &typed); err != nil {
			return err
		}
		*into = append(*into, typed)
	}
	if len(*into) == 0 {
		return fmt.Errorf("config/default has no %s", kind)
	}
	return nil
}

// shippedSnapshot is a copy of what is decoded, for a test to change.
func shippedSnapshot(t *testing.T) *Snapshot {
	t.Helper()
	from, err := decoded()
	if err != nil {
		t.Fatal(err)
	}
	return &Snapshot{
		Mutating: copies(from.Mutating), Validating: copies(from.Validating), Policies: copies(from.Policies), PolicyBindings: copies(from.PolicyBindings),
		CRDs: copies(from.CRDs), Deployments: copies(from.Deployments), Services: copies(from.Services), Budgets: copies(from.Budgets),
		NetworkPolicies: copies(from.NetworkPolicies), Certificates: copies(from.Certificates), Issuers: copies(from.Issuers),
		Roles: copies(from.Roles), RoleBindings: copies(from.RoleBindings), ClusterRoles: copies(from.ClusterRoles),
		ClusterRoleBindings: copies(from.ClusterRoleBindings), Operator: *from.Operator.DeepCopy(),
	}
}

func copies[T any, P interface {
	*T
	DeepCopyInto(*T)
}](from []T) []T {
	to := make([]T, len(from))
	for i := range from {
		P(&from[i]).DeepCopyInto(&to[i])
	}
	return to
}

// authority signs the certificates of the tests.
type authority struct {
	pem         []byte
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, from, to time.Time) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), certificate, key}
}

func (a authority) leaf(t *testing.T, name string, from, to time.Time) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: from, NotAfter: to,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

const servedName = "backupjob-webhook.backupjob-system.svc"

// healthy is a snapshot of an installation in which everything is well.
func healthy(t *testing.T) (*Snapshot, authority) {
	t.Helper()
	ca := newAuthority(t, noon.Add(-day), noon.Add(3650*day))
	s := shippedSnapshot(t)
	s.Now, s.Server, s.Namespace, s.Unread = noon, "https://api.example.com", shippedNamespace, map[string]unread{}
	for i := range s.Mutating[0].Webhooks {
		s.Mutating[0].Webhooks[i].ClientConfig.CABundle = ca.pem
		s.Validating[0].Webhooks[i].ClientConfig.CABundle = ca.pem
	}
	for i := range s.CRDs {
		s.CRDs[i].Spec.Conversion.Webhook.ClientConfig.CABundle = ca.pem
		s.CRDs[i].Status.StoredVersions = []string{"v1"}
	}
	for i := range s.Certificates {
		until, renew := metav1.NewTime(noon.Add(80*day)), metav1.NewTime(noon.Add(50*day))
		s.Certificates[i].Status.NotAfter, s.Certificates[i].Status.RenewalTime = &until, &renew
		s.Certificates[i].Status.Conditions = []certmanagerv1.CertificateCondition{{Type: certmanagerv1.CertificateConditionReady, Status: cmmeta.ConditionTrue}}
	}
	for i := range s.Issuers {
		s.Issuers[i].Status.Conditions = []certmanagerv1.IssuerCondition{{Type: certmanagerv1.IssuerConditionReady, Status: cmmeta.ConditionTrue}}
	}
	s.run()
	s.ClusterRoles = append(s.ClusterRoles, clusterAdmin(), edit())
	s.ClusterRoleBindings = append(s.ClusterRoleBindings, bind("cluster-admin", rbacv1.Subject{Kind: "Group", Name: "system:masters"}))
	s.Served = []Served{{
		Where: "Pod backupjob-webhook-0", DNSName: servedName, TLS: tls.VersionTLS13,
		Chain: []*x509.Certificate{ca.leaf(t, servedName, noon.Add(-10*day), noon.Add(80*day))},
	}}
	s.Converted = []Converted{{Kind: "BackupJob", Objects: 1}, {Kind: "MySQLBackup"}}
	return s, ca
}

// run makes the Pods that the Deployments ask for, on two nodes.
func (s *Snapshot) run() {
	for _, d := range s.Deployments {
		for i, node := range []string{"a", "b"} {
			s.Pods = append(s.Pods, corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: d.Name + "-" + string(rune('0'+i)), Namespace: s.Namespace, Labels: d.Spec.Template.Labels},
				Spec:       corev1.PodSpec{NodeName: node, Containers: d.Spec.Template.Spec.Containers},
				Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
			})
		}
	}
}

func clusterAdmin() rbacv1.ClusterRole {
	every := []string{"*"}
	return rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster-admin"},
		Rules:      []rbacv1.PolicyRule{{Verbs: every, APIGroups: every, Resources: every}, {Verbs: every, NonResourceURLs: every}},
	}
}

// edit is a part of the built-in role.
func edit() rbacv1.ClusterRole {
	return rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "edit"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets", "pods/exec", "services"}, Verbs: []string{"get", "list", "watch", "create"}},
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create", "patch"}},
		},
	}
}

func bind(role string, subjects ...rbacv1.Subject) rbacv1.ClusterRoleBinding {
	return rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test-" + role},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", Name: role},
		Subjects:   subjects,
	}
}

// role adds a ClusterRole of one rule and binds it.
func (s *Snapshot) role(rule rbacv1.PolicyRule, subjects ...rbacv1.Subject) {
	s.ClusterRoles = append(s.ClusterRoles, rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "extra"}, Rules: []rbacv1.PolicyRule{rule}})
	s.ClusterRoleBindings = append(s.ClusterRoleBindings, bind("extra", subjects...))
}

// judged makes one check.
func (s *Snapshot) judged(t *testing.T, id string) Row {
	t.Helper()
	for _, area := range areas {
		for _, c := range area.checks {
			if c.id == id {
				return c.make(s, area.name, nil)
			}
		}
	}
	t.Fatalf("there is no check %q", id)
	return Row{}
}

func rowOf(t *testing.T, rows []Row, id string) Row {
	t.Helper()
	for _, row := range rows {
		if row.ID == id {
			return row
		}
	}
	t.Fatalf("there is no row %q", id)
	return Row{}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
