// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"

	"example.com/backupjob-operator/certs"
)

const (
	certificates = "certificates"
	issuers      = "issuers"

	renewal = "Look at the Certificates: kubectl -n <namespace> describe certificate; cert-manager's log says why it does not issue."
	inject  = "Look at cert-manager's cainjector, and that the annotation " + injectAnnotation + " names the serving Certificate; it fills in the bundles."
	day     = 24 * time.Hour
)

var certificateChecks = []check{
	{
		id: "ca-bundles", title: "The API server is told whom to trust: every CA bundle is filled in and in date",
		threats: []int{7, 8, 9}, needs: []string{configurations, validations, definitions}, do: inject, run: checkBundles,
	},
	{
		id: "served-certificate", title: "The certificate that is served is the one that the bundles trust",
		threats: []int{7, 8, 9}, needs: []string{configurations, validations, definitions},
		do: "Where a server could not be reached: grant create on pods/portforward in the operator's namespace, or run the audit " +
			"where its Pods can be reached. Where a bundle does not match: " + inject, run: checkServed,
	},
	{
		id: "certificate-expiry", title: "The served certificate has weeks to go",
		threats: []int{8}, needs: []string{configurations, validations, definitions}, do: renewal, run: checkExpiry,
	},
	{
		id: "cert-manager", title: "cert-manager has issued the certificates and will renew them",
		threats: []int{8}, needs: []string{certificates, issuers}, do: renewal, run: checkIssued,
	},
}

func checkBundles(s *Snapshot, r *Row) {
	targets := s.targets()
	if len(targets) == 0 {
		r.fail("nothing of ours is called, so there is no bundle")
	}
	for _, t := range targets {
		roots, err := readBundle(t.bundle)
		if err != nil {
			r.fail("%s: %v", t.owner, err)
			continue
		}
		alive := slices.DeleteFunc(slices.Clone(roots), func(c *x509.Certificate) bool { return !s.Now.Before(c.NotAfter) })
		if len(alive) == 0 {
			r.fail("%s: every CA in the bundle has expired", t.owner)
			continue
		}
		last := slices.MaxFunc(alive, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		if left := last.NotAfter.Sub(s.Now); left < 180*day {
			r.warn("%s: the CA %s expires in %s", t.owner, last.Subject.CommonName, days(left))
			continue
		}
		r.see("%s: %s, the last until %s", t.owner, plural(len(roots), "CA"), last.NotAfter.UTC().Format(time.DateOnly))
	}
}

func readBundle(bundle []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d of the CA bundle cannot be read: %w", len(found)+1, err)
		}
		found = append(found, certificate)
	}
	if len(found) == 0 {
		return nil, errors.New("the CA bundle is empty")
	}
	return found, nil
}

// checkServed compares every bundle with every chain that its owner meets.
func checkServed(s *Snapshot, r *Row) {
	if len(s.Served) == 0 {
		r.warn("not checked: no server could be found to ask")
	}
	answered := 0
	for _, served := range s.Served {
		if served.Err != "" {
			r.warn("%s could not be asked: %s", served.Where, served.Err)
			continue
		}
		answered++
		if served.TLS < tls.VersionTLS12 {
			r.fail("%s answers with %s", served.Where, tls.VersionName(served.TLS))
		}
		if s.trusted(r, &served) {
			r.see("%s serves %s, %s, trusted by all that call it", served.Where, describe(served.Chain[0]), tls.VersionName(served.TLS))
		}
	}
	r.Checked = answered > 0
}

// trusted reports whether all that call a server trust what it shows.
func (s *Snapshot) trusted(r *Row, served *Served) bool {
	trusted := true
	for _, t := range s.targets() {
		if t.dnsName() != served.DNSName {
			continue
		}
		if err := certs.CheckBundle(t.bundle, served.Chain, served.DNSName, s.Now); err != nil {
			r.fail("%s does not trust %s: %v", t.owner, served.Where, err)
			trusted = false
		}
	}
	return trusted
}

func describe(c *x509.Certificate) string {
	of := slices.Clone(c.DNSNames)
	for _, address := range c.IPAddresses {
		of = append(of, address.String())
	}
	return "serial " + c.SerialNumber.Text(16) + " of " + names(of)
}

