// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

var oddDatabases = []string{"my-db", "plain", "täble"}

// moving are the tables that the writer changes; they are compared by their
// sum.
var moving = []string{"a_account", "z_account"}

func oddData(t *testing.T, m *realparts.MariaDB) {
	t.Helper()
	data, err := os.ReadFile("testdata/odd.sql")
	if err != nil {
		t.Fatal(err)
	}
	m.SQL(t, string(data))
}

// contents is everything in the databases as text: a checksum for each
// table, and the definition of everything else.
func contents(t *testing.T, m *realparts.MariaDB, databases []string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, db := range databases {
		in := " WHERE BINARY %s = " + literal(db) + " "
		tables := m.SQL(t, "SELECT table_name FROM information_schema.tables"+fmt.Sprintf(in, "table_schema")+
			"AND table_type IN ('BASE TABLE', 'SEQUENCE')")
		for table := range strings.Lines(tables) {
			table = strings.TrimSuffix(table, "\n")
			name := quoted(db) + "." + quoted(table)
			if !slices.Contains(moving, table) {
				found["rows of "+name] = m.SQL(t, "CHECKSUM TABLE "+name)
			}
			found["table "+name] = m.SQL(t, "SHOW CREATE TABLE "+name)
		}
		for what, query := range map[string]string{
			"view":    "SELECT table_name, view_definition, definer, security_type FROM information_schema.views" + fmt.Sprintf(in, "table_schema"),
			"trigger": "SELECT trigger_name, action_statement, definer, action_timing, sql_mode FROM information_schema.triggers" + fmt.Sprintf(in, "trigger_schema"),
			"routine": "SELECT routine_name, routine_type, routine_definition, definer, sql_mode FROM information_schema.routines" + fmt.Sprintf(in, "routine_schema"),
			"event":   "SELECT event_name, event_definition, starts, status, definer, interval_value FROM information_schema.events" + fmt.Sprintf(in, "event_schema"),
			"schema":  "SELECT default_character_set_name, default_collation_name FROM information_schema.schemata" + fmt.Sprintf(in, "schema_name"),
		} {
			found[what+"s of "+db] = m.SQL(t, query+" ORDER BY 1")
		}
	}
	return found
}

// quoted is a name in SQL.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// write moves amounts between two tables until stop is closed, and tells how
// often it did. Whatever moment a dump shows, the sum is the same.
func write(s *realparts.Session, stop <-chan struct{}) (int, error) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return n, nil
		default:
		}
		if err := s.Do("START TRANSACTION; UPDATE plain.a_account SET amount = amount - 1; " +
			"UPDATE plain.z_account SET amount = amount + 1; COMMIT"); err != nil {
			return n, err
		}
	}
}

func TestABackupOfOddDataWithAWriterRestoresIntoAFreshServer(t *testing.T) {
	cases := map[string]struct {
		flags     []string
		databases []string
		extension string
	}{
		"one database": {
			[]string{"--database=täble", "--compression=" + agent.CompressionGzip}, []string{"täble"}, ".sql.gz",
		},
		"several databases": {
			[]string{"--database=my-db", "--database=plain", "--compression=" + agent.CompressionNone}, []string{"my-db", "plain"}, ".sql",
		},
		"all databases": {nil, oddDatabases, ".sql.zst"},
	}
	source := realparts.SharedMariaDB(t)
	oddData(t, source)
	backupUser(t, source)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, source)
			o := backupWithWriter(t, s, tc.flags)
			if want := "shop/nightly/" + testBase + tc.extension; o.result.Location != want {
				t.Errorf("stored at %s, want %s", o.result.Location, want)
			}
			s.workEmpty()
			s.groupMayWork()

			target := realparts.StartMariaDB(t)
			target.SQL(t, "CREATE USER restorer@'%' IDENTIFIED BY 'r'; GRANT ALL ON *.* TO restorer@'%'")
			s.login("restorer", "r")
			s.good(slices.Concat([]string{agent.CommandRestore}, s.place(), s.at(target), []string{"--latest"})...)

			same(t, source, target, tc.databases)
			got := target.SQL(t, "SELECT CAST(schema_name AS BINARY) FROM information_schema.schemata "+
				"WHERE schema_name NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') ORDER BY 1")
			if diff := cmp.Diff(tc.databases, strings.Split(got, "\n")); diff != "" {
				t.Error(diff)
			}
			sum := "SELECT (SELECT SUM(amount) FROM plain.a_account) + (SELECT SUM(amount) FROM plain.z_account)"
			if slices.Contains(tc.databases, "plain") && target.SQL(t, sum) != "1000000" {
				t.Errorf("the dump is of no single moment: the sum is %s", target.SQL(t, sum))
			}
		})
	}
}

// same compares everything in the databases of two servers.
func same(t *testing.T, source, target *realparts.MariaDB, databases []string) {
	t.Helper()
	want := contents(t, source, databases)
	if diff := cmp.Diff(want, contents(t, target, databases)); diff != "" {
		t.Error(diff)
	}
	if len(want) < 8 {
		t.Errorf("compared only %d things", len(want))
	}
}

// groupMayWork checks that another user of the volume's group may restore and
// prune, and that nobody else may even read.
func (s *stand) groupMayWork() {
	s.t.Helper()
	want := map[string]os.FileMode{s.folder(): 0o770, filepath.Dir(s.folder()): 0o770}
	for _, name := range s.files() {
		want[filepath.Join(s.folder(), name)] = 0o660
	}
	for path, mode := range want {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			s.t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), mode)
		}
	}
}

// backupWithWriter makes a backup while somebody writes.
func backupWithWriter(t *testing.T, s *stand, flags []string) outcome {
	t.Helper()
	stop, wrote := make(chan struct{}), make(chan int, 1)
	writer := s.server.Session(t)
	go func() {
		n, err := write(writer, stop)
		if err != nil {
			t.Error(err)
		}
		wrote <- n
	}()
	o := s.good(s.backupArgs(flags...)...)
	close(stop)
	if <-wrote == 0 {
		t.Error("the writer did nothing during the dump")
	}
	return o
}
