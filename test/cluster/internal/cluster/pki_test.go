// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCertificatesHoldForTheirHosts(t *testing.T) {
	l, c := testLayout(t), testConfig(t)
	if err := writePKI(l, c, at); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(readCertificate(t, l.pki("ca.crt")))
	cases := map[string][]string{
		"apiserver": {
			"kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost",
			loopback, apiServiceIP, nodeIP,
		},
		"kubelet-server": {nodeName, nodeIP},
		"loopback":       {"localhost", loopback},
	}
	for file, hosts := range cases {
		cert := readCertificate(t, l.pki(file+".crt"))
		for _, host := range hosts {
			options := x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: at}
			if _, err := cert.Verify(options); err != nil {
				t.Errorf("%s for %s: %v", file, host, err)
			}
		}
	}
}

func TestClientsAreWhoTheyShouldBe(t *testing.T) {
	l, c := testLayout(t), testConfig(t)
	if err := writePKI(l, c, at); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(readCertificate(t, l.pki("ca.crt")))
	cases := map[string]struct {
		user   string
		groups []string
	}{
		"admin":                   {"kubernetes-admin", []string{"system:masters"}},
		"kubelet":                 {"system:node:n1", []string{"system:nodes"}},
		"kube-controller-manager": {"system:kube-controller-manager", nil},
		"kube-scheduler":          {"system:kube-scheduler", nil},
		"kube-proxy":              {"system:kube-proxy", nil},
	}
	for file, want := range cases {
		cert := readCertificate(t, l.pki(file+".crt"))
		if cert.Subject.CommonName != want.user || !cmp.Equal(cert.Subject.Organization, want.groups) {
			t.Errorf("%s is %s", file, cert.Subject)
		}
		options := x509.VerifyOptions{Roots: roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		if _, err := cert.Verify(options); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if cert.NotAfter.Before(at.Add(30 * 24 * time.Hour)) {
			t.Errorf("%s ends on %s", file, cert.NotAfter)
		}
	}
}

func TestKeysAreNobodyElsesBusiness(t *testing.T) {
	l, c := testLayout(t), testConfig(t)
	if err := writePKI(l, c, at); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"ca.key", "sa.key", "admin.key"} {
		info, err := os.Stat(l.pki(file))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
}

func readCertificate(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
