// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// CheckBundle returns nil if a client that trusts the PEM bundle, such as the
// API server with the caBundle of a webhook, accepts the served chain for the
// given DNS name at that time. The chain is as seen on the wire, leaf first.
// The bundle may hold more than the one CA that is needed: while a CA is
// exchanged it holds the old and the new one.
func CheckBundle(bundle []byte, chain []*x509.Certificate, dnsName string, now time.Time) error {
	if len(chain) == 0 {
		return errors.New("no certificate is served")
	}
	roots, count, err := parseBundle(bundle)
	if err != nil {
		return err
	}
	leaf := chain[0]
	intermediates := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		intermediates.AddCert(certificate)
	}
	_, err = leaf.Verify(x509.VerifyOptions{
		Roots:         roots,
		Intermediates: intermediates,
		DNSName:       dnsName,
		CurrentTime:   now,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return fmt.Errorf("none of the %d CAs in the bundle signed the served certificate (serial %s, issuer %q): %w",
			count, leaf.SerialNumber, leaf.Issuer, err)
	}
	if err != nil {
		return fmt.Errorf("the served certificate (serial %s) is not accepted: %w", leaf.SerialNumber, err)
	}
	return nil
}

func parseBundle(bundle []byte) (*x509.CertPool, int, error) {
	pool, count := x509.NewCertPool(), 0
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, 0, fmt.Errorf("the CA bundle holds a PEM block of type %q; it must hold certificates only", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, 0, fmt.Errorf("parse certificate %d of the CA bundle: %w", count+1, err)
		}
		pool.AddCert(certificate)
		count++
	}
	if count == 0 {
		return nil, 0, errors.New("the CA bundle is empty; cainjector fills it once the Certificate is issued")
	}
	return pool, count, nil
}
