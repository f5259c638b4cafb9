// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// mariaDB is a database server with tables to dump. The user root logs in
// through the socket without a password.
type mariaDB struct {
	dir, socket, port string
	process           *exec.Cmd
}

// startMariaDB installs and starts one below a folder.
func startMariaDB(ctx context.Context, dir string) (*mariaDB, error) {
	m := &mariaDB{dir: filepath.Join(dir, "database"), socket: filepath.Join(dir, "s")}
	if err := os.Mkdir(m.dir, 0o755); err != nil { //nolint:gosec // the server's own user enters it
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, m.port, _ = net.SplitHostPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		return nil, err
	}
	common := []string{"--no-defaults", "--datadir=" + m.dir, "--innodb-flush-method=nosync"}
	if os.Getuid() == 0 {
		common = append(common, "--user=mysql")
		if err := giveTo("mysql", dir, m.dir); err != nil {
			return nil, err
		}
	}
	install := exec.CommandContext(ctx, "mariadb-install-db", append(common, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")...)
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("install the database: %w\n%s", err, out)
	}
	m.process = exec.CommandContext(ctx, "mariadbd", append(common, "--socket="+m.socket, "--bind-address=127.0.0.1", "--port="+m.port,
		"--tmpdir="+m.dir, "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=512M")...)
	if err := m.process.Start(); err != nil {
		return nil, err
	}
	err = poll(ctx, "MariaDB", func(ctx context.Context) error { return m.sql(ctx, "SELECT 1") })
	if err != nil {
		m.stop()
		return nil, err
	}
	return m, nil
}

func giveTo(name string, dirs ...string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, errUID := strconv.Atoi(u.Uid)
	gid, errGID := strconv.Atoi(u.Gid)
	err = errors.Join(errUID, errGID)
	for _, dir := range dirs {
		err = errors.Join(err, os.Chown(dir, uid, gid))
	}
	return err
}

func (m *mariaDB) stop() {
	_ = m.process.Process.Kill()
	_ = m.process.Wait() // it was killed
}

func (m *mariaDB) sql(ctx context.Context, statements string) error {
	client := exec.CommandContext(ctx, "mariadb", "--no-defaults", "--socket="+m.socket, "--user=root", "--batch")
	client.Stdin = strings.NewReader(statements)
	if out, err := client.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// rowsPerTable make about 64 MiB of dump.
const rowsPerTable = 335000

// fill makes tables as a shop has them: keys, numbers, times, words that repeat
// and texts that do not.
func (m *mariaDB) fill(ctx context.Context, tables int) error {
	var sql strings.Builder
	sql.WriteString("CREATE DATABASE shop; USE shop;")
	for i := range tables {
		fmt.Fprintf(&sql, `
CREATE TABLE orders%[1]d (id BIGINT PRIMARY KEY, customer INT, placed DATETIME, status ENUM('new','paid','sent','returned'),
  total DECIMAL(10,2), address VARCHAR(200), note TEXT, reference BINARY(16));
INSERT INTO orders%[1]d SELECT seq, CRC32(seq) %% 1000000, '2020-01-01' + INTERVAL CRC32(seq * 3) %% 200000000 SECOND, 1 + CRC32(seq * 5) %% 4,
  CRC32(seq * 7) %% 1000000 / 100,
  CONCAT(ELT(1 + seq %% 5, 'Main Street', 'High Road', 'Station Square', 'Mill Lane', 'Church Walk'), ' ', CRC32(seq * 11) %% 300, ', ', CRC32(seq * 13) %% 90000),
  CONCAT(ELT(1 + CRC32(seq * 17) %% 4, 'Please leave it with the neighbours', 'Call before delivery', 'Gift, no invoice inside', 'As agreed with'), ' ', MD5(seq + %[1]d), ' ',
    ELT(1 + CRC32(seq * 19) %% 3, 'if nobody is at home in the morning', 'between eight and ten', 'on the second floor')),
  UNHEX(MD5(seq * 23)) FROM seq_1_to_%[2]d;`, i, rowsPerTable)
	}
	return m.sql(ctx, sql.String())
}
