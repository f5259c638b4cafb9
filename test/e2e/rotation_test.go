// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const caCertificate = "backupjob-ca"

// bundles are the CA bundles that the API server trusts for our webhooks.
func bundles(ctx context.Context, g Gomega) [][]byte {
	var all [][]byte
	for _, name := range []string{"backupjobs.backup.example.com", "mysqlbackups.backup.example.com"} {
		var crd apiextensionsv1.CustomResourceDefinition
		g.Expect(cluster.Get(ctx, client.ObjectKey{Name: name}, &crd)).To(Succeed())
		all = append(all, crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
	}
	ours := client.MatchingLabels{"app.kubernetes.io/part-of": "backupjob-operator"}
	var mutating admissionv1.MutatingWebhookConfigurationList
	g.Expect(cluster.List(ctx, &mutating, ours)).To(Succeed())
	for _, configuration := range mutating.Items {
		for _, webhook := range configuration.Webhooks {
			all = append(all, webhook.ClientConfig.CABundle)
		}
	}
	var validating admissionv1.ValidatingWebhookConfigurationList
	g.Expect(cluster.List(ctx, &validating, ours)).To(Succeed())
	for _, configuration := range validating.Items {
		for _, webhook := range configuration.Webhooks {
			all = append(all, webhook.ClientConfig.CABundle)
		}
	}
	g.Expect(len(all)).To(BeNumerically(">=", 4))
	return all
}

func secretData(ctx context.Context, g Gomega, name string) map[string][]byte {
	var secret corev1.Secret
	g.Expect(cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: name}, &secret)).To(Succeed())
	return secret.Data
}

// trusted checks that every bundle holds the CA certificate.
func trusted(ctx context.Context, ca []byte) {
	GinkgoHelper()
	for _, bundle := range bundles(ctx, Default) {
		Expect(string(bundle)).To(ContainSubstring(pemOf(ca)))
	}
}

func pemOf(certificate []byte) string { return string(bytes.TrimSpace(certificate)) }

var _ = Describe("The CA", Serial, func() {
	It("is exchanged under load without one failed write", func(ctx context.Context) {
		load := startApplier(ctx, newNamespace(ctx), 50*time.Millisecond)
		load.goOn(ctx, 20)
		leaf, ca := issued(ctx, Default), secretData(ctx, Default, caCertificate)[corev1.TLSCertKey]

		By("issuing a new CA, and having it trusted beside the old one before it signs anything")
		renew(ctx, caCertificate)
		Eventually(ctx, func(g Gomega) {
			g.Expect(secretData(ctx, g, caCertificate)[corev1.TLSCertKey]).NotTo(Equal(ca))
		}).WithTimeout(soon).Should(Succeed(), "cert-manager issues it")
		load.goOn(ctx, 20)
		follow(ctx, project, commands("operating.md", exchangeOfTheCA)[0])
		trusted(ctx, ca)
		trusted(ctx, secretData(ctx, Default, caCertificate)[corev1.TLSCertKey])
		load.goOn(ctx, 20)

		By("renewing the serving certificate, which the new CA signs")
		renew(ctx, servingCertificate)
		reloaded(ctx, leaf)
		load.goOn(ctx, 20)

		By("taking the old CA out")
		follow(ctx, project, commands("operating.md", exchangeOfTheCA)[1])
		load.goOn(ctx, 40)
		load.end()
		for _, bundle := range bundles(ctx, Default) {
			Expect(string(bundle)).NotTo(ContainSubstring(pemOf(ca)))
		}
		trusted(ctx, secretData(ctx, Default, caCertificate)[corev1.TLSCertKey])
		signedBy(Default, secretData(ctx, Default, servingCertificate)[corev1.TLSCertKey], secretData(ctx, Default, caCertificate)[corev1.TLSCertKey])
	})

	It("may be lost: what is served goes on, and it comes back", func(ctx context.Context) {
		load := startApplier(ctx, newNamespace(ctx), 50*time.Millisecond)
		load.goOn(ctx, 10)
		ca := secretData(ctx, Default, caCertificate)[corev1.TLSCertKey]
		kubectl(ctx, "delete", "--timeout=1m", "secret", "-n", operatorNamespace, caCertificate)
		Eventually(ctx, func(g Gomega) {
			g.Expect(secretData(ctx, g, caCertificate)[corev1.TLSCertKey]).NotTo(Equal(ca))
		}).WithTimeout(soon).Should(Succeed(), "cert-manager issues it again")
		load.goOn(ctx, 40)
		load.end()

		By("having the new one trusted and put to use")
		leaf := issued(ctx, Default)
		follow(ctx, project, commands("operating.md", exchangeOfTheCA)[0])
		kubectl(ctx, "delete", "--timeout=1m", "secret", "-n", operatorNamespace, servingCertificate)
		reloaded(ctx, leaf)
		Expect(cluster.Create(ctx, backupJob(newNamespace(ctx), "after", nil))).To(Succeed())
	})
})

