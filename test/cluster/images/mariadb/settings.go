// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// settings say what a new server should hold.
type settings struct {
	rootPassword string
	database     string
	user         string
	password     string
}

// readSettings reads the variables of the well-known images: those that start
// with MARIADB_, or with MYSQL_, and each with _FILE behind it for a file that
// holds the value.
func readSettings(lookup func(string) (string, bool)) (settings, error) {
	var (
		s    settings
		errs []error
	)
	read := func(name string) string {
		value, err := variable(lookup, name)
		errs = append(errs, err)
		return value
	}
	s.rootPassword = read("ROOT_PASSWORD")
	s.database = read("DATABASE")
	s.user = read("USER")
	s.password = read("PASSWORD")
	allowed := read("ALLOW_EMPTY_ROOT_PASSWORD") + read("ALLOW_EMPTY_PASSWORD")
	if s.rootPassword == "" && allowed == "" {
		errs = append(errs, errors.New("set MARIADB_ROOT_PASSWORD, or MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1"))
	}
	if s.user != "" && s.password == "" {
		errs = append(errs, errors.New("MARIADB_USER needs MARIADB_PASSWORD"))
	}
	return s, errors.Join(errs...)
}

func variable(lookup func(string) (string, bool), name string) (string, error) {
	for _, prefix := range []string{"MARIADB_", "MYSQL_"} {
		if value, ok := lookup(prefix + name); ok {
			return value, nil
		}
		if file, ok := lookup(prefix + name + "_FILE"); ok {
			content, err := os.ReadFile(file)
			if err != nil {
				return "", fmt.Errorf("%s%s_FILE: %w", prefix, name, err)
			}
			return strings.TrimRight(string(content), "\r\n"), nil
		}
	}
	return "", nil
}

// statements make the accounts. Root may log in over the network too; of the
// other root accounts that a new server has, none keeps its empty password.
func (s settings) statements() []string {
	all := []string{
		"DELETE FROM mysql.global_priv WHERE User <> 'mariadb.sys'",
		"FLUSH PRIVILEGES",
		"CREATE USER 'root'@'localhost' IDENTIFIED BY " + literal(s.rootPassword),
		"CREATE USER 'root'@'%' IDENTIFIED BY " + literal(s.rootPassword),
		"GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' WITH GRANT OPTION",
		"GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION",
	}
	if s.database != "" {
		all = append(all, "CREATE DATABASE "+identifier(s.database))
	}
	if s.user == "" {
		return all
	}
	account := literal(s.user) + "@'%'"
	all = append(all, "CREATE USER "+account+" IDENTIFIED BY "+literal(s.password))
	if s.database != "" {
		// In a grant the database is a pattern.
		pattern := strings.NewReplacer(`_`, `\_`, `%`, `\%`).Replace(s.database)
		all = append(all, "GRANT ALL PRIVILEGES ON "+identifier(pattern)+".* TO "+account)
	}
	return all
}

func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\n", `\n`).Replace(s) + "'"
}

func identifier(s string) string {
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}
