// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const sqlFolder = "/usr/share/mysql"

// marker lies in a data folder while it is being filled. A server finds no
// database in it, because of the dot.
const marker = ".initialising"

// systemTables are the texts that mariadb-install-db feeds to the server, in
// its order; the help tables are left out.
var systemTables = []string{
	"mysql_system_tables.sql",
	"mysql_performance_tables.sql",
	"mysql_system_tables_data.sql",
	"maria_add_gis_sp_bootstrap.sql",
	"mysql_sys_schema.sql",
}

// initialise fills an empty data folder. If a former attempt was interrupted,
// it starts from the beginning.
func initialise(data string, flags []string) error {
	unfinished := exists(filepath.Join(data, marker))
	if exists(filepath.Join(data, "mysql")) && !unfinished {
		return nil
	}
	wanted, err := readSettings(os.LookupEnv)
	if err != nil {
		return err
	}
	if unfinished {
		if err := wipe(data); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(data, marker), nil, 0o600); err != nil {
		return err
	}
	if err := bootstrap(flags, wanted.statements()); err != nil {
		return err
	}
	return os.Remove(filepath.Join(data, marker))
}

// bootstrap makes the system tables and the accounts in one go. The privilege
// tables count only after they are loaded, so that comes before the accounts.
func bootstrap(flags []string, statements []string) error {
	input := []io.Reader{strings.NewReader("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n")}
	for _, name := range systemTables {
		text, err := os.ReadFile(filepath.Join(sqlFolder, name))
		if err != nil {
			return err
		}
		input = append(input, bytes.NewReader(text))
	}
	accounts := append([]string{"FLUSH PRIVILEGES"}, statements...)
	input = append(input, strings.NewReader("\n"+strings.Join(accounts, ";\n")+";\n"))

	cmd := exec.Command(serverPath, append(flags, "--bootstrap", "--log-warnings=0", "--max-allowed-packet=8M")...)
	cmd.Stdin = io.MultiReader(input...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func wipe(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		// A volume with a file system of its own has this folder.
		if e.Name() != "lost+found" {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
