// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// sourceLines are the fields of v1's spec.source that both kinds share; v1alpha1 has another name for the
// host in each.
func sourceLines(oldHost string) []line {
	return []line{
		{
			old: at(oldHost, "spec.source.port"), toNew: hostToNew,
			new: at("spec.source.host", "spec.source.port"), toOld: hostToOld,
			pairs: []pair{
				//  v1alpha1, v1
				to(oldHost, "spec.source.host"),
				to(oldHost, "spec.source.port"),
				parent("spec", "spec.source"),
			},
		},
		{
			old: at("spec.database", "spec.databases"), toNew: databasesToNew,
			new: at("spec.source.databases"), toOld: databasesToOld,
			pairs: []pair{
				to("spec.databases", "spec.source.databases"),
				first("spec.database", "spec.source.databases"),
			},
		},
		{
			old: at("spec.secretRef", "spec.credentialKeys"), toNew: credentialsToNew,
			new: at("spec.source.credentialsSecretRef"), toOld: credentialsToOld,
			pairs: []pair{
				to("spec.secretRef", "spec.source.credentialsSecretRef.name"),
				to("spec.credentialKeys.usernameKey", "spec.source.credentialsSecretRef.usernameKey"),
				to("spec.credentialKeys.passwordKey", "spec.source.credentialsSecretRef.passwordKey"),
				parent("spec.credentialKeys", "spec.source.credentialsSecretRef"),
				parent("spec.secretRef", "spec.source.credentialsSecretRef"),
			},
		},
		renamed("spec.tls", "spec.source.tls"),
	}
}

// hostToNew splits "host:port", but not beside a port that could not be joined.
func hostToNew(v values) values {
	text, _ := decodeString(v[0])
	host, port, ok := splitHost(text)
	switch {
	case !ok || v[1] != nil:
		return v
	case host == "":
		return values{nil, []byte(port)}
	}
	return values{encodeString(host), []byte(port)}
}

// hostToOld writes a port without a host as ":port": server-side apply converts such an object while a
// manager gives up the host.
func hostToOld(v values) values {
	host, ok := decodeString(v[0])
	if v[1] == nil || v[0] != nil && (!ok || host == "") {
		return v
	}
	joined := joinHost(host, string(v[1]))
	if h, p, ok := splitHost(joined); !ok || h != host || p != string(v[1]) {
		return v
	}
	return values{encodeString(joined)}
}

// splitHost splits "host:port" and "[IPv6]:port", whatever the host and however large the port, but only
// if joinHost gives the same text again: "host", "::1", "[::1]", "host:", "host:03306" and "[host]:3306"
// stay whole.
func splitHost(text string) (host, port string, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 {
		return "", "", false
	}
	host, port = text[:colon], text[colon+1:]
	number, err := strconv.ParseUint(port, 10, 31)
	if err != nil || strconv.FormatUint(number, 10) != port {
		return "", "", false
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		host = strings.TrimSuffix(inner, "]")
	}
	return host, port, joinHost(host, port) == text
}

func joinHost(host, port string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]:" + port
	}
	return host + ":" + port
}

// databasesToNew makes one list of database and databases. Both at once are the moment in which a manager
// goes from one to the other, and no name may be lost (see the package's text). A list of none means all.
func databasesToNew(v values) values {
	database, databases := v[0], v[1]
	names, ok := parseArray(databases)
	if database == nil || ok && len(names) == 0 {
		return values{databases}
	}
	if !slices.ContainsFunc(names, func(name []byte) bool { return bytes.Equal(name, database) }) {
		names = slices.Insert(names, 0, database)
	}
	return values{append(append([]byte{'['}, bytes.Join(names, []byte{','})...), ']')}
}

// databasesToOld writes a list of exactly one name into database.
func databasesToOld(v values) values {
	if names, _ := parseArray(v[0]); len(names) == 1 {
		return values{names[0]}
	}
	return values{nil, v[0]}
}

// credentialsToNew puts the Secret's name and its keys into one reference. A name among the keys is no field
// of v1alpha1, and must not begin to mean something.
func credentialsToNew(v values) values {
	name, keys := v[0], v[1]
	reference, ok := parseObject(keys)
	switch {
	case ok:
		reference.take("name")
	case name == nil:
		return values{keys}
	default:
		reference = &object{}
	}
	if name != nil {
		reference.put(name, "name")
	}
	return values{reference.append(nil)}
}

// credentialsToOld takes the reference apart. One without anything in it has a home too.
func credentialsToOld(v values) values {
	keys, ok := parseObject(v[0])
	if !ok {
		return values{nil, v[0]}
	}
	name := keys.take("name")
	if name != nil && len(keys.members) == 0 {
		return values{name}
	}
	return values{name, keys.append(nil)}
}
