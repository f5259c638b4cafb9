// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"example.com/backupjob-operator/cmd/agent/internal/mysql"
)

// grant is one line of SHOW GRANTS: privileges on a scope.
type grant struct {
	privileges []string
	// database is a pattern as in LIKE, "*" for all databases.
	database string
	// table is "*" for all tables.
	table string
}

// scopeName is a name in a scope: a star, or a name in backquotes.
const scopeName = "(\\*|`(?:[^`]|``)*`)"

var (
	grantLine = regexp.MustCompile("^GRANT (.+) ON (?:TABLE )?" + scopeName + `\.` + scopeName + " TO (?:[`'\"]|PUBLIC)")
	// Lines that give no privilege on data by themselves.
	otherGrant = regexp.MustCompile(`^GRANT PROXY |^GRANT .+ ON (?:PROCEDURE|FUNCTION|PACKAGE|PACKAGE BODY) |^SET DEFAULT ROLE |^REVOKE `)
	// A role's own grants follow in MariaDB, in MySQL they do not.
	roleGrant  = regexp.MustCompile("^GRANT [`'\"]")
	columnList = regexp.MustCompile(` \([^)]*\)`)
)

// parseGrants reads SHOW GRANTS. It is not certain when there is a line
// whose effect it cannot tell.
func parseGrants(lines []string, server mysql.Version) (grants []grant, certain bool) {
	for _, line := range lines {
		switch m := grantLine.FindStringSubmatch(line); {
		case roleGrant.MatchString(line):
			if !server.IsMariaDB() {
				return nil, false
			}
		case otherGrant.MatchString(line):
		case m == nil:
			return nil, false
		default:
			grants = append(grants, grant{
				privileges: splitPrivileges(m[1]),
				database:   unquote(m[2]),
				table:      unquote(m[3]),
			})
		}
	}
	return grants, true
}

// splitPrivileges: MySQL 8 writes its dynamic privileges without blanks.
func splitPrivileges(list string) []string {
	privileges := strings.Split(columnList.ReplaceAllString(list, ""), ",")
	for i := range privileges {
		privileges[i] = strings.TrimSpace(privileges[i])
	}
	return privileges
}

func unquote(name string) string {
	if len(name) < 2 || name[0] != '`' {
		return name
	}
	return strings.ReplaceAll(name[1:len(name)-1], "``", "`")
}

// gives tells whether the grant gives one of the privileges.
func (g grant) gives(privileges ...string) bool {
	for _, has := range g.privileges {
		for _, want := range privileges {
			if has == want || has == "ALL PRIVILEGES" || has == "ALL" {
				return true
			}
		}
	}
	return false
}

// covers tells whether the grant applies to a database. One that is for some
// of its tables counts: which tables the user needs is the user's business.
func (g grant) covers(database string) bool {
	if g.database == "*" {
		return true
	}
	if g.table != "*" {
		return strings.EqualFold(g.database, database)
	}
	return like(g.database).MatchString(database)
}

// like is a database pattern as a regular expression: '%' and '_' stand for
// characters unless a backslash precedes them.
func like(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?is)^`)
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case r == '\\':
			escaped = true
		case r == '%':
			b.WriteString(`.*`)
		case r == '_':
			b.WriteString(`.`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`$`)
	return regexp.MustCompile(b.String())
}

// checkGrants fails if something would be missing from the dump, whether the
// tool would say so or not. All that is missing is named at once.
func checkGrants(ctx context.Context, client *mysql.Client, o Options, databases []string) error {
	rows, err := client.Query(ctx, "SHOW GRANTS")
	if err != nil {
		return fmt.Errorf("look at the user's grants: %w", err)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "\t"))
	}
	grants, certain := parseGrants(lines, client.Server)
	if !certain {
		return nil
	}
	missing := missingGrants(grants, client.Server, o, databases)
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the backup would not be whole, the user lacks grants: GRANT %s TO the user", strings.Join(missing, "; GRANT "))
}

// missingGrants lists what to grant, each written as in a GRANT statement.
func missingGrants(grants []grant, server mysql.Version, o Options, databases []string) []string {
	var missing []string
	unreadable := false
	for _, database := range databases {
		var lacks []string
		for _, privilege := range o.privileges() {
			if !granted(grants, database, privilege) {
				lacks = append(lacks, privilege)
			}
		}
		if len(lacks) > 0 {
			missing = append(missing, strings.Join(lacks, ", ")+" ON `"+strings.ReplaceAll(database, "`", "``")+"`.*")
		}
		// Who may execute or alter routines sees them, and the tool then
		// fails aloud if it cannot read one.
		if !granted(grants, database, "EXECUTE", "ALTER ROUTINE", "CREATE ROUTINE", "SHOW CREATE ROUTINE") {
			unreadable = true
		}
	}
	if o.Routines && unreadable && !readsRoutines(grants, server) {
		missing = append(missing, routineGrant(server))
	}
	return missing
}

// privileges are those that are needed on every database.
func (o Options) privileges() []string {
	needed := []string{"SELECT", "SHOW VIEW"}
	if o.Triggers {
		needed = append(needed, "TRIGGER")
	}
	if o.Events {
		needed = append(needed, "EVENT")
	}
	if !o.SingleTransaction {
		needed = append(needed, "LOCK TABLES")
	}
	return needed
}

// granted tells whether one of the privileges is given on the database.
func granted(grants []grant, database string, privileges ...string) bool {
	for _, g := range grants {
		if g.covers(database) && g.gives(privileges...) {
			return true
		}
	}
	return false
}

// keepsProc tells whether the server keeps routines in mysql.proc.
func keepsProc(server mysql.Version) bool { return server.IsMariaDB() || server.Major < 8 }

func routineGrant(server mysql.Version) string {
	switch {
	case keepsProc(server):
		return "SELECT ON `mysql`.`proc`"
	case server.AtLeast(8, 0, 20):
		return "SHOW_ROUTINE ON *.*"
	}
	return "SELECT ON *.*"
}

// readsRoutines tells whether every stored routine can be read.
func readsRoutines(grants []grant, server mysql.Version) bool {
	for _, g := range grants {
		switch {
		case g.database == "*" && g.gives("SELECT", "SHOW_ROUTINE", "SHOW CREATE ROUTINE"):
			return true
		case keepsProc(server) && g.gives("SELECT") && strings.EqualFold(g.database, "mysql") &&
			(g.table == "*" || strings.EqualFold(g.table, "proc")):
			return true
		}
	}
	return false
}
