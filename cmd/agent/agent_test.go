// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

// asAgent makes the test's own binary behave as the agent, so that the tests
// can start, watch and kill the real process.
const asAgent = "AGENT_TEST_BINARY_IS_THE_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		main()
		return
	}
	code := m.Run()
	realparts.StopShared()
	os.Exit(code)
}

const (
	testUID  = "11111111-aaaa-4aaa-8aaa-111111111111"
	otherUID = "22222222-bbbb-4bbb-8bbb-222222222222"
	testTime = "2027-03-28T02:00:00Z"
	testBase = "20270328T020000Z"
	// testPassword has everything in it that a shell, an options file or SQL
	// could trip over, and must never be seen.
	testPassword = `hü\"n't#e;r=2 [x] $(id) ` + "`w` \\n"
)

// stand is a volume and the folders of one object's Pod.
type stand struct {
	t                       *testing.T
	root, work, credentials string
	termination             string
	server                  *realparts.MariaDB
	// env is added to the agent's environment.
	env []string
}

func newStand(t *testing.T, server *realparts.MariaDB) *stand {
	t.Helper()
	dir := t.TempDir()
	s := &stand{
		t: t, server: server, root: filepath.Join(dir, "volume"), work: filepath.Join(dir, "work"),
		credentials: filepath.Join(dir, "credentials"), termination: filepath.Join(dir, "termination-log"),
	}
	for _, d := range []string{s.root, s.work, s.credentials} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.login("backup", testPassword)
	return s
}

func (s *stand) login(username, password string) {
	s.t.Helper()
	s.write("username", username+"\n")
	s.write("password", password+"\n")
}

func (s *stand) write(file, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.credentials, file), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// folder is where the object's backups are.
func (s *stand) folder() string { return filepath.Join(s.root, "shop", "nightly") }

// files are the names in the object's folder.
func (s *stand) files() []string {
	s.t.Helper()
	entries, err := os.ReadDir(s.folder())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// place are the flags that every command has.
func (s *stand) place() []string {
	return []string{
		"--root=" + s.root, "--namespace=shop", "--name=nightly",
		"--termination-log=" + s.termination,
	}
}

// at are the flags of the commands that talk to a server.
func (s *stand) at(server *realparts.MariaDB) []string {
	return []string{
		"--engine=MariaDB", "--host=" + server.Host, "--port=" + strconv.Itoa(server.Port),
		"--username-file=" + filepath.Join(s.credentials, "username"),
		"--password-file=" + filepath.Join(s.credentials, "password"),
		"--work-dir=" + s.work,
	}
}

// backupArgs is a whole command line of a backup. Later flags win.
func (s *stand) backupArgs(more ...string) []string {
	return slices.Concat([]string{agent.CommandBackup}, s.place(), s.at(s.server), []string{
		"--uid=" + testUID, "--kind=BackupJob", "--scheduled-time=" + testTime,
		"--retention-days=3650",
	}, more)
}

// command is the agent as a process.
func (s *stand) command(args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), self, args...)
	// What a Pod might bring along must not matter.
	cmd.Env = slices.Concat(os.Environ(), []string{
		asAgent + "=1", "POD_UID=pod-1",
		"MYSQL_HOST=elsewhere.invalid", "MYSQL_PWD=other", "MYSQL_TCP_PORT=1", "MARIADB_HOST=elsewhere.invalid",
	}, s.env)
	return cmd
}

// outcome is what a run of the agent left.
type outcome struct {
	code           int
	stdout, stderr string
	result         agent.Result
}

// run runs the agent to its end.
func (s *stand) run(args ...string) outcome {
	s.t.Helper()
	return s.finish(s.begin(args...))
}

// running is an agent that has been started.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func (s *stand) begin(args ...string) *running {
	s.t.Helper()
	if err := os.RemoveAll(s.termination); err != nil {
		s.t.Fatal(err)
	}
	r := &running{cmd: s.command(args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *stand) finish(r *running) outcome {
	s.t.Helper()
	_ = r.cmd.Wait() // the code says it
	o := outcome{code: r.cmd.ProcessState.ExitCode(), stdout: r.stdout.String(), stderr: r.stderr.String()}
	message, err := os.ReadFile(s.termination)
	if err == nil {
		o.result, err = agent.DecodeResult(string(message))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	if strings.Contains(o.stdout+o.stderr+string(message), testPassword) {
		s.t.Errorf("the password is in the output")
	}
	return o
}

// good runs the agent and expects success.
func (s *stand) good(args ...string) outcome {
	s.t.Helper()
	o := s.run(args...)
	if o.code != 0 || o.result.Error != "" {
		s.t.Fatalf("exit code %d, %q\n%s", o.code, o.result.Error, o.stderr)
	}
	return o
}

// bad runs the agent and expects a failure that says something.
func (s *stand) bad(says string, args ...string) outcome {
	s.t.Helper()
	o := s.run(args...)
	s.failed(o, says)
	return o
}

// failed checks how a failure is told: exit code, result and last line.
func (s *stand) failed(o outcome, says string) {
	s.t.Helper()
	if o.code != 1 {
		s.t.Errorf("exit code %d, want 1\n%s", o.code, o.stderr)
	}
	if !strings.Contains(o.result.Error, says) {
		s.t.Errorf("the result says %q, want %q in it", o.result.Error, says)
	}
	lines := strings.Split(strings.TrimSuffix(o.stderr, "\n"), "\n")
	if last := lines[len(lines)-1]; last != "Failed: "+o.result.Error {
		s.t.Errorf("the last line is %q, want the result's %q", last, o.result.Error)
	}
	if o.result.Location != "" && o.result.CompletionTime != nil {
		s.t.Errorf("a failure names a backup: %+v", o.result)
	}
}

// workEmpty checks that no options file is left.
func (s *stand) workEmpty() {
	s.t.Helper()
	entries, err := os.ReadDir(s.work)
	if err != nil || len(entries) != 0 {
		s.t.Errorf("left in the work folder: %v, %v", entries, err)
	}
}

// backupUser makes a user with the least grants that the documentation asks
// for.
func backupUser(t *testing.T, m *realparts.MariaDB) {
	t.Helper()
	m.SQL(t, "CREATE OR REPLACE USER backup@'%' IDENTIFIED BY "+literal(testPassword)+";"+
		"GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON *.* TO backup@'%';")
}

// literal is a string in SQL.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