var _ = Describe("An expired serving certificate", Serial, func() {
	It("takes the Pods out of service, and heals once it is issued again", func(ctx context.Context) {
		ns := newNamespace(ctx)
		before := issued(ctx, Default)
		By("taking the Issuer away, so that the pair runs out")
		signBy(ctx, "no-such-issuer")
		DeferCleanup(func(ctx context.Context) { signBy(ctx, caCertificate) })
		certificate, key := expiredPair(secretData(ctx, Default, caCertificate))
		putPair(ctx, certificate, key)
		Eventually(ctx, func(g Gomega) {
			g.Expect(kubectl(ctx, "get", "pods", "-n", operatorNamespace, "-l", "app.kubernetes.io/component=webhook",
				"-o", "jsonpath={.items[*].status.containerStatuses[0].ready}")).To(Equal("false false"))
			g.Expect(kubectl(ctx, "events", "-n", operatorNamespace, "--types=Warning")).To(ContainSubstring("Readiness probe failed"))
		}).WithTimeout(2*time.Minute).Should(Succeed(), "the readiness probe must fail")
		kubectl(ctx, "create", "configmap", "-n", ns, "others-go-on")

		By("giving it back")
		signBy(ctx, caCertificate)
		reloaded(ctx, before)
		Eventually(ctx, func() error {
			return cluster.Create(ctx, backupJob(ns, "after", nil))
		}).WithTimeout(soon).Should(Succeed(), "the Pods become ready again")
	})
})

// signBy names the Issuer of the serving certificate.
func signBy(ctx context.Context, issuer string) {
	GinkgoHelper()
	kubectl(ctx, "patch", "certificate", "-n", operatorNamespace, servingCertificate, "--type=merge",
		"-p", `{"spec":{"issuerRef":{"name":"`+issuer+`"}}}`)
}

// putPair writes a pair into the Secret of the serving certificate.
func putPair(ctx context.Context, certificate, key []byte) {
	GinkgoHelper()
	var secret corev1.Secret
	name := client.ObjectKey{Namespace: operatorNamespace, Name: servingCertificate}
	Expect(cluster.Get(ctx, name, &secret)).To(Succeed())
	secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey] = certificate, key
	Expect(cluster.Update(ctx, &secret)).To(Succeed())
}

// expiredPair is a serving certificate of our CA that ran out an hour ago.
func expiredPair(ca map[string][]byte) (certificate, key []byte) {
	GinkgoHelper()
	signer, err := tls.X509KeyPair(ca[corev1.TLSCertKey], ca[corev1.TLSPrivateKeyKey])
	Expect(err).NotTo(HaveOccurred())
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		DNSNames:     []string{"backupjob-webhook." + operatorNamespace + ".svc"},
		NotBefore:    time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.Leaf, &private.PublicKey, signer.PrivateKey)
	Expect(err).NotTo(HaveOccurred())
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

const exchangeOfTheCA = "### Exchanging the CA by hand"

// signedBy checks that the CA signed the leaf.
func signedBy(g Gomega, leaf, ca []byte) {
	g.Expect(parseCertificate(g, leaf).CheckSignatureFrom(parseCertificate(g, ca))).To(Succeed())
}

func parseCertificate(g Gomega, data []byte) *x509.Certificate {
	block, _ := pem.Decode(data)
	g.Expect(block).NotTo(BeNil())
	certificate, err := x509.ParseCertificate(block.Bytes)
	g.Expect(err).NotTo(HaveOccurred())
	return certificate
}
