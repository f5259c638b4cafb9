// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

func TestEveryOddPasswordLogsIn(t *testing.T) {
	m := realparts.StartMariaDB(t)
	tools, err := FindTools(t.Context(), agent.EngineMariaDB)
	if err != nil {
		t.Fatal(err)
	}
	passwords := oddValues()[:33] // the pairs are read back elsewhere
	for i, password := range passwords {
		m.SQL(t, fmt.Sprintf("CREATE USER u%d@'%%' IDENTIFIED BY '%s'", i,
			strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password)))
		c, err := Connect(t.Context(), tools, Target{Host: m.Host, Port: m.Port},
			credentials.Credentials{Username: fmt.Sprintf("u%d", i), Password: password}, t.TempDir(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Errorf("%q: %v", password, err)
			continue
		}
		c.Close()
	}
}

func TestQueryReadsEveryCellAsItIs(t *testing.T) {
	m := realparts.StartMariaDB(t)
	m.SQL(t, "CREATE USER u@'%' IDENTIFIED BY 'p'; GRANT ALL ON *.* TO u@'%'; CREATE DATABASE `täble`; CREATE DATABASE `back\\slash`; "+
		"CREATE DATABASE `empty`; CREATE TABLE `täble`.t (id INT); CREATE TABLE `back\\slash`.t (id INT)")
	tools, err := FindTools(t.Context(), agent.EngineMariaDB)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Connect(t.Context(), tools, Target{Host: m.Host, Port: m.Port}, credentials.Credentials{Username: "u", Password: "p"},
		t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows, err := c.Query(t.Context(), `SELECT 'a\tb', 'c\nd', 'e\\n', '\0', 'ä🐬', ''; SELECT 1`)
	if diff := cmp.Diff([][]string{{"a\tb", "c\nd", `e\n`, "\x00", "ä🐬", ""}, {"1"}}, rows); diff != "" || err != nil {
		t.Error(diff, err)
	}
	databases, err := c.DatabasesWithTables(t.Context())
	if err != nil || !strings.Contains(strings.Join(databases, " "), `täble`) || !strings.Contains(strings.Join(databases, " "), `back\slash`) {
		t.Errorf("got %q, %v", databases, err)
	}
	if _, err := c.Query(t.Context(), "SELECT nonsense"); err == nil || !strings.Contains(err.Error(), "ERROR 1054 (42S22) at line 1: Unknown column") {
		t.Errorf("got %v", err)
	}
	// A dump must not be able to make the client do something.
	proof := filepath.Join(t.TempDir(), "proof")
	for _, command := range []string{"\\! touch " + proof, "system touch " + proof, "\\T " + proof, "tee " + proof, "source /etc/passwd", "\\. /etc/passwd"} {
		if err := c.Execute(t.Context(), strings.NewReader(command+"\nSELECT 1;\n")); err == nil {
			t.Errorf("%q was taken", command)
		}
		if _, err := os.Stat(proof); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q was obeyed", command)
		}
	}
}

// full is a writer that has room for some bytes.
type full struct{ room int }

var errFull = errors.New("the volume is full")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

type broken struct{}

var errBroken = errors.New("the disk is broken")

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestAFailureOnOurSideOfThePipeIsTheError(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"endless": "while :; do echo 0123456789012345678901234567890123456789; done",
		"patient": "cat >/dev/null; echo 'ERROR 2013 (HY000) at line 9: Lost connection' >&2; exit 1",
		"killed":  "kill -9 $$",
		"silent":  "exit 3",
		"wordy":   "echo 'first' >&2; echo 'Got error: 1045: Access denied for secret-word' >&2; echo >&2; exit 2",
		"good":    "cat; echo 'a warning' >&2",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		in   io.Reader
		out  io.Writer
		want string
	}{
		"endless": {nil, &full{room: 1 << 20}, errFull.Error()},
		"patient": {broken{}, io.Discard, errBroken.Error()},
		"killed":  {nil, io.Discard, "killed was killed, as happens when memory runs out: raise spec.podTemplate.resources.limits.memory"},
		"silent":  {nil, io.Discard, "silent ended without a word: exit status 3"},
		"wordy":   {nil, io.Discard, "Got error: 1045: Access denied for ***: " + adviseLogin},
		"good":    {strings.NewReader("text"), io.Discard, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c := &Client{secret: "secret-word", options: filepath.Join(dir, "options"), log: slog.New(slog.NewTextHandler(&log, nil))}
			err := c.run(t.Context(), filepath.Join(dir, name), tc.in, tc.out)
			if got := fmt.Sprint(err); tc.want == "" && err != nil || tc.want != "" && got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if strings.Contains(log.String(), "secret-word") {
				t.Errorf("the log shows the password: %s", log.String())
			}
		})
	}
}

