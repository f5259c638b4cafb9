// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// portBehind is for v1alpha1, which has no field for a port.
	portBehind = "must have a port of 1 to 65535 behind the ':', such as 'db.example.com:3306'"
	anyHost    = "must be the DNS name or IP address of the database server, such as 'db.example.com'"
	// maxHost and maxHostLabel are DNS's own bounds.
	maxHost      = 253
	maxHostLabel = 63
	maxPort      = 65535
)

func isControl(r rune) bool { return unicode.IsControl(r) }

func judgeServer(b backupv1.Backup, r *report) {
	at := sourcePath.Child("host")
	host := b.Server().Host
	if strings.Contains(host, "@") {
		r.hide(at, "must not contain credentials or '@'; write the host alone, and name a Secret with the user and the password")
	} else {
		r.add(at, checkHost(host, r.alpha))
	}
	if port := b.Server().Port; port != nil && (*port < 1 || *port > maxPort) {
		if r.alpha {
			r.add(sourcePath.Child("port"), portBehind)
		} else {
			r.add(sourcePath.Child("port"), fmt.Sprintf("must have a port of 1 to %d", maxPort))
		}
	}
}

// checkHost says what is wrong with a host; alpha tells that a port may stand
// behind it.
func checkHost(host string, alpha bool) string {
	switch {
	case host == "":
		return anyHost
	case strings.ContainsFunc(host, unicode.IsSpace):
		return "must not contain blanks or line breaks"
	case strings.ContainsFunc(host, isControl):
		return "must not contain control characters"
	case strings.Contains(host, "://"):
		return "must not have a scheme; write " + bareHost(host)
	case strings.ContainsAny(host, `/?#\`):
		return "must not have a path; write " + bareHost(host)
	case strings.ContainsAny(host, "[]"):
		return bracketWords(alpha)
	case strings.Count(host, ":") == 1:
		return portWords(host, alpha)
	case strings.Contains(host, ":"):
		if address, err := netip.ParseAddr(host); err != nil || address.Zone() != "" {
			return "must be a DNS name or an IP address without a zone, such as 'fd00::10'"
		}
		return ""
	}
	return checkDNSName(host)
}

// bareHost proposes the host that is part of a URL.
func bareHost(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	if end := strings.IndexAny(url, `/?#\:`); end >= 0 {
		url = url[:end]
	}
	if checkDNSName(url) != "" {
		return "the host alone, such as 'db.example.com'"
	}
	return "'" + cut(url, maxValue) + "'"
}

func bracketWords(alpha bool) string {
	if alpha {
		return "must be written as '[fd00::10]:3306' for an IPv6 address with a port of 1 to 65535, else without brackets"
	}
	return "must not contain brackets; write an IPv6 address as 'fd00::10', and its port into `spec.source.port`"
}

func portWords(host string, alpha bool) string {
	name, port, _ := strings.Cut(host, ":")
	if alpha {
		return portBehind
	}
	if number, err := strconv.Atoi(port); err != nil || number < 1 || number > maxPort || checkDNSName(name) != "" {
		return "must not have a port; write the host alone, and the port into `spec.source.port`"
	}
	return fmt.Sprintf("must not have a port; write '%s', and %s into `spec.source.port`", cut(name, maxValue), port)
}

var hostLabel = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?$`)

func checkDNSName(host string) string {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		if _, err := netip.ParseAddr(host); err != nil {
			return "must be an IP address with four numbers of 0 to 255, such as '10.0.0.5', or a DNS name"
		}
		return ""
	}
	if len(host) > maxHost {
		return fmt.Sprintf("must have at most %d characters", maxHost)
	}
	for _, label := range labels {
		switch {
		case strings.ContainsFunc(label, func(r rune) bool { return r > unicode.MaxASCII }):
			return "must be in the ASCII form of the name, which begins with 'xn--'"
		case len(label) > maxHostLabel:
			return fmt.Sprintf("must have at most %d characters between two dots", maxHostLabel)
		case !hostLabel.MatchString(label):
			return anyHost
		}
	}
	return ""
}

func judgeDatabases(b backupv1.Backup, r *report) {
	if b.Kind() == backupv1.KindMySQLBackup && len(b.Databases()) == 0 {
		r.add(sourcePath.Child("databases"), "must name the databases to back up, at least one")
	}
	for i, name := range b.Databases() {
		r.add(sourcePath.Child("databases").Index(i), checkDatabase(string(name)))
	}
	options := b.DumpOptions()
	if options == nil {
		return
	}
	for i, table := range options.IgnoreTables {
		r.add(sourcePath.Child("options", "ignoreTables").Index(i), checkTable(table))
	}
}

// checkDatabase says what is wrong with a name. It reaches a tool as one
// argument and a file as part of nothing, but a name that an option or a path
// could be mistaken for is refused all the same.
func checkDatabase(name string) string {
	switch {
	case strings.ContainsFunc(name, isControl):
		return "must not contain control characters"
	case strings.HasPrefix(name, "-"):
		return "must not begin with '-', which would make it look like an option"
	case strings.HasPrefix(name, "."):
		return "must not begin with '.', which would make it look like a path"
	case strings.ContainsAny(name, `/\`):
		return `must not contain '/' or '\', which would make it look like a path`
	}
	return ""
}

func checkTable(table string) string {
	database, name, dotted := strings.Cut(table, ".")
	if !dotted || database == "" || name == "" || strings.Contains(name, ".") {
		return "must be written as 'database.table'"
	}
	if wrong := checkDatabase(database); wrong != "" {
		return wrong
	}
	return checkDatabase(name)
}
