// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

func TestParseClientReadsWhatWasRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/versions.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		seen++
		family, rest, _ := strings.Cut(line, " ")
		number, printed, _ := strings.Cut(rest, " ")
		v, err := ParseClient(printed)
		if err != nil || v.String() != family+" "+number {
			t.Errorf("%q: got %v, %v", printed, v, err)
		}
	}
	if seen < 10 {
		t.Errorf("only %d lines", seen)
	}
}

func TestParseClientRefusesWhatIsNoClient(t *testing.T) {
	for _, printed := range []string{"", "pg_dump (PostgreSQL) 15.6", "mysqldump", "mysqldump Ver x.y.z", "Ver 99999999999999999999.1.1"} {
		if v, err := ParseClient(printed); err == nil {
			t.Errorf("%q became %v", printed, v)
		}
	}
}

func TestParseServer(t *testing.T) {
	cases := map[string]struct{ version, comment, want, image string }{
		"MySQL":                   {"8.0.36", "MySQL Community Server - GPL", "MySQL 8.0.36", "mysql:8.0"},
		"MySQL with a log":        {"5.7.44-log", "MySQL Community Server (GPL)", "MySQL 5.7.44", "mysql:5.7"},
		"Percona":                 {"8.0.36-28", "Percona Server (GPL), Release 28", "MySQL 8.0.36", "mysql:8.0"},
		"MariaDB":                 {"10.11.6-MariaDB", "mariadb.org binary distribution", "MariaDB 10.11.6", "mariadb:10.11"},
		"MariaDB of Debian":       {"10.11.19-MariaDB-0+deb12u1", "Debian 12", "MariaDB 10.11.19", "mariadb:10.11"},
		"MariaDB behind a prefix": {"5.5.5-10.6.12-MariaDB-log", "managed", "MariaDB 10.6.12", "mariadb:10.6"},
		"MariaDB by its comment":  {"10.6.16", "MariaDB Server", "MariaDB 10.6.16", "mariadb:10.6"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v, err := ParseServer(tc.version, tc.comment)
			if err != nil || v.String() != tc.want || v.Image() != tc.image {
				t.Errorf("got %v (%s), %v; want %s (%s)", v, v.Image(), err, tc.want, tc.image)
			}
		})
	}
	if v, err := ParseServer("TiDB", ""); err == nil {
		t.Errorf("got %v, want an error", v)
	}
}

func TestAtLeast(t *testing.T) {
	v := Version{Major: 8, Minor: 0, Patch: 20}
	for version, want := range map[[3]int]bool{
		{8, 0, 20}: true, {8, 0, 19}: true, {8, 0, 21}: false, {8, 1, 0}: false, {7, 9, 99}: true, {9, 0, 0}: false, {5, 7, 44}: true,
	} {
		if got := v.AtLeast(version[0], version[1], version[2]); got != want {
			t.Errorf("at least %v: %v", version, got)
		}
	}
}

// wantError demands an error that says something.
func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %q in it", err, says)
	}
}

// program writes a stand-in for a client that only tells its version.
func program(t *testing.T, dir, name, version string) {
	t.Helper()
	script := "#!/bin/sh\n[ \"$1 $2\" = '--no-defaults --version' ] && echo '" + version + "'\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestFindToolsPrefersThoseOfTheEngine(t *testing.T) {
	const (
		mysql8    = "mysqldump  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)"
		mariadb11 = "mariadb-dump from 11.4.2-MariaDB, client 10.19 for Linux (x86_64)"
	)
	both := map[string]string{"mysqldump": mysql8, "mysql": mysql8, "mariadb-dump": mariadb11, "mariadb": mariadb11}
	cases := map[string]struct {
		programs map[string]string
		engine   string
		want     string
		says     string
	}{
		"both, MySQL wanted":       {both, agent.EngineMySQL, "mysqldump MySQL 8.0.36", ""},
		"both, MariaDB wanted":     {both, agent.EngineMariaDB, "mariadb-dump MariaDB 11.4.2", ""},
		"only MariaDB's new names": {map[string]string{"mariadb-dump": mariadb11, "mariadb": mariadb11}, agent.EngineMySQL, "mariadb-dump MariaDB 11.4.2", ""},
		"MariaDB under old names":  {map[string]string{"mysqldump": mariadb11, "mysql": mariadb11}, agent.EngineMariaDB, "mysqldump MariaDB 11.4.2", ""},
		"no client beside the dump": {
			map[string]string{"mysqldump": mysql8}, agent.EngineMySQL, "", "neither mysqldump with mysql nor mariadb-dump with mariadb",
		},
		"nothing, MySQL wanted":   {nil, agent.EngineMySQL, "", "for instance mysql:8.4"},
		"nothing, MariaDB wanted": {nil, agent.EngineMariaDB, "", "for instance mariadb:11.4"},
		"something else":          {map[string]string{"mysqldump": "no version", "mysql": ""}, agent.EngineMySQL, "", "is not understood"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, version := range tc.programs {
				program(t, dir, name, version)
			}
			t.Setenv("PATH", dir)
			tools, err := FindTools(t.Context(), tc.engine)
			if tc.says != "" {
				wantError(t, err, tc.says)
				return
			}
			if got := filepath.Base(tools.Dump) + " " + tools.Version.String(); err != nil || got != tc.want {
				t.Errorf("got %s, %v; want %s", got, err, tc.want)
			}
		})
	}
}

func TestFindToolsReadsTheRealClient(t *testing.T) {
	realparts.Tool(t, "mariadb-dump")
	realparts.Tool(t, "mariadb")
	tools, err := FindTools(t.Context(), agent.EngineMariaDB)
	if err != nil || !tools.Version.IsMariaDB() || tools.Version.Major < 10 {
		t.Errorf("got %+v, %v", tools, err)
	}
}

// The options file is read by the real programs' own library.
func TestTheClientReadsBackWhatTheOptionsFileSays(t *testing.T) {
	reader := realparts.Tool(t, "my_print_defaults")
	for _, value := range oddValues() {
		path, err := writeOptionsFile(t.TempDir(), "[client]\nuser="+quote(value)+"\nport=3306\n")
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), reader, "--defaults-file="+path, "client").Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := "--user=" + value + "\n--port=3306\n"; string(out) != want {
			t.Errorf("wrote %q, read %q", value, out)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o400 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

// oddValues are passwords that an options file could get wrong.
func oddValues() []string {
	values := []string{
		"plain", "", " leading", "trailing ", "a#b", "#", ";", `"`, `'`, `''`, `""`, `"quoted"`, `'quoted'`, `\`, `\\`, `\n`, `\s`, `a\`,
		`\"`, `"#`, `'#'`, "tab\tin", "line\nfeed", "\r\n", "bell\b", "[client]", "!include /etc/passwd", "=", "a=b", "täble🐬", "\x01\x1f\x7f",
		strings.Repeat("x", 1024), strings.Repeat(`"\`, 512),
	}
	// Every pair of the characters that matter.
	const special = "\"'\\#;= \t\n\rnsbtx"
	for _, a := range special {
		for _, b := range special {
			values = append(values, string([]rune{a, b}))
		}
	}
	return values
}
