// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"regexp"
	"strings"
)

// errorNumber finds the error's number in the ways in which the clients
// write it: "ERROR 1045 (28000)", "Got error: 1045: …", "Error 2013: …" and
// "… (1044)" at the end.
var errorNumber = regexp.MustCompile(`(?:ERROR|[Ee]rror:?) (\d{4})\b|\((\d{4})\)$`)

const (
	adviseLogin = "check the user name and the password in the Secret of spec.source.credentialsSecretRef, " +
		"and that the user may log in from the cluster's Pods"
	adviseImage = "this image's client and the server do not fit: " +
		"set spec.podTemplate.image to the server's own image and version"
	adviseHost  = "check spec.source.host"
	adviseReach = "check spec.source.host and port, that the server runs, and that network policies let this Pod reach it"
	adviseTLS   = "check spec.source.tls: the mode, the authority's certificate, and the host name in the server's certificate"
	adviseGone  = "the server went away in the middle: look at its log and its limits"
	adviseNames = "check spec.source.databases"
	adviseGrant = "grant the user what is missing; 'agent backup --help' and 'agent restore --help' list the grants"
	adviseAlter = "a table was altered during the dump: keep schema changes and backups apart in time"
	advisePack  = "raise the server's max_allowed_packet"
	adviseLocks = "another transaction held a lock: keep long transactions and backups apart in time"
	adviseFull  = "the server has no connection free: raise max_connections or the user's limit"
)

// byNumber are the errors that a user can mend. The numbers are those of the
// servers' and clients' error references.
var byNumber = map[string]string{
	"1045": adviseLogin, "1698": adviseLogin,
	"1251": adviseImage, "2059": adviseImage,
	"2005": adviseHost,
	"2002": adviseReach, "2003": adviseReach,
	"2026": adviseTLS, "3159": adviseTLS,
	"1053": adviseGone, "1927": adviseGone, "2006": adviseGone, "2013": adviseGone, "2055": adviseGone,
	"1049": adviseNames,
	"1044": adviseGrant, "1142": adviseGrant, "1143": adviseGrant, "1227": adviseGrant, "1370": adviseGrant, "1419": adviseGrant,
	"1412": adviseAlter,
	"1153": advisePack, "2020": advisePack,
	"1205": adviseLocks, "1213": adviseLocks,
	"1040": adviseFull, "1203": adviseFull, "1226": adviseFull,
}

// byWords are complaints without a number.
var byWords = map[string]string{
	"privileges to SHOW CREATE":     adviseGrant,
	"Access denied; you need":       adviseGrant,
	"Authentication plugin":         adviseImage,
	"Unknown MySQL server host":     adviseHost,
	"Got packet bigger than":        advisePack,
	"unknown variable":              adviseImage,
	"unknown option":                adviseImage,
	"Unknown table 'COLUMN_STATIST": adviseImage,
}

// explain returns the line with advice behind it, if there is any.
func explain(line string) string {
	if m := errorNumber.FindStringSubmatch(line); m != nil {
		if advice, ok := byNumber[m[1]+m[2]]; ok {
			return line + ": " + advice
		}
	}
	for words, advice := range byWords {
		if strings.Contains(line, words) {
			return line + ": " + advice
		}
	}
	return line
}
