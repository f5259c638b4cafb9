// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheckBundle(t *testing.T) {
	old, current := newAuthority(t, "old ca"), newAuthority(t, "current ca")
	leaf := current.serveNow(t)
	now := time.Now()
	cases := map[string]struct {
		bundle []byte
		chain  []*x509.Certificate
		name   string
		now    time.Time
		want   string
	}{
		"accepts the CA that signed": {bundle: current.cert},
		"accepts it beside an older one, as during an exchange of the CA": {
			bundle: slices.Concat(old.cert, current.cert)},
		"accepts what a server sends along with the leaf": {
			bundle: current.cert, chain: []*x509.Certificate{leaf.certificate, current.certificate}},
		"refuses another CA": {
			bundle: old.cert, want: "none of the 1 CAs in the bundle signed"},
		"refuses an empty bundle": {
			bundle: nil, want: "the CA bundle is empty"},
		"refuses a placeholder that is no PEM": {
			bundle: []byte("Cg=="), want: "the CA bundle is empty"},
		"refuses a bundle with a key in it": {
			bundle: current.key, want: "must hold certificates only"},
		"refuses a damaged certificate in the bundle": {
			bundle: []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), want: "parse certificate 1"},
		"refuses a server that shows nothing": {
			bundle: current.cert, chain: []*x509.Certificate{}, want: "no certificate is served"},
		"refuses the name of another Service": {
			bundle: current.cert, name: "other.backupjob-system.svc", want: "is not accepted"},
		"refuses an expired leaf": {
			bundle: current.cert, now: now.Add(91 * 24 * time.Hour), want: "expired"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.chain == nil {
				tc.chain = []*x509.Certificate{leaf.certificate}
			}
			if tc.name == "" {
				tc.name = serverName
			}
			if tc.now.IsZero() {
				tc.now = now
			}
			err := CheckBundle(tc.bundle, tc.chain, tc.name, tc.now)
			if tc.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}
