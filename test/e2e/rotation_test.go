// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
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
