// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// sourceLines are the fields of v1's spec.source that both kinds share; the host has another name in
// each.
var sourceLines = []line{
	reshaped(
		move{
			old: split("spec.database", "spec.databases"), toNew: databasesToNew,
			new: split("spec.source.databases", "spec.databases"), toOld: databasesToOld,
		},
		to("spec.databases", "spec.source.databases"),
		first("spec.database", "spec.source.databases"),
	),
	reshaped(
		move{
			old: split("spec.secretRef", "spec.credentialKeys"), toNew: credentialsToNew,
			new: split("spec.source.credentialsSecretRef", "spec.credentialKeys"), toOld: credentialsToOld,
		},
		to("spec.secretRef", "spec.source.credentialsSecretRef.name"),
		to("spec.credentialKeys.usernameKey", "spec.source.credentialsSecretRef.usernameKey"),
		to("spec.credentialKeys.passwordKey", "spec.source.credentialsSecretRef.passwordKey"),
		within("spec.credentialKeys", "spec.source.credentialsSecretRef"),
		within("spec.secretRef", "spec.source.credentialsSecretRef"),
	),
	renamed("spec.tls", "spec.source.tls"),
}

// hostMove pairs "host:port" with host and port. A port that cannot be joined stays where it stands, and
// beside it the host is not split.
func hostMove(old string) move {
	return move{
		old: split(old, "spec.source.port"), toNew: hostToNew,
		new: split("spec.source.host", "spec.source.port"), toOld: hostToOld,
	}
}

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
	if !ok && v[0] != nil || v[1] == nil {
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

// databasesToNew makes one list of database and databases. Both at once are no error but the moment in
// which a manager goes from one to the other, and it needs every name (see the package's text).
func databasesToNew(v values) values {
	database, databases := v[0], v[1]
	if database == nil {
		return values{databases}
	}
	list, isList := parseArray(databases)
	switch {
	case saysNothing(databases):
		return values{array(database)}
	case !isList:
		return values{array(database), databases}
	case slices.ContainsFunc(list, func(name []byte) bool { return bytes.Equal(name, database) }):
		return values{databases}
	}
	return values{array(append([][]byte{database}, list...)...)}
}

// databasesToOld writes a list of exactly one name into database. An odd value stays beside it.
func databasesToOld(v values) values {
	databases, odd := v[0], v[1]
	list, isList := parseArray(databases)
	if !isList || len(list) != 1 {
		return values{nil, databases}
	}
	if _, isList := parseArray(odd); isList || saysNothing(odd) {
		odd = nil
	}
	return values{list[0], odd}
}

// credentialsToNew puts the Secret's name and its keys into one reference.
func credentialsToNew(v values) values {
	name, odd := v[0], v[1]
	reference, isObject := parseObject(odd)
	switch {
	case isObject:
		reference.take("name") // unknown among the keys: it must not begin to mean something
		odd = nil
	case name == nil:
		return values{odd}
	case saysNothing(odd):
		odd = nil
	}
	if name != nil {
		if reference == nil {
			reference = &object{}
		}
		reference.put(name, "name")
	}
	return values{reference.append(nil), odd}
}

// credentialsToOld takes the reference apart. One without anything in it has a home too.
func credentialsToOld(v values) values {
	reference, odd := v[0], v[1]
	inner, isObject := parseObject(reference)
	if !isObject {
		return values{nil, reference}
	}
	name := inner.take("name")
	if name == nil || len(inner.members) > 0 {
		return values{name, inner.append(nil)}
	}
	if _, isObject := parseObject(odd); isObject || saysNothing(odd) {
		odd = nil
	}
	return values{name, odd}
}

// saysNothing holds for a field that is not there, or null.
func saysNothing(raw []byte) bool { return raw == nil || string(raw) == "null" }

func array(elements ...[]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}
