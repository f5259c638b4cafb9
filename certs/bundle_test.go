// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"cmp"
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
		after  time.Duration
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
			bundle: current.cert, after: 91 * 24 * time.Hour, want: "expired"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			chain := tc.chain
			if chain == nil {
				chain = []*x509.Certificate{leaf.certificate}
			}
			got := "accepted"
			if err := CheckBundle(tc.bundle, chain, cmp.Or(tc.name, serverName), now.Add(tc.after)); err != nil {
				got = err.Error()
			}
			if want := cmp.Or(tc.want, "accepted"); !strings.Contains(got, want) {
				t.Errorf("got %q, want %q in it", got, want)
			}
		})
	}
}
