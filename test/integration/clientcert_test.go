// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/backupjob-operator/webhooks"
)

// caller is whom the API server calls webhooks as.
const caller = "backupjob-webhook.backupjob-system.svc"

// callingAs configures an API server to present a certificate of its own CA to
// every webhook, and returns that CA. The suite's webhooks stand at a URL, so
// the user is the one for any host.
func callingAs(name, folder string) (admissionConfiguration string, ca *x509.CertPool) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: today.AddDate(-1, 0, 0), NotAfter: today.AddDate(50, 0, 0), // the front door's clock stands still
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	Expect(err).NotTo(HaveOccurred())
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	ca = x509.NewCertPool()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	Expect(ca.AppendCertsFromPEM(certificate)).To(BeTrue())

	kubeconfig := filepath.Join(folder, "webhooks.kubeconfig")
	Expect(clientcmd.WriteToFile(clientcmdapi.Config{AuthInfos: map[string]*clientcmdapi.AuthInfo{
		"*": {ClientCertificateData: certificate, ClientKeyData: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})},
	}}, kubeconfig)).To(Succeed())
	admissionConfiguration = filepath.Join(folder, "admission.yaml")
	var text strings.Builder
	text.WriteString("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n")
	for _, plugin := range []string{"ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"} {
		fmt.Fprintf(&text, "- name: %s\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    kind: WebhookAdmissionConfiguration\n    kubeConfigFile: %s\n", plugin, kubeconfig)
	}
	Expect(os.WriteFile(admissionConfiguration, []byte(text.String()), 0o600)).To(Succeed())
	return admissionConfiguration, ca
}

var _ = Describe("Client certificates, with an API server that presents one", Ordered, func() {
	var own *frontDoor
	var boss client.Client
	var ca *x509.CertPool

	BeforeAll(func() {
		var configuration string
		configuration, ca = callingAs(caller, GinkgoT().TempDir())
		env := &envtest.Environment{}
		env.ControlPlane.GetAPIServer().Configure().Append("admission-control-config-file", configuration)
		cfg, err := env.Start()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(env.Stop)
		cfg.QPS, cfg.Burst = -1, -1
		boss, err = client.New(cfg, client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		own = openFrontDoor(cfg)
		DeferCleanup(func() { own.close() })
		own.with(demanding(ca, caller))
		installWebhooks(boss, own)
	})

	It("answers that API server, in both versions", func(ctx context.Context) {
		for _, kind := range kinds {
			for _, version := range versions {
				Expect(boss.Create(ctx, object(version, kind, "default", "a-"+version, nil))).To(Succeed())
				Expect(causes(boss.Create(ctx, object(version, kind, "default", "b", map[string]any{scheduleField(version, kind): "never"})))).
					To(HaveKey("spec." + scheduleField(version, kind)))
			}
		}
	})

	for name, change := range map[string]func(*frontDoor){
		"of another CA":   func(d *frontDoor) { demanding(x509.NewCertPool(), caller)(d) },
		"of another name": func(d *frontDoor) { demanding(ca, "somebody-else")(d) },
	} {
		It("refuses one "+name+" by the webhook's name, while conversion goes on", func(ctx context.Context) {
			for _, kind := range kinds {
				Expect(client.IgnoreAlreadyExists(boss.Create(ctx, object("v1", kind, "default", "kept", nil)))).To(Succeed())
			}
			own.with(change)
			for _, kind := range kinds {
				refusedBy(boss.Create(ctx, object("v1", kind, "default", "new", nil)), mutating(kind))
				Expect(boss.Get(ctx, client.ObjectKey{Namespace: "default", Name: "kept"}, as("v1alpha1", kind))).To(Succeed())
			}
			Expect(own.metric("backupjob_webhook_refused_total", map[string]string{"reason": "Client"})).To(BeNumerically(">=", len(kinds)))
		})
	}
})

// demanding has the admission routes take nothing but a certificate of that CA
// and name.
func demanding(ca *x509.CertPool, name string) func(*frontDoor) {
	return func(d *frontDoor) {
		d.routes.Clients = &webhooks.Clients{CAs: func() *x509.CertPool { return ca }, Names: []string{name}}
	}
}

var _ = Describe("Client certificates, with an API server that presents none", Serial, func() {
	It("refuses its writes by the webhook's name, while conversion goes on", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		for _, kind := range kinds {
			Expect(admin.Create(ctx, object("v1", kind, ns, "kept", nil))).To(Succeed())
		}
		door.with(demanding(x509.NewCertPool(), caller))
		for _, kind := range kinds {
			refusedBy(admin.Create(ctx, object("v1", kind, ns, "new", nil)), mutating(kind))
			Expect(read(ctx, "v1alpha1", kind, ns, "kept").GetName()).To(Equal("kept"))
		}
	})
})