func checkExpiry(s *Snapshot, r *Row) {
	var leaves []*x509.Certificate
	for _, served := range s.Served {
		if len(served.Chain) > 0 {
			leaves = append(leaves, served.Chain[0])
		}
	}
	if len(leaves) == 0 {
		r.Checked = false
		r.warn("not checked: no server could be asked; see served-certificate")
		return
	}
	slices.SortFunc(leaves, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	for _, leaf := range slices.CompactFunc(leaves, func(a, b *x509.Certificate) bool { return bytes.Equal(a.Raw, b.Raw) }) {
		judgeExpiry(r, "the served certificate, "+describe(leaf)+",", leaf.NotAfter.Sub(s.Now), leaf.NotAfter.Sub(leaf.NotBefore))
	}
}

// judgeExpiry warns once the last fourth of a lifetime has come: renewal is due
// at its last third.
func judgeExpiry(r *Row, what string, left, lifetime time.Duration) {
	const late, too = 4, 12
	switch {
	case left <= 0:
		r.fail("%s has expired", what)
	case left < lifetime/too:
		r.fail("%s expires in %s and has not been renewed", what, days(left))
	case left < lifetime/late:
		r.warn("%s expires in %s; its renewal is late", what, days(left))
	default:
		r.see("%s has %s left", what, days(left))
	}
}

func checkIssued(s *Snapshot, r *Row) {
	wanted := s.injected()
	if len(wanted) == 0 {
		r.warn("nothing names a Certificate to take its CA from: the certificates come from somewhere else, and their renewal cannot be seen here")
		return
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(s.Certificates, func(c certmanagerv1.Certificate) bool { return c.Namespace+"/"+c.Name == name }) {
			r.fail("there is no Certificate %s, from which the bundles are to be filled", name)
		}
	}
	for i := range s.Certificates {
		judgeCertificate(s.Now, r, &s.Certificates[i])
	}
	for i := range s.Issuers {
		issuer := &s.Issuers[i]
		if !ready(issuer.Status.Conditions, func(c certmanagerv1.IssuerCondition) (bool, string) {
			return c.Type == certmanagerv1.IssuerConditionReady && c.Status == cmmeta.ConditionTrue, c.Message
		}, r, "Issuer "+issuer.Name) {
			continue
		}
	}
}

func judgeCertificate(now time.Time, r *Row, c *certmanagerv1.Certificate) {
	if !ready(c.Status.Conditions, func(condition certmanagerv1.CertificateCondition) (bool, string) {
		return condition.Type == certmanagerv1.CertificateConditionReady && condition.Status == cmmeta.ConditionTrue, condition.Message
	}, r, "Certificate "+c.Name) {
		return
	}
	from, until, renew := c.Status.NotBefore, c.Status.NotAfter, c.Status.RenewalTime
	switch {
	case from != nil && now.Before(from.Time):
		r.warn("Certificate %s is not valid before %s: a clock is wrong, cert-manager's or the one here", c.Name, from.UTC().Format(time.RFC3339))
	case until != nil && !now.Before(until.Time):
		r.fail("Certificate %s has expired", c.Name)
	case renew != nil && now.Sub(renew.Time) > day:
		r.warn("Certificate %s should have been renewed %s ago", c.Name, days(now.Sub(renew.Time)))
	case until != nil:
		r.see("Certificate %s is ready, until %s", c.Name, until.UTC().Format(time.DateOnly))
	}
}

// ready looks for the condition that is good; what is not is told.
func ready[C any](conditions []C, good func(C) (bool, string), r *Row, what string) bool {
	var said string
	for _, c := range conditions {
		ok, message := good(c)
		if ok {
			return true
		}
		said = cmp.Or(said, message)
	}
	r.fail("%s is not ready: %s", what, cmp.Or(said, "nothing has taken care of it yet"))
	return false
}

// injected are the Certificates from which the bundles are filled.
func (s *Snapshot) injected() []string {
	found := map[string]bool{}
	ours, _ := s.hooks()
	for _, h := range ours {
		found[h.annotations[injectAnnotation]] = true
	}
	for i := range s.CRDs {
		found[s.CRDs[i].Annotations[injectAnnotation]] = true
	}
	delete(found, "")
	return sorted(found)
}

func days(d time.Duration) string {
	if d < 2*day {
		return d.Round(time.Hour).String()
	}
	return fmt.Sprintf("%d days", int(d/day))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
