// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const serverName = "backupjob-webhook.backupjob-system.svc"

// pair is one certificate with its key, as PEM and parsed.
type pair struct {
	cert        []byte
	key         []byte
	certificate *x509.Certificate
	signer      *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) pair {
	t.Helper()
	return sign(t, nil, &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(10 * 365 * 24 * time.Hour),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	})
}

func (ca pair) serve(t *testing.T, from, to time.Time) pair {
	t.Helper()
	return sign(t, &ca, &x509.Certificate{
		DNSNames:    []string{serverName},
		NotBefore:   from,
		NotAfter:    to,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

func (ca pair) serveNow(t *testing.T) pair {
	t.Helper()
	return ca.serve(t, time.Now().Add(-time.Hour), time.Now().Add(90*24*time.Hour))
}

// sign makes a certificate from the template; without a parent it signs
// itself.
func sign(t *testing.T, parent *pair, template *x509.Certificate) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = serial
	issuer, signer := template, key
	if parent != nil {
		issuer, signer = parent.certificate, parent.signer
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		cert:        pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		certificate: certificate,
		signer:      key,
	}
}

// volume is a folder that changes the way the kubelet changes a Secret's
// volume: the files are links through ..data, which is replaced in one step.
type volume struct {
	dir   string
	count int
}

func newVolume(t *testing.T) *volume {
	t.Helper()
	return &volume{dir: t.TempDir()}
}

func (v *volume) write(t *testing.T, cert, key []byte) {
	t.Helper()
	data := filepath.Join(v.dir, "..data")
	old, _ := os.Readlink(data)
	v.count++
	version := filepath.Join(v.dir, "..version-"+time.Unix(int64(v.count), 0).UTC().Format("150405"))
	must(t, os.Mkdir(version, 0o700))
	must(t, os.WriteFile(filepath.Join(version, certFile), cert, 0o600))
	must(t, os.WriteFile(filepath.Join(version, keyFile), key, 0o600))
	must(t, os.Symlink(filepath.Base(version), data+"_tmp"))
	must(t, os.Rename(data+"_tmp", data))
	if old != "" {
		must(t, os.RemoveAll(filepath.Join(v.dir, old)))
		return
	}
	must(t, os.Symlink(filepath.Join("..data", certFile), filepath.Join(v.dir, certFile)))
	must(t, os.Symlink(filepath.Join("..data", keyFile), filepath.Join(v.dir, keyFile)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
