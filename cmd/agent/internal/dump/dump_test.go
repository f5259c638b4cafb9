// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/mysql"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

func version(family string, major, minor, patch int) mysql.Version {
	return mysql.Version{Family: family, Major: major, Minor: minor, Patch: patch}
}

var (
	mysql57   = version(agent.EngineMySQL, 5, 7, 44)
	mysql80   = version(agent.EngineMySQL, 8, 0, 36)
	mysql84   = version(agent.EngineMySQL, 8, 4, 11)
	mysql9    = version(agent.EngineMySQL, 9, 1, 0)
	mariadb10 = version(agent.EngineMariaDB, 10, 11, 6)
	mariadb11 = version(agent.EngineMariaDB, 11, 4, 2)
)

// all are the options of an object that says nothing.
var all = Options{SingleTransaction: true, Routines: true, Triggers: true, Events: true}

func TestArgumentsByClientAndServer(t *testing.T) {
	const common = "--hex-blob --no-tablespaces --quick --comments --dump-date --routines --triggers --events --single-transaction --skip-lock-tables"
	cases := map[string]struct {
		client, server mysql.Version
		options        func(*Options)
		want           string
	}{
		"MySQL 8 to itself":        {mysql80, mysql80, nil, common + " --set-gtid-purged=AUTO --databases -- a"},
		"MySQL 8.4 to 8.0":         {mysql84, mysql80, nil, common + " --set-gtid-purged=AUTO --databases -- a"},
		"MySQL 8 to 5.7":           {mysql80, mysql57, nil, common + " --column-statistics=0 --set-gtid-purged=AUTO --databases -- a"},
		"MySQL 5.7 to itself":      {mysql57, mysql57, nil, common + " --set-gtid-purged=AUTO --databases -- a"},
		"MySQL 8 to MariaDB":       {mysql80, mariadb10, nil, common + " --column-statistics=0 --set-gtid-purged=OFF --databases -- a"},
		"MySQL 5.7 to MariaDB":     {mysql57, mariadb10, nil, common + " --set-gtid-purged=OFF --databases -- a"},
		"MariaDB to itself":        {mariadb10, mariadb10, nil, common + " --databases -- a"},
		"MariaDB to MySQL":         {mariadb11, mysql80, nil, common + " --databases -- a"},
		"GTIDs wanted":             {mysql80, mysql80, func(o *Options) { o.SetGTIDPurged = agent.GTIDPurgedOn }, common + " --set-gtid-purged=ON --databases -- a"},
		"GTIDs not wanted":         {mysql80, mysql80, func(o *Options) { o.SetGTIDPurged = agent.GTIDPurgedOff }, common + " --set-gtid-purged=OFF --databases -- a"},
		"locks for everything":     {mariadb10, mariadb10, func(o *Options) { o.SingleTransaction = false }, strings.Replace(common, "--single-transaction --skip-lock-tables", "--lock-tables", 1) + " --databases -- a"},
		"nothing but the tables":   {mariadb10, mariadb10, func(o *Options) { *o = Options{SingleTransaction: true} }, "--hex-blob --no-tablespaces --quick --comments --dump-date --skip-routines --skip-triggers --skip-events --single-transaction --skip-lock-tables --databases -- a"},
		"tables that are left out": {mariadb10, mariadb10, func(o *Options) { o.IgnoreTables = []string{"a.t", "a.ü"} }, common + " --ignore-table=a.t --ignore-table=a.ü --databases -- a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := all
			if tc.options != nil {
				tc.options(&o)
			}
			got := strings.Join(arguments(pair{tc.client, tc.server}, o, []string{"a"}), " ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNamesOfDatabasesStandBehindTheEndOfOptions(t *testing.T) {
	got := arguments(pair{mysql80, mysql80}, all, []string{"a b", "$(id)", "-x"})
	if diff := cmp.Diff([]string{"--databases", "--", "a b", "$(id)", "-x"}, got[len(got)-5:]); diff != "" {
		t.Error(diff)
	}
}

// recordedOptions are the options of MySQL's releases, with a blank around
// each.
func recordedOptions(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/mysqldump-options.txt")
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if release, options, found := strings.Cut(strings.TrimSpace(line), ": "); found && !strings.HasPrefix(line, "#") {
			recorded[release] = " " + options + " "
		}
	}
	return recorded
}

// optionName is an option's name as the help has it.
func optionName(argument string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
	return strings.TrimPrefix(name, "skip-")
}

func TestMySQLsClientsHaveEveryOptionThatTheyAreGiven(t *testing.T) {
	for release, known := range recordedOptions(t) {
		client, err := mysql.ParseServer(release, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, server := range []mysql.Version{mysql57, mysql80, mysql84, mysql9, mariadb10, mariadb11} {
			for _, argument := range arguments(pair{client, server}, all, nil) {
				if name := optionName(argument); name != "" && !strings.Contains(known, " "+name+" ") {
					t.Errorf("mysqldump %s has no %s (to %s)", release, argument, server)
				}
			}
		}
	}
}

func TestTheRealClientHasEveryOptionThatItIsGiven(t *testing.T) {
	help, err := exec.CommandContext(t.Context(), realparts.Tool(t, "mariadb-dump"), "--no-defaults", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range arguments(pair{mariadb10, mariadb10}, all, nil) {
		if name := optionName(argument); name != "" && !strings.Contains(string(help), "--"+name) {
			t.Errorf("mariadb-dump has no %s", argument)
		}
	}
}

func TestPairsThatCannotWorkSayWhichImageToSet(t *testing.T) {
	cases := map[string]struct {
		client, server mysql.Version
		purged         string
		says           string
	}{
		"the same":                       {mysql80, mysql80, "", ""},
		"MySQL's client is newer":        {mysql9, mysql57, "", ""},
		"MySQL's client is a little old": {mysql80, mysql84, "", ""},
		"MySQL's client is far too old":  {mysql57, mysql80, "", "the client of MySQL 5.7.44 leaves out what only MySQL 8 and later have"},
		"and says the image":             {mysql57, mysql84, "", "set spec.podTemplate.image to mysql:8.4"},
		"MariaDB's client is older":      {mariadb10, mariadb11, "", ""},
		"GTIDs of MySQL by MariaDB":      {mariadb10, mysql80, agent.GTIDPurgedOn, "setGTIDPurged On needs a client and a server of MySQL"},
		"GTIDs of MariaDB by MySQL":      {mysql80, mariadb10, agent.GTIDPurgedOn, "set spec.source.options.setGTIDPurged to Auto"},
		"GTIDs of MariaDB not wanted":    {mariadb10, mariadb10, agent.GTIDPurgedOff, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := pair{tc.client, tc.server}.checkVersions(Options{SetGTIDPurged: tc.purged})
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("got %v, want %q in it", err, tc.says)
			}
		})
	}
}

// connect logs in to a real server with its own client.
func connect(t *testing.T, m *realparts.MariaDB) *mysql.Client {
	t.Helper()
	m.SQL(t, "CREATE USER u@'%' IDENTIFIED BY 'p'; GRANT ALL ON *.* TO u@'%'")
	tools, err := mysql.FindTools(t.Context(), agent.EngineMariaDB)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysql.Connect(t.Context(), tools, mysql.Target{Host: m.Host, Port: m.Port},
		credentials.Credentials{Username: "u", Password: "p"}, t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestWhatTheOtherFamilysClientCannotCarryIsFound(t *testing.T) {
	m := realparts.StartMariaDB(t)
	m.SQL(t, "CREATE DATABASE plain; CREATE TABLE plain.t (id INT); "+
		"CREATE DATABASE generated; CREATE TABLE generated.t (id INT, twice INT AS (id * 2)); "+
		"CREATE DATABASE numbered; CREATE SEQUENCE numbered.s; "+
		"CREATE DATABASE packed; SET sql_mode = ORACLE;\nDELIMITER ;;\n"+
		"CREATE PACKAGE packed.p AS PROCEDURE x; END;;\nDELIMITER ;\n")
	c := connect(t, m)
	cases := map[string]struct {
		p        pair
		database string
		says     string
	}{
		"nothing special, MariaDB's client": {pair{mariadb10, mysql80}, "plain", ""},
		"nothing special, MySQL's client":   {pair{mysql80, mariadb10}, "plain", ""},
		"generated columns, MariaDB's":      {pair{mariadb10, mysql80}, "generated", "(database 'generated' has such columns), and the server is MySQL 8.0.36: set spec.podTemplate.image to mysql:8.0"},
		"generated columns, MySQL's":        {pair{mysql80, mariadb10}, "generated", ""},
		"a sequence, MySQL's client":        {pair{mysql80, mariadb10}, "numbered", "set spec.podTemplate.image to mariadb:10.11"},
		"a package, MySQL's client":         {pair{mysql80, mariadb10}, "packed", "database 'packed' has some"},
		"a sequence, its own client":        {pair{mariadb10, mariadb10}, "numbered", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.p.checkContent(t.Context(), c, []string{tc.database})
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("got %v, want %q in it", err, tc.says)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	visible := []string{"sys", "mysql", "shop", "INFORMATION_SCHEMA", "information_schema", "performance_schema", "a-db", "täble"}
	cases := map[string]struct {
		wanted, visible []string
		want            string
		says            string
	}{
		"all but the server's own":   {nil, visible, "a-db shop täble", ""},
		"those that are named":       {[]string{"täble", "shop"}, visible, "täble shop", ""},
		"a system one that is named": {[]string{"mysql"}, visible, "mysql", ""},
		"in other letters":           {[]string{"SHOP"}, visible, "SHOP", ""},
		"some are missing":           {[]string{"shop", "x", "table"}, visible, "", "no database 'x', 'table'"},
		"nothing to back up":         {nil, []string{"mysql", "information_schema"}, "", "there is nothing to back up"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := choose(tc.wanted, tc.visible)
			if strings.Join(got, " ") != tc.want || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestValidateRefusesNamesThatAreWeapons(t *testing.T) {
	for _, name := range []string{"", "--result-file=/backup/other", "-h evil", "a\nb", "a\x00b", "\xff", strings.Repeat("x", 65), "\t"} {
		if err := (Options{Databases: []string{"fine", name}}).Validate(); err == nil {
			t.Errorf("%q is taken", name)
		}
		if err := (Options{IgnoreTables: []string{name}}).Validate(); err == nil {
			t.Errorf("%q is taken as a table", name)
		}
	}
	// Odd, but only a name where no shell is.
	for _, name := range []string{"my-db", "täble", "a b", "x; touch /tmp/p", "$(id)", "`id`", "db'--", "host=elsewhere dbname=x", strings.Repeat("ä", 64)} {
		if err := (Options{Databases: []string{name}}).Validate(); err != nil {
			t.Error(err)
		}
	}
	if err := (Options{SetGTIDPurged: "Maybe"}).Validate(); err == nil || !strings.Contains(fmt.Sprint(err), "must be Auto, On or Off") {
		t.Errorf("got %v", err)
	}
}
