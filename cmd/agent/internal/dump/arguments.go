// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strings"

	"example.com/backupjob-operator/api/agent"
)

// arguments are those of the dump tool. The names of databases come last,
// behind "--", so none is ever taken for an option.
func arguments(p pair, o Options, databases []string) []string {
	args := []string{
		"--hex-blob",
		// Otherwise the PROCESS privilege is needed, for a thing that no
		// restore into another server can use.
		"--no-tablespaces",
		"--quick",
		"--comments", "--dump-date", // the closing line is a comment
		toggle("routines", o.Routines),
		toggle("triggers", o.Triggers),
		toggle("events", o.Events),
	}
	if o.SingleTransaction {
		args = append(args, "--single-transaction", "--skip-lock-tables")
	} else {
		args = append(args, "--lock-tables")
	}
	args = append(args, p.arguments(o)...)
	for _, table := range o.IgnoreTables {
		args = append(args, "--ignore-table="+table)
	}
	return append(append(args, "--databases", "--"), databases...)
}

func toggle(name string, on bool) string {
	if on {
		return "--" + name
	}
	return "--skip-" + name
}

// arguments are those that depend on who talks to whom.
func (p pair) arguments(o Options) []string {
	if p.client.IsMariaDB() {
		return nil
	}
	var args []string
	// The client of MySQL 8 asks for a table that only a server of MySQL 8 has.
	if p.client.AtLeast(8, 0, 2) && (p.server.IsMariaDB() || !p.server.AtLeast(8, 0, 0)) {
		args = append(args, "--column-statistics=0")
	}
	purged := o.SetGTIDPurged
	switch {
	case p.server.IsMariaDB():
		purged = agent.GTIDPurgedOff // its GTIDs are others
	case purged == "":
		purged = agent.GTIDPurgedAuto
	}
	return append(args, "--set-gtid-purged="+strings.ToUpper(purged))
}
