// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package realparts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// MariaDB is a server of a test's own, with its own data, on a socket and on
// a port of 127.0.0.1. The user root logs in through the socket without a
// password.
type MariaDB struct {
	Host string
	Port int

	socket string
	dir    string
	cmd    *exec.Cmd
	ended  chan struct{}
}

// StartMariaDB starts a server that ends with the test.
func StartMariaDB(t *testing.T, options ...string) *MariaDB {
	t.Helper()
	m := launch(t, options)
	t.Cleanup(m.remove)
	return m
}

// launch installs and starts a server.
func launch(t *testing.T, options []string) *MariaDB {
	t.Helper()
	server, install := Tool(t, "mariadbd"), Tool(t, "mariadb-install-db")
	// Not t.TempDir: its long names do not fit into a socket's path, and
	// nobody but root may enter it.
	dir, err := os.MkdirTemp(inMemory(), "mariadb-") //nolint:usetesting // See above.
	if err != nil {
		t.Fatal(err)
	}
	m := &MariaDB{
		Host: "127.0.0.1", Port: freePort(t), dir: dir,
		socket: filepath.Join(dir, "s"), ended: make(chan struct{}),
	}
	// The names of its temporary files are unique only within one machine's
	// processes, and /tmp may be seen by several.
	common := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--tmpdir=" + dir, "--innodb-log-file-size=16M", "--innodb-flush-method=nosync"}
	if os.Getuid() == 0 {
		common = append(common, "--user=mysql")
		own(t, dir, "mysql")
	}
	init := exec.CommandContext(t.Context(), install, append(common,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")...)
	if out, err := init.CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		t.Fatalf("install the database: %v\n%s", err, out)
	}
	m.start(t, server, append(append(common,
		"--socket="+m.socket, "--bind-address="+m.Host, fmt.Sprintf("--port=%d", m.Port),
		"--pid-file="+filepath.Join(dir, "pid"), "--character-set-server=utf8mb4", "--skip-name-resolve",
		"--innodb-flush-log-at-trx-commit=0"), options...))
	return m
}

// start runs the server and returns when it takes connections.
func (m *MariaDB) start(t *testing.T, server string, args []string) {
	t.Helper()
	m.cmd = exec.Command(server, args...)
	log, err := m.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, said := make(chan struct{}), &strings.Builder{}
	go func() {
		defer close(m.ended)
		lines := bufio.NewScanner(log)
		for open := true; lines.Scan(); {
			_, _ = said.WriteString(lines.Text() + "\n")
			if open && strings.Contains(lines.Text(), "ready for connections") {
				close(ready)
				open = false
			}
		}
		_, _ = io.Copy(io.Discard, log)
		_ = m.cmd.Wait()
	}()
	select {
	case <-ready:
	case <-m.ended:
		m.remove()
		t.Fatal("the server did not start:\n" + said.String())
	}
}

// remove ends the server and takes its data away.
func (m *MariaDB) remove() {
	m.Kill()
	_ = os.RemoveAll(m.dir)
}

// Kill ends the server at once, as a crash would, and waits for its end.
func (m *MariaDB) Kill() {
	_ = m.cmd.Process.Kill()
	<-m.ended
}

// SQL runs statements as root and returns what they answer, without a header.
func (m *MariaDB) SQL(t *testing.T, sql string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Tool(t, "mariadb"), m.login()...)
	cmd.Stdin = strings.NewReader(sql)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%.500s", err, complaints.String(), sql)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (m *MariaDB) login() []string {
	return []string{
		"--no-defaults", "--socket=" + m.socket, "--user=root", "--batch", "--skip-column-names",
		"--default-character-set=utf8mb4", "--binary-mode", "--max-allowed-packet=1G",
	}
}

// Session is a connection that stays open.
type Session struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

// Session opens a connection as root that ends with the test.
func (m *MariaDB) Session(t *testing.T) *Session {
	t.Helper()
	cmd := exec.Command(Tool(t, "mariadb"), append(m.login(), "--unbuffered")...)
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	s := &Session{in: in, out: bufio.NewReader(out), cmd: cmd}
	t.Cleanup(s.Close)
	return s
}

// Do runs statements and returns when they are done.
func (s *Session) Do(sql string) error {
	const done = "the statements are done"
	if _, err := io.WriteString(s.in, sql+";\nSELECT '"+done+"';\n"); err != nil {
		return err
	}
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("run %.200s: %w", sql, err)
		}
		if strings.TrimSpace(line) == done {
			return nil
		}
	}
}

// Close ends the connection and with it its locks.
func (s *Session) Close() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.in.Close()
	_, _ = io.Copy(io.Discard, s.out)
	_ = s.cmd.Wait()
}

// freePort is a port that nobody listens on at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
