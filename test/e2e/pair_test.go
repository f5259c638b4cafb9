// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A serving pair that is of no use", Serial, func() {
	It("is issued again at once by cert-manager", func(ctx context.Context) {
		before, ca := issued(ctx, Default), secretData(ctx, Default, caCertificate)
		certificate, _ := signedPair(ca, time.Now(), time.Now().Add(time.Hour))
		_, key := signedPair(ca, time.Now(), time.Now().Add(time.Hour))
		putPair(ctx, certificate, key)
		Eventually(ctx, func(g Gomega) {
			pair := secretData(ctx, g, servingCertificate)
			_, err := tls.X509KeyPair(pair[corev1.TLSCertKey], pair[corev1.TLSPrivateKeyKey])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pair[corev1.TLSCertKey]).NotTo(Equal(certificate))
		}).WithTimeout(soon).Should(Succeed(), "it must notice by itself")
		reloaded(ctx, before)
	})

	It("is not served while the last good one is, holds up a Pod that starts, and heals", func(ctx context.Context) {
		ns := newNamespace(ctx)
		load := startApplier(ctx, ns, 50*time.Millisecond)
		load.goOn(ctx, 20)
		good, ca := secretData(ctx, Default, servingCertificate), secretData(ctx, Default, caCertificate)
		before := issued(ctx, Default)
		bothServe(ctx, before)
		steady, other := doors(ctx, Default)[0], doors(ctx, Default)[1]

		By("taking the Issuer away, so that nobody mends it")
		signBy(ctx, "no-such-issuer")
		DeferCleanup(func(ctx context.Context) { signBy(ctx, caCertificate) })
		now := time.Now()
		_, strange := signedPair(ca, now, now.Add(time.Hour))
		future, futureKey := signedPair(ca, now.Add(time.Hour), now.Add(2*time.Hour))
		expired, expiredKey := signedPair(ca, now.Add(-2*time.Hour), now.Add(-time.Hour))
		const nothing = "no serving certificate is loaded yet"
		for _, trouble := range []struct {
			what             string
			certificate, key []byte
			logged, notReady string
		}{
			{"the key of another", good[corev1.TLSCertKey], strange, "private key does not match public key", nothing},
			{"a certificate that is cut off", good[corev1.TLSCertKey][:300], good[corev1.TLSPrivateKeyKey], "failed to find any PEM data in certificate", nothing},
			{"a certificate of a clock that is ahead", future, futureKey, "is not valid before", "is not valid before"},
			{"a certificate that has run out", expired, expiredKey, "expired at", "expired at"},
		} {
			By("putting in " + trouble.what)
			since := time.Now().Truncate(time.Second).Format(time.RFC3339)
			putPair(ctx, trouble.certificate, trouble.key)
			kubectl(ctx, "delete", "pod", "-n", operatorNamespace, other.Name, "--ignore-not-found")
			Eventually(ctx, func(g Gomega) {
				hurry(ctx)
				for _, pod := range doors(ctx, g) {
					g.Expect(metrics(ctx, g, &pod)).To(ContainSubstring("backupjob_certificate_unusable 1"), pod.Name)
					if pod.Name != steady.Name {
						g.Expect(notReady(g, &pod)).To(ContainSubstring(trouble.notReady))
						continue
					}
					said := kubectl(ctx, "logs", "-n", operatorNamespace, pod.Name, "--since-time="+since)
					g.Expect(strings.Contains(said, trouble.logged)).To(BeTrue(), "%q must be logged", trouble.logged)
					g.Expect(servedSerial(g, pod.Status.PodIP+":9443")).To(Equal(before))
				}
			}).WithTimeout(2*time.Minute).WithPolling(time.Second).Should(Succeed(), "it must be seen and not be served")
			load.goOn(ctx, 20)
		}
		out, code := plugin(ctx, "audit")
		Expect(code).NotTo(Equal(0), out)
		Expect(out).To(ContainSubstring("Certificate backupjob-webhook-tls is not ready"))
		load.end()

		By("losing the one that has a good pair still")
		kubectl(ctx, "delete", "pod", "-n", operatorNamespace, steady.Name)
		Eventually(ctx, func(g Gomega) {
			for _, pod := range doors(ctx, g) {
				g.Expect(notReady(g, &pod)).To(ContainSubstring("expired at"))
			}
			g.Expect(kubectl(ctx, "events", "-n", operatorNamespace, "--types=Warning")).To(ContainSubstring("Readiness probe failed"))
		}).WithTimeout(2*time.Minute).WithPolling(time.Second).Should(Succeed(), "nobody has a good one")
		Expect(cluster.Create(ctx, backupJob(ns, "refused", nil))).To(MatchError(ContainSubstring("mutate-backupjob.backup.example.com")))
		kubectl(ctx, "create", "configmap", "-n", ns, "others-go-on")

		By("giving the Issuer back")
		bad := issued(ctx, Default) // which they serve for want of a better one
		signBy(ctx, caCertificate)
		reloaded(ctx, bad)
		Eventually(ctx, func() error {
			return cluster.Create(ctx, backupJob(ns, "after", nil))
		}).WithTimeout(soon).Should(Succeed(), "the Pods become ready again")
		Eventually(ctx, func(g Gomega) {
			for _, pod := range doors(ctx, g) {
				g.Expect(metrics(ctx, g, &pod)).To(ContainSubstring("backupjob_certificate_unusable 0"), pod.Name)
			}
		}).WithTimeout(soon).Should(Succeed(), "no Pod has an unusable pair any more")
	})
})

func metrics(ctx context.Context, g Gomega, pod *corev1.Pod) string {
	out, err := command(ctx, "kubectl", "get", "--raw", "/api/v1/namespaces/"+pod.Namespace+"/pods/"+pod.Name+":8080/proxy/metrics").Output()
	g.Expect(err).NotTo(HaveOccurred())
	return string(out)
}

// notReady is why a Pod is not.
func notReady(g Gomega, pod *corev1.Pod) string {
	response, err := http.Get("http://" + pod.Status.PodIP + ":8081/readyz")
	g.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close() //nolint:errcheck // It is only read.
	g.Expect(response.StatusCode).To(Equal(http.StatusServiceUnavailable))
	body, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	return string(body)
}

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

// signedPair is a serving certificate of our CA, with its key.
func signedPair(ca map[string][]byte, from, to time.Time) (certificate, key []byte) {
	GinkgoHelper()
	signer, err := tls.X509KeyPair(ca[corev1.TLSCertKey], ca[corev1.TLSPrivateKeyKey])
	Expect(err).NotTo(HaveOccurred())
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		DNSNames:     []string{"backupjob-webhook." + operatorNamespace + ".svc"},
		NotBefore:    from, NotAfter: to,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.Leaf, &private.PublicKey, signer.PrivateKey)
	Expect(err).NotTo(HaveOccurred())
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
