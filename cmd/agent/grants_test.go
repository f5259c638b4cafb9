// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

// leastGrants are the grants that the documentation asks for, on one
// database. Each is needed: without it a backup fails and names it.
var leastGrants = map[string]string{
	"SELECT":                   "GRANT SELECT ON `täble`.* TO least@'%'",
	"SHOW VIEW":                "GRANT SHOW VIEW ON `täble`.* TO least@'%'",
	"TRIGGER":                  "GRANT TRIGGER ON `täble`.* TO least@'%'",
	"EVENT":                    "GRANT EVENT ON `täble`.* TO least@'%'",
	"SELECT ON `mysql`.`proc`": "GRANT SELECT ON mysql.proc TO least@'%'",
}

func grantLeast(t *testing.T, m *realparts.MariaDB, without string, more ...string) {
	t.Helper()
	statements := []string{"CREATE OR REPLACE USER least@'%' IDENTIFIED BY 'least-password'"}
	for name, statement := range leastGrants {
		if name != without {
			statements = append(statements, statement)
		}
	}
	m.SQL(t, strings.Join(slices.Concat(statements, more), ";\n"))
}

func TestTheDocumentedGrantsAreEnoughAndEachIsNeeded(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	oddData(t, m)
	flags := []string{"--database=täble", "--compression=None"}

	t.Run("enough", func(t *testing.T) {
		grantLeast(t, m, "")
		s := newStand(t, m)
		s.login("least", "least-password")
		o := s.good(s.backupArgs(flags...)...)
		dump := s.read(o.result.Location)
		for _, want := range []string{"TRIGGER `parts-ai`", "PROCEDURE `do it`", "FUNCTION `twice`", "EVENT `every day`", "VIEW `a_view`"} {
			if !strings.Contains(dump, want) {
				t.Errorf("the dump lacks the %s", want)
			}
		}
	})
	for without := range leastGrants {
		t.Run("not without "+without, func(t *testing.T) {
			grantLeast(t, m, without)
			s := newStand(t, m)
			s.login("least", "least-password")
			s.bad("GRANT "+without, s.backupArgs(flags...)...)
			if left := s.files(); len(left) != 0 {
				t.Errorf("left on the volume: %v", left)
			}
		})
	}
	t.Run("LOCK TABLES without a single transaction", func(t *testing.T) {
		grantLeast(t, m, "")
		s := newStand(t, m)
		s.login("least", "least-password")
		noTransaction := slices.Concat(flags, []string{"--single-transaction=false"})
		s.bad("GRANT LOCK TABLES ON `täble`.*", s.backupArgs(noTransaction...)...)
		grantLeast(t, m, "", "GRANT LOCK TABLES ON `täble`.* TO least@'%'")
		s.good(s.backupArgs(noTransaction...)...)
	})
	t.Run("nothing for what is left out", func(t *testing.T) {
		m.SQL(t, "CREATE OR REPLACE USER least@'%' IDENTIFIED BY 'least-password'; GRANT SELECT, SHOW VIEW ON `täble`.* TO least@'%'")
		s := newStand(t, m)
		s.login("least", "least-password")
		o := s.good(s.backupArgs(slices.Concat(flags, []string{"--triggers=false", "--events=false", "--routines=false", "--ignore-table=täble.parts"})...)...)
		dump := s.read(o.result.Location)
		for _, out := range []string{"TRIGGER", "PROCEDURE", "EVENT", "TABLE `parts`"} {
			if strings.Contains(dump, out) {
				t.Errorf("the dump has a %s", out)
			}
		}
	})
	t.Run("the owner of a database", func(t *testing.T) {
		m.SQL(t, "CREATE OR REPLACE USER least@'%' IDENTIFIED BY 'least-password'; CREATE DATABASE app_1; CREATE DATABASE appx1; "+
			"GRANT ALL ON `app\\_1`.* TO least@'%'")
		s := newStand(t, m)
		s.login("least", "least-password")
		s.good(s.backupArgs("--database=app_1")...)
	})
	t.Run("a role gives the rights", func(t *testing.T) {
		m.SQL(t, "CREATE OR REPLACE USER least@'%' IDENTIFIED BY 'least-password'; CREATE ROLE backupers; "+
			"GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON *.* TO backupers; GRANT backupers TO least@'%'; "+
			"SET DEFAULT ROLE backupers FOR least@'%'")
		s := newStand(t, m)
		s.login("least", "least-password")
		s.good(s.backupArgs(flags...)...)
	})
}

func TestRestoringNeedsTheRightsOnTheTarget(t *testing.T) {
	m := realparts.SharedMariaDB(t)
	oddData(t, m)
	backupUser(t, m)
	s := newStand(t, m)
	s.good(s.backupArgs("--database=plain")...)
	m.SQL(t, "DROP DATABASE plain; CREATE USER reader@'%' IDENTIFIED BY 'reader-password'; GRANT SELECT ON *.* TO reader@'%'")
	s.login("reader", "reader-password")
	s.bad("half restored now: drop them and start again", slices.Concat([]string{agent.CommandRestore}, s.place(), s.at(m), []string{"--latest"})...)
}
