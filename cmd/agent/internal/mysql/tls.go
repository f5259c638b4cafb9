// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"fmt"

	"example.com/backupjob-operator/api/agent"
)

// TLS says how far the connection is protected.
type TLS struct {
	// Mode is one of the agent.TLS… values; empty means Preferred.
	Mode string
	// CAFile is the path of the authority's certificate, or empty.
	CAFile string
}

func (t TLS) mode() string {
	if t.Mode == "" {
		return agent.TLSPreferred
	}
	return t.Mode
}

// verifies tells whether the mode checks the server's certificate.
func (t TLS) verifies() bool {
	return t.mode() == agent.TLSVerifyCA || t.mode() == agent.TLSVerifyIdentity
}

// needsCipher tells whether a connection without encryption is refused. The
// clients of MariaDB go on without it when the server has none, so whoever
// connects has to look.
func (t TLS) needsCipher() bool { return t.mode() == agent.TLSRequired || t.verifies() }

// options are the lines of the options file for a client.
func (t TLS) options(client Version) ([]option, error) {
	switch t.mode() {
	case agent.TLSDisabled, agent.TLSPreferred, agent.TLSRequired, agent.TLSVerifyCA, agent.TLSVerifyIdentity:
	default:
		return nil, fmt.Errorf("the TLS mode %q is not known: use %s, %s, %s, %s or %s", t.Mode,
			agent.TLSDisabled, agent.TLSPreferred, agent.TLSRequired, agent.TLSVerifyCA, agent.TLSVerifyIdentity)
	}
	if client.IsMariaDB() {
		return t.mariadbOptions(client), nil
	}
	return t.mysqlOptions(client)
}

// mysqlModes are the words of MySQL's own clients, from 5.7.11 on.
var mysqlModes = map[string]string{
	agent.TLSDisabled:       "DISABLED",
	agent.TLSPreferred:      "PREFERRED",
	agent.TLSRequired:       "REQUIRED",
	agent.TLSVerifyCA:       "VERIFY_CA",
	agent.TLSVerifyIdentity: "VERIFY_IDENTITY",
}

func (t TLS) mysqlOptions(client Version) ([]option, error) {
	if !client.AtLeast(5, 7, 11) {
		return nil, fmt.Errorf("the client of %s is too old to be told a TLS mode: set spec.podTemplate.image to mysql:5.7 or later", client)
	}
	if t.verifies() && t.CAFile == "" {
		return nil, fmt.Errorf("TLS mode %s needs the authority's certificate: set spec.source.tls.caSecretRef", t.Mode)
	}
	options := []option{{"ssl-mode", mysqlModes[t.mode()]}}
	if t.verifies() {
		options = append(options, option{"ssl-ca", t.CAFile})
	}
	// Without encryption the default login of MySQL 8 sends the password
	// under the server's public key, which the client has to ask for. With
	// encryption required this never happens.
	if !t.needsCipher() && (client.AtLeast(8, 0, 4) || client.Major == 5 && client.AtLeast(5, 7, 23)) {
		options = append(options, option{name: "get-server-public-key"})
	}
	return options, nil
}

// mariadbOptions: the clients of MariaDB know no modes. From 11.4 on they
// verify unless told not to, and whether they then still check a given
// authority is not said anywhere, so VerifyCA is as strict as VerifyIdentity
// there.
func (t TLS) mariadbOptions(client Version) []option {
	const (
		verify = "ssl-verify-server-cert"
		trust  = "disable-ssl-verify-server-cert"
	)
	var options []option
	switch t.mode() {
	case agent.TLSDisabled:
		return []option{{name: "skip-ssl"}}
	case agent.TLSVerifyIdentity:
		options = []option{{name: "ssl"}, {name: verify}}
	case agent.TLSVerifyCA:
		options = []option{{name: "ssl"}, {name: trust}}
		if client.AtLeast(11, 4, 0) || t.CAFile == "" {
			options[1].name = verify
		}
	default:
		return []option{{name: "ssl"}, {name: trust}}
	}
	if t.CAFile != "" {
		options = append(options, option{"ssl-ca", t.CAFile})
	}
	return options
}