func TestComplaintsKeepTheLastLineWhateverThePieces(t *testing.T) {
	for _, size := range []int{1, 3, 1000} {
		c := &complaints{log: slog.New(slog.DiscardHandler), secret: "hunter2"}
		text := "first\n\n  second hunter2 \n" + strings.Repeat("x", 3*maxLine) + "\nlast täble hunter2\xff\n\n"
		for len(text) > 0 {
			n := min(size, len(text))
			if _, err := c.Write([]byte(text[:n])); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if got := c.lastLine(); got != "last täble ***?" {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}

func TestExplainAddsWhatToDo(t *testing.T) {
	cases := map[string]string{
		`mysqldump: Got error: 1045: Access denied for user 'x'@'%' (using password: YES) when trying to connect`:                adviseLogin,
		`mariadb-dump: Got error: 1045: "Access denied for user 'x'@'%' (using password: YES)" when trying to connect`:           adviseLogin,
		`ERROR 2005 (HY000): Unknown server host 'x' (-2)`:                                                                       adviseHost,
		`mysqldump: Got error: 2005: Unknown MySQL server host 'x' (0) when trying to connect`:                                   adviseHost,
		`ERROR 2002 (HY000): Can't connect to server on 'x' (115)`:                                                               adviseReach,
		`mysqldump: Error 2013: Lost connection to MySQL server during query when dumping table ` + "`t` at row: 1045":           adviseGone,
		`mariadb-dump: Couldn't execute 'show events': Access denied for user 'b'@'%' to database 'e' (1044)`:                    adviseGrant,
		`mysqldump: Error: 'Access denied; you need (at least one of) the PROCESS privilege(s)' when trying to dump tablespaces`: adviseGrant,
		"mysqldump: b has insufficent privileges to SHOW CREATE PROCEDURE `p`!":                                                  adviseGrant, //nolint:misspell // The tool says it so.
		`ERROR 2059 (HY000): Authentication plugin 'caching_sha2_password' cannot be loaded: /usr/lib/x.so`:                      adviseImage,
		`ERROR 2026 (HY000): TLS/SSL error: self-signed certificate in certificate chain`:                                        adviseTLS,
		`mysqldump: Got error: 1049: Unknown database 'x' when selecting the database`:                                           adviseNames,
		`mysqldump: Error 1412: Table definition has changed, please retry transaction when dumping table ` + "`t` at row: 0":    adviseAlter,
		`ERROR 1153 (08S01) at line 9: Got a packet bigger than 'max_allowed_packet' bytes`:                                      advisePack,
		`ERROR 1040 (08004): Too many connections`:                                                                               adviseFull,
		`mysqldump: Couldn't execute 'SELECT COLUMN_NAME': Unknown table 'COLUMN_STATISTICS' in information_schema (1109)`:       adviseImage,
		`mysqldump: unknown variable 'column-statistics=0'`:                                                                      adviseImage,
		`mysqldump: Error 1205: Lock wait timeout exceeded; try restarting transaction when dumping table ` + "`t` at row: 2013": adviseLocks,
		`something that nobody has seen before`:                                                                                  "",
		`ERROR 1064 (42000) at line 2002: You have an error in your SQL syntax`:                                                  "",
	}
	for line, advice := range cases {
		want := line
		if advice != "" {
			want += ": " + advice
		}
		if got := explain(line); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", line, strings.TrimPrefix(got, line), strings.TrimPrefix(want, line))
		}
	}
}

func TestTheEnvironmentOfAClientIsClean(t *testing.T) {
	for _, name := range []string{"MYSQL_HOST", "MYSQL_PWD", "MYSQL_TCP_PORT", "MYSQL_TEST_LOGIN_FILE", "MARIADB_HOST", "HOME", "USER", "LANG", "TZ"} {
		t.Setenv(name, "from-outside")
	}
	t.Setenv("LD_LIBRARY_PATH", "/opt/lib")
	got := strings.Join(environment("/work-dir"), "\n")
	if strings.Contains(got, "from-outside") {
		t.Errorf("got %s", got)
	}
	for _, want := range []string{"HOME=/work-dir", "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH"), "LD_LIBRARY_PATH=/opt/lib", "TZ=UTC"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

func TestTargetShowsHostAndPort(t *testing.T) {
	for want, target := range map[string]Target{
		"db:3306":    {Host: "db"},
		"db:3307":    {Host: "db", Port: 3307},
		"[::1]:3306": {Host: "::1"},
	} {
		if got := target.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
