// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

func client(family string, major, minor, patch int) Version {
	return Version{Family: family, Major: major, Minor: minor, Patch: patch}
}

func TestTLSModesInTheWordsOfEachClient(t *testing.T) {
	var (
		mysql57   = client(agent.EngineMySQL, 5, 7, 44)
		mysql8    = client(agent.EngineMySQL, 8, 0, 36)
		mariadb10 = client(agent.EngineMariaDB, 10, 11, 6)
		mariadb11 = client(agent.EngineMariaDB, 11, 4, 2)
	)
	cases := map[string]struct {
		tls    TLS
		client Version
		want   string
	}{
		"MySQL, nothing said":           {TLS{}, mysql8, "ssl-mode=PREFERRED get-server-public-key="},
		"MySQL, disabled":               {TLS{agent.TLSDisabled, ""}, mysql8, "ssl-mode=DISABLED get-server-public-key="},
		"MySQL, required":               {TLS{agent.TLSRequired, ""}, mysql8, "ssl-mode=REQUIRED"},
		"MySQL, required, CA unused":    {TLS{agent.TLSRequired, "/ca"}, mysql8, "ssl-mode=REQUIRED"},
		"MySQL, the authority":          {TLS{agent.TLSVerifyCA, "/ca"}, mysql57, "ssl-mode=VERIFY_CA ssl-ca=/ca"},
		"MySQL, the host":               {TLS{agent.TLSVerifyIdentity, "/ca"}, mysql8, "ssl-mode=VERIFY_IDENTITY ssl-ca=/ca"},
		"MySQL 5.7.11":                  {TLS{}, client(agent.EngineMySQL, 5, 7, 11), "ssl-mode=PREFERRED"},
		"MariaDB, nothing said":         {TLS{}, mariadb10, "ssl= disable-ssl-verify-server-cert="},
		"MariaDB, disabled":             {TLS{agent.TLSDisabled, ""}, mariadb11, "skip-ssl="},
		"MariaDB, required":             {TLS{agent.TLSRequired, ""}, mariadb11, "ssl= disable-ssl-verify-server-cert="},
		"MariaDB 10, the authority":     {TLS{agent.TLSVerifyCA, "/ca"}, mariadb10, "ssl= disable-ssl-verify-server-cert= ssl-ca=/ca"},
		"MariaDB 10, system's":          {TLS{agent.TLSVerifyCA, ""}, mariadb10, "ssl= ssl-verify-server-cert="},
		"MariaDB 11.4, the authority":   {TLS{agent.TLSVerifyCA, "/ca"}, mariadb11, "ssl= ssl-verify-server-cert= ssl-ca=/ca"},
		"MariaDB, the host":             {TLS{agent.TLSVerifyIdentity, "/ca"}, mariadb10, "ssl= ssl-verify-server-cert= ssl-ca=/ca"},
		"MySQL, no authority":           {TLS{agent.TLSVerifyCA, ""}, mysql8, "error: spec.source.tls.caSecretRef"},
		"MySQL, too old":                {TLS{}, client(agent.EngineMySQL, 5, 6, 51), "error: mysql:5.7 or later"},
		"a mode that nobody knows":      {TLS{"Perhaps", ""}, mariadb10, "error: use Disabled, Preferred"},
		"a mode in MySQL's own writing": {TLS{"REQUIRED", ""}, mysql8, "error: is not known"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			options, err := tc.tls.options(tc.client)
			if says, isError := strings.CutPrefix(tc.want, "error: "); isError {
				wantError(t, err, says)
				return
			}
			var got []string
			for _, o := range options {
				got = append(got, o.name+"="+o.value)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// authority is a certificate authority of the test's own.
type authority struct {
	dir, file   string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	dir, err := os.MkdirTemp("", "tls-") //nolint:usetesting // Only root may enter t.TempDir, and the server is not root.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a := &authority{dir: dir}
	a.certificate = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.file, _ = a.sign(t, "ca", a.certificate)
	return a
}

// sign makes a key and a certificate for it and returns their files.
func (a *authority) sign(t *testing.T, name string, template *x509.Certificate) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if a.key == nil {
		a.key = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestTLSModesAgainstRealServers(t *testing.T) {
	ours, strangers := newAuthority(t, "ours"), newAuthority(t, "strangers")
	server := func(name string, c *x509.Certificate) *realparts.MariaDB {
		c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(2), ours.certificate.NotBefore, ours.certificate.NotAfter
		cert, key := ours.sign(t, name, c)
		return realparts.StartMariaDB(t, "--ssl-cert="+cert, "--ssl-key="+key, "--ssl-ca="+ours.file)
	}
	servers := map[string]*realparts.MariaDB{
		"plain":       realparts.StartMariaDB(t),
		"right name":  server("right", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}),
		"other name":  server("other", &x509.Certificate{DNSNames: []string{"db.example"}}),
		"TLS or none": nil,
	}
	servers["TLS or none"] = servers["right name"]
	for _, m := range servers {
		m.SQL(t, "CREATE OR REPLACE USER backup@'%' IDENTIFIED BY 'pässword'; CREATE OR REPLACE USER tls@'%' IDENTIFIED BY 'pässword' REQUIRE SSL")
	}
	cases := []struct {
		server, mode, ca, user string
		says                   string
	}{
		{"plain", agent.TLSDisabled, "", "backup", ""},
		{"plain", agent.TLSPreferred, "", "backup", ""},
		{"plain", agent.TLSRequired, "", "backup", "the server offers no encryption"},
		{"plain", agent.TLSVerifyCA, ours.file, "backup", "the server offers no encryption"},
		{"plain", agent.TLSVerifyIdentity, ours.file, "backup", "SSL is required, but the server does not support it"},
		{"right name", agent.TLSDisabled, "", "tls", "Access denied"},
		{"right name", agent.TLSPreferred, "", "tls", ""},
		{"right name", agent.TLSRequired, "", "tls", ""},
		{"right name", agent.TLSVerifyCA, ours.file, "tls", ""},
		{"right name", agent.TLSVerifyCA, strangers.file, "tls", "check spec.source.tls"},
		{"right name", agent.TLSVerifyIdentity, ours.file, "tls", ""},
		{"right name", agent.TLSVerifyIdentity, strangers.file, "tls", "check spec.source.tls"},
		{"right name", agent.TLSVerifyIdentity, "", "tls", "check spec.source.tls"},
		{"other name", agent.TLSPreferred, "", "tls", ""},
		{"other name", agent.TLSVerifyIdentity, ours.file, "tls", "check spec.source.tls"},
		{"TLS or none", agent.TLSDisabled, "", "backup", ""},
	}
	tools, err := FindTools(t.Context(), agent.EngineMariaDB)
	if err != nil {
		t.Fatal(err)
	}
	if !tools.Version.AtLeast(11, 4, 0) { // later ones check the name as well
		cases = append(cases, struct{ server, mode, ca, user, says string }{"other name", agent.TLSVerifyCA, ours.file, "tls", ""})
	}
	for _, tc := range cases {
		t.Run(tc.server+", "+tc.mode+" "+filepath.Base(filepath.Dir(tc.ca)), func(t *testing.T) {
			target := Target{Host: "127.0.0.1", Port: servers[tc.server].Port, TLS: TLS{tc.mode, tc.ca}}
			c, err := Connect(t.Context(), tools, target, credentials.Credentials{Username: tc.user, Password: "pässword"},
				t.TempDir(), slog.New(slog.DiscardHandler))
			if c != nil {
				c.Close()
			}
			switch {
			case tc.says == "" && err != nil:
				t.Error(err)
			case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
				t.Errorf("got %v, want %q in it", err, tc.says)
			}
		})
	}
}
