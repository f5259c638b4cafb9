// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/mysql"
)

// pair is a client and the server that it talks to.
type pair struct{ client, server mysql.Version }

// checkVersions refuses what cannot work whatever the databases hold.
func (p pair) checkVersions(o Options) error {
	if o.SetGTIDPurged == agent.GTIDPurgedOn && (p.client.IsMariaDB() || p.server.IsMariaDB()) {
		return fmt.Errorf("setGTIDPurged On needs a client and a server of MySQL, here are %s and %s: "+
			"set spec.source.options.setGTIDPurged to Auto", p.client, p.server)
	}
	if !p.client.IsMariaDB() && !p.server.IsMariaDB() && p.client.Major < 8 && p.server.Major >= 8 {
		return p.unfit("leaves out what only MySQL 8 and later have, such as invisible columns")
	}
	return nil
}

// unfit is the error of a pair that cannot work.
func (p pair) unfit(why string) error {
	return fmt.Errorf("the client of %s %s, and the server is %s: set spec.podTemplate.image to %s",
		p.client, why, p.server, p.server.Image())
}

// obstacle is something in a database that the other family's client cannot
// carry.
type obstacle struct {
	// query answers with the names of the databases that have it.
	query string
	why   string
}

var (
	// For a generated column MariaDB's client writes its value, which MySQL
	// refuses to take when the dump is restored.
	generatedColumns = obstacle{
		query: "SELECT DISTINCT CAST(table_schema AS BINARY) FROM information_schema.columns WHERE generation_expression <> ''",
		why:   "writes values for generated columns, which MySQL does not take back (database '%s' has such columns)",
	}
	// MySQL's client takes a sequence for a table and does not know packages.
	sequences = obstacle{
		query: "SELECT DISTINCT CAST(table_schema AS BINARY) FROM information_schema.tables WHERE table_type = 'SEQUENCE' " +
			"UNION SELECT DISTINCT CAST(routine_schema AS BINARY) FROM information_schema.routines WHERE routine_type LIKE 'PACKAGE%'",
		why: "knows neither MariaDB's sequences nor its packages (database '%s' has some)",
	}
)

// obstacle returns what to look for, if anything.
func (p pair) obstacle() (obstacle, bool) {
	switch {
	case p.client.IsMariaDB() && !p.server.IsMariaDB():
		return generatedColumns, true
	case !p.client.IsMariaDB() && p.server.IsMariaDB():
		return sequences, true
	}
	return obstacle{}, false
}

// checkContent refuses what cannot work because of what the databases hold.
func (p pair) checkContent(ctx context.Context, client *mysql.Client, databases []string) error {
	o, ok := p.obstacle()
	if !ok {
		return nil
	}
	rows, err := client.Query(ctx, o.query)
	if err != nil {
		return fmt.Errorf("look for what this client cannot dump: %w", err)
	}
	for _, row := range rows {
		if slices.ContainsFunc(databases, func(db string) bool { return strings.EqualFold(db, row[0]) }) {
			return p.unfit(fmt.Sprintf(o.why, row[0]))
		}
	}
	return nil
}
