// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsComeFromTheUsualVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		env  map[string]string
		want settings
		err  string
	}{
		"names of MariaDB": {
			env:  map[string]string{"MARIADB_ROOT_PASSWORD": "r", "MARIADB_DATABASE": "d", "MARIADB_USER": "u", "MARIADB_PASSWORD": "p"},
			want: settings{rootPassword: "r", database: "d", user: "u", password: "p"},
		},
		"names of MySQL": {
			env:  map[string]string{"MYSQL_ROOT_PASSWORD": "r", "MYSQL_DATABASE": "d"},
			want: settings{rootPassword: "r", database: "d"},
		},
		"a file instead of a value": {
			env:  map[string]string{"MARIADB_ROOT_PASSWORD_FILE": file},
			want: settings{rootPassword: "from a file"},
		},
		"no password on purpose": {
			env: map[string]string{"MYSQL_ALLOW_EMPTY_PASSWORD": "yes"},
		},
		"no password by mistake": {
			env: map[string]string{"MARIADB_DATABASE": "d"},
			err: "MARIADB_ROOT_PASSWORD",
		},
		"a user without a password": {
			env: map[string]string{"MARIADB_ROOT_PASSWORD": "r", "MARIADB_USER": "u"},
			err: "needs MARIADB_PASSWORD",
		},
		"a file that is not there": {
			env: map[string]string{"MARIADB_ROOT_PASSWORD_FILE": file + ".missing"},
			err: "MARIADB_ROOT_PASSWORD_FILE",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readSettings(func(key string) (string, bool) {
				value, ok := maps.Clone(tc.env)[key]
				return value, ok
			})
			said := ""
			if err != nil {
				said, got = err.Error(), settings{}
			}
			if !strings.Contains(said, tc.err) || (tc.err == "") != (said == "") {
				t.Errorf("error %q, want one about %q", said, tc.err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(settings{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStatementsQuoteWhatPeopleChoose(t *testing.T) {
	s := settings{rootPassword: `it's \root`, database: "shop_`1", user: "o'neil", password: "a\nb"}
	all := strings.Join(s.statements(), "\n")
	for _, want := range []string{
		`CREATE USER 'root'@'%' IDENTIFIED BY 'it''s \\root'`,
		"CREATE DATABASE `shop_``1`",
		`CREATE USER 'o''neil'@'%' IDENTIFIED BY 'a\nb'`,
		"GRANT ALL PRIVILEGES ON `shop\\_``1`.* TO 'o''neil'@'%'",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no statement %s in:\n%s", want, all)
		}
	}
}

func TestArgumentsAreACommandOrFlags(t *testing.T) {
	cases := map[string]struct {
		args    []string
		command string
		flags   []string
	}{
		"nothing":                       {},
		"flags only":                    {args: []string{"--port=1"}, flags: []string{"--port=1"}},
		"the server and flags":          {args: []string{"mariadbd", "--port=1"}, flags: []string{"--port=1"}},
		"the server by its former name": {args: []string{"/usr/sbin/mysqld", "--port=1"}, flags: []string{"--port=1"}},
		"a command of its own":          {args: []string{"mariadb-dump", "--help"}, command: "mariadb-dump"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			command, flags := split(tc.args)
			if command != tc.command || !cmp.Equal(flags, tc.flags) {
				t.Errorf("command %q, flags %q; want %q, %q", command, flags, tc.command, tc.flags)
			}
		})
	}
}

func TestWipeKeepsTheFolderOfTheFileSystem(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"lost+found", "mysql/db", marker} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := wipe(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "lost+found" {
		t.Errorf("left: %v (%v)", entries, err)
	}
}
