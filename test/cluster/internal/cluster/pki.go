// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// validity is far longer than any cluster of this kind lives.
const validity = 365 * 24 * time.Hour

// frontProxy is the user as which the API server calls API servers behind it.
const frontProxy = "front-proxy-client"

// identity is a certificate that the cluster's authority issues.
type identity struct {
	file  string // without ending
	user  string
	group string
	hosts []string // names and addresses; empty for a client
}

// identities of all components. Components are separate users, as they are in
// any cluster, so that their rights are the usual ones.
func identities(c Config) []identity {
	return []identity{
		{file: "admin", user: "kubernetes-admin", group: "system:masters"},
		{file: "cert-manager", user: "cert-manager", group: "system:masters"},
		{file: "kube-controller-manager", user: "system:kube-controller-manager"},
		{file: "kube-scheduler", user: "system:kube-scheduler"},
		{file: "kube-proxy", user: "system:kube-proxy"},
		{file: "kube-router", user: "kube-router", group: "system:masters"},
		{file: "kubelet", user: "system:node:" + nodeName, group: "system:nodes"},
		{file: "kubelet-client", user: "kube-apiserver-kubelet-client", group: "system:masters"},
		{file: frontProxy, user: frontProxy},
		{file: "kubelet-server", user: nodeName, hosts: []string{nodeName, nodeIP}},
		{file: "loopback", user: "localhost", hosts: []string{"localhost", loopback}},
		{file: "apiserver", user: "kube-apiserver", hosts: []string{
			"kubernetes",
			"kubernetes.default",
			"kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local",
			"localhost",
			loopback,
			apiServiceIP,
			c.Host,
		}},
	}
}

// authority signs certificates for one cluster.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// writePKI makes a new authority, all certificates and the key pair that signs
// the tokens of service accounts.
func writePKI(l Layout, c Config, now time.Time) error {
	ca, err := newAuthority(now)
	if err != nil {
		return fmt.Errorf("make the certificate authority: %w", err)
	}
	if err := ca.write(l, "ca", ca.cert, ca.key); err != nil {
		return err
	}
	for _, id := range identities(c) {
		cert, key, err := ca.issue(id, now)
		if err != nil {
			return fmt.Errorf("issue the certificate %q: %w", id.file, err)
		}
		if err := ca.write(l, id.file, cert, key); err != nil {
			return err
		}
	}
	return writeTokenKeys(l)
}

func newAuthority(now time.Time) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "test-cluster"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(validity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := sign(template, template, key, key)
	return &authority{cert: cert, key: key}, err
}

func (a *authority) issue(id identity, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: id.user},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if id.group != "" {
		template.Subject.Organization = []string{id.group}
	}
	for _, host := range id.hosts {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	cert, err := sign(template, a.cert, key, a.key)
	return cert, key, err
}

func (a *authority) write(l Layout, file string, cert *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		writePEM(l.pki(file+".crt"), "CERTIFICATE", cert.Raw),
		writePEM(l.pki(file+".key"), "PRIVATE KEY", der),
	)
}

func writeTokenKeys(l Layout) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return errors.Join(
		writePEM(l.pki("sa.key"), "PRIVATE KEY", private),
		writePEM(l.pki("sa.pub"), "PUBLIC KEY", public),
	)
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
