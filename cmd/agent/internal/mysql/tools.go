// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"example.com/backupjob-operator/api/agent"
)

// Tools are the programs of one client family.
type Tools struct {
	// Dump and SQL are the paths of the dump tool and of the client.
	Dump, SQL string
	Version   Version
}

// names are the two programs under the names that the families use. The
// clients of MariaDB had MySQL's names before, and many images still do.
var names = []Tools{
	{Dump: "mysqldump", SQL: "mysql"},
	{Dump: "mariadb-dump", SQL: "mariadb"},
}

// FindTools looks for the programs in the PATH, those of the engine first.
func FindTools(ctx context.Context, engine string) (Tools, error) {
	candidates := slices.Clone(names)
	if engine == agent.EngineMariaDB {
		slices.Reverse(candidates)
	}
	for _, c := range candidates {
		dump, errDump := exec.LookPath(c.Dump)
		sql, errSQL := exec.LookPath(c.SQL)
		if errDump != nil || errSQL != nil {
			continue
		}
		tools := Tools{Dump: dump, SQL: sql}
		printed, err := printVersion(ctx, dump)
		if err != nil {
			return Tools{}, err
		}
		tools.Version, err = ParseClient(printed)
		return tools, err
	}
	return Tools{}, fmt.Errorf("this image has neither mysqldump with mysql nor mariadb-dump with mariadb: "+
		"set spec.podTemplate.image to the server's own image, for instance %s", exampleImage(engine))
}

func exampleImage(engine string) string {
	if engine == agent.EngineMariaDB {
		return "mariadb:11.4"
	}
	return "mysql:8.4"
}

func printVersion(ctx context.Context, path string) (string, error) {
	cmd := exec.CommandContext(ctx, path, "--no-defaults", "--version")
	cmd.Env = environment("/nonexistent")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	return string(out), nil
}

// passedOn are the only variables that a client inherits: where programs,
// libraries and trusted certificates are. MYSQL_HOST, MYSQL_PWD, HOME with
// its my.cnf and the like would change what it does.
var passedOn = []string{"PATH", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// environment is what a client sees. Its home is a folder of ours, so that no
// login path of a user is read, and what it prints is English in UTF-8.
func environment(home string) []string {
	env := []string{"HOME=" + home, "LC_ALL=C.UTF-8", "TZ=UTC"}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(passedOn, name) {
			env = append(env, kv)
		}
	}
	return env
}

// grace is how long a client's output may stay open after the client is
// gone.
const grace = 5 * time.Second
