// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/cmd/agent/internal/mysql"
)

func TestMissingGrants(t *testing.T) {
	var (
		mysql8019 = version("MySQL", 8, 0, 19)
		backup    = "GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON *.* TO `b`@`%`"
	)
	cases := map[string]struct {
		server    mysql.Version
		options   Options
		databases string
		grants    []string
		want      string
	}{
		"root of MariaDB": {
			mariadb10, all, "shop",
			[]string{"GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket WITH GRANT OPTION", "GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION"},
			"",
		},
		"root of MySQL 8": {
			mysql80, all, "shop",
			[]string{
				"GRANT SELECT, INSERT, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER, CREATE ROLE ON *.* TO `root`@`localhost` WITH GRANT OPTION",
				"GRANT APPLICATION_PASSWORD_ADMIN,AUDIT_ADMIN,SHOW_ROUTINE,XA_RECOVER_ADMIN ON *.* TO `root`@`localhost` WITH GRANT OPTION",
				"GRANT PROXY ON ``@`` TO `root`@`localhost` WITH GRANT OPTION",
			}, "",
		},
		"a backup user of MySQL 5.7": {
			mysql57, all, "shop",
			[]string{"GRANT USAGE ON *.* TO 'b'@'%'", "GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON `shop`.* TO 'b'@'%'", "GRANT SELECT ON `mysql`.`proc` TO 'b'@'%'"}, "",
		},
		"no routines, MySQL 5.7": {
			mysql57, all, "shop", []string{"GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON `shop`.* TO 'b'@'%'"}, "SELECT ON `mysql`.`proc`",
		},
		"no routines, MySQL 8.0.19": {
			mysql8019, all, "shop", []string{"GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON `shop`.* TO `b`@`%`"}, "SELECT ON *.*",
		},
		"no routines, MySQL 8.0.36": {
			mysql80, all, "shop", []string{"GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON `shop`.* TO `b`@`%`"}, "SHOW_ROUTINE ON *.*",
		},
		"routines by SHOW_ROUTINE": {
			mysql80, all, "shop", []string{"GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON `shop`.* TO `b`@`%`", "GRANT SHOW_ROUTINE ON *.* TO `b`@`%`"}, "",
		},
		"routines by MariaDB's newer privilege": {
			mariadb11, all, "shop", []string{"GRANT SELECT, SHOW VIEW, EVENT, TRIGGER, SHOW CREATE ROUTINE ON `shop`.* TO `b`@`%`"}, "",
		},
		"mysql.proc means nothing in MySQL 8": {
			mysql80, all, "shop", []string{"GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON `shop`.* TO `b`@`%`", "GRANT SELECT ON `mysql`.* TO `b`@`%`"}, "SHOW_ROUTINE ON *.*",
		},
		"nothing at all": {
			mariadb10, all, "shop", []string{"GRANT USAGE ON *.* TO `b`@`%` IDENTIFIED BY PASSWORD '*D8'"},
			"SELECT, SHOW VIEW, TRIGGER, EVENT ON `shop`.*; SELECT ON `mysql`.`proc`",
		},
		"one of several databases": {
			mariadb10, all, "shop tick`s", []string{"GRANT ALL PRIVILEGES ON `shop`.* TO `b`@`%`", "GRANT SELECT, SHOW VIEW, EXECUTE ON `tick``s`.* TO `b`@`%`"},
			"TRIGGER, EVENT ON `tick``s`.*",
		},
		"a pattern": {
			mariadb10, all, "app_1 app_22", []string{"GRANT ALL PRIVILEGES ON `app\\_%`.* TO `b`@`%`"}, "",
		},
		"a pattern that is another": {
			mariadb10, Options{SingleTransaction: true}, "appx1", []string{"GRANT ALL PRIVILEGES ON `app\\_1`.* TO `b`@`%`"}, "SELECT, SHOW VIEW ON `appx1`.*",
		},
		"a pattern with a free character": {
			mariadb10, all, "app-1", []string{"GRANT ALL PRIVILEGES ON `app_1`.* TO `b`@`%`"}, "",
		},
		"some tables only": {
			mariadb10, Options{SingleTransaction: true}, "shop", []string{"GRANT SELECT, SHOW VIEW ON `shop`.`a table` TO `b`@`%`"}, "",
		},
		"some columns only": {
			mariadb10, Options{SingleTransaction: true}, "shop", []string{"GRANT SELECT (`a`, `b, c`), SHOW VIEW ON `shop`.`t` TO `b`@`%`"}, "",
		},
		"no lock tables": {
			mariadb10, Options{}, "shop", []string{backup}, "LOCK TABLES ON `shop`.*",
		},
		"everything global": {mysql80, all, "shop", []string{backup}, ""},
		"MariaDB's role is shown with its grants": {
			mariadb10, all, "shop", []string{"GRANT `r` TO `b`@`%`", "GRANT USAGE ON *.* TO `b`@`%`", backup, "SET DEFAULT ROLE `r` FOR `b`@`%`"}, "",
		},
		"what MariaDB grants to everybody": {
			mariadb10, all, "shop", []string{"GRANT USAGE ON *.* TO `b`@`%`", "GRANT SELECT, SHOW VIEW, EVENT, TRIGGER ON *.* TO PUBLIC"}, "",
		},
		"MySQL's role is not, so nothing is certain": {
			mysql80, all, "shop", []string{"GRANT USAGE ON *.* TO `b`@`%`", "GRANT `r`@`%` TO `b`@`%`"}, "uncertain",
		},
		"a line that nobody understands": {
			mariadb10, all, "shop", []string{"GRANT SOMETHING FOR EVERYBODY"}, "uncertain",
		},
		"a right on a routine is none on the data": {
			mariadb10, Options{SingleTransaction: true}, "shop", []string{"GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `b`@`%`", "REVOKE INSERT ON `shop`.* FROM `b`@`%`"}, "SELECT, SHOW VIEW ON `shop`.*",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			grants, certain := parseGrants(tc.grants, tc.server)
			if !certain {
				if tc.want != "uncertain" {
					t.Error("the grants are not understood")
				}
				return
			}
			got := strings.Join(missingGrants(grants, tc.server, tc.options, strings.Fields(tc.databases)), "; ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
