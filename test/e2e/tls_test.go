// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"time"

	. "github.com/onsi/gomega"
)

// serial is that of the first certificate of a PEM file.
func serial(g Gomega, data []byte) string {
	block, _ := pem.Decode(data)
	g.Expect(block).NotTo(BeNil())
	certificate, err := x509.ParseCertificate(block.Bytes)
	g.Expect(err).NotTo(HaveOccurred())
	return certificate.SerialNumber.String()
}

// servedSerial is that of the certificate with which an address answers. Who
// signed it is not the question here.
func servedSerial(g Gomega, address string) string {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 5 * time.Second}, Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.Dial("tcp", address)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}
