// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// DatabaseTags are the images that the operator's defaults name. What is in
// them is Debian's MariaDB server and client, whatever its version: these are
// stand-ins for a machine without a registry, and they speak the protocol and
// write the dumps of the MariaDB that they hold.
var DatabaseTags = []string{"mariadb:11.8.3", "mysql:8.4.6"}

// databaseUser is the user that the server runs as when it is started as root.
const databaseUser = 999

const (
	accounts = "root:x:0:0:root:/root:/bin/sh\nmysql:x:999:999:MariaDB:/var/lib/mysql:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
	groups   = "root:x:0:\nmysql:x:999:\nnogroup:x:65534:\n"
	options  = "[client]\ndefault-character-set = utf8mb4\n\n[mariadbd]\ncharacter-set-server = utf8mb4\nskip-name-resolve\n\n!includedir /etc/mysql/conf.d/\n"
	names    = "hosts: files dns\npasswd: files\ngroup: files\n"
)

// databasePrograms are MariaDB's, and the few of Debian that people use inside
// of a container.
var databasePrograms = []string{
	"mariadbd", "mariadb", "mariadb-admin", "mariadb-check", "mariadb-dump", "mariadb-import",
	"mariadb-tzinfo-to-sql", "my_print_defaults", "resolveip",
	"sh", "bash", "cat", "chmod", "cp", "date", "env", "grep", "gzip", "head", "id", "ls", "mkdir", "mv", "rm",
	"sed", "sha256sum", "sleep", "sort", "tail", "test", "touch", "tr", "true", "wc",
}

// databaseLinks are other names of those programs.
var databaseLinks = map[string]string{
	"mysql":               "mariadb",
	"mysqladmin":          "mariadb-admin",
	"mysqlcheck":          "mariadb-check",
	"mysqldump":           "mariadb-dump",
	"mysqlimport":         "mariadb-import",
	"mysql_tzinfo_to_sql": "mariadb-tzinfo-to-sql",
}

// databaseFolders hold messages, character sets, the text of the system tables
// and the plugins of server and client.
var databaseFolders = []string{
	"/usr/share/mysql/charsets",
	"/usr/share/mysql/english",
	"/usr/lib/mysql/plugin",
	"/usr/lib/*/libmariadb3/plugin",
}

var databaseTexts = []string{
	"/usr/share/mysql/mysql_system_tables.sql",
	"/usr/share/mysql/mysql_performance_tables.sql",
	"/usr/share/mysql/mysql_system_tables_data.sql",
	"/usr/share/mysql/maria_add_gis_sp_bootstrap.sql",
	"/usr/share/mysql/mysql_sys_schema.sql",
	"/usr/bin/mariadb-install-db",
}

// Database is the image of the database, made from the packages that are
// installed on this machine. The entrypoint is our own, see images/mariadb.
func Database(ctx context.Context, entrypoint string) (Spec, error) {
	root := &rootfs{seen: map[string]bool{}}
	for _, name := range databasePrograms {
		if err := root.addProgram(ctx, name); err != nil {
			return Spec{}, err
		}
	}
	for _, pattern := range databaseFolders {
		if err := root.addFolder(ctx, pattern); err != nil {
			return Spec{}, err
		}
	}
	for _, file := range databaseTexts {
		root.add(Entry{Target: file, Source: file})
	}
	for link, program := range databaseLinks {
		root.add(Entry{Target: "/usr/bin/" + link, Link: program})
	}
	root.add(
		Entry{Target: "/usr/local/bin/mariadb-entrypoint", Source: entrypoint},
		Entry{Target: "/usr/sbin/mysqld", Link: "mariadbd"},
		Entry{Target: "/bin/sh", Link: "/usr/bin/sh"},
		Entry{Target: "/bin/bash", Link: "/usr/bin/bash"},
		Entry{Target: "/etc/passwd", Content: accounts},
		Entry{Target: "/etc/group", Content: groups},
		Entry{Target: "/etc/nsswitch.conf", Content: names},
		Entry{Target: "/etc/mysql/my.cnf", Content: options},
		Entry{Target: "/etc/mysql/conf.d"},
		Entry{Target: "/tmp", Mode: 0o1777},
		Entry{Target: "/run/mysqld", Mode: 0o1777, Owner: databaseUser},
		Entry{Target: "/var/lib/mysql", Mode: 0o1777, Owner: databaseUser},
	)
	slices.SortStableFunc(root.entries, func(a, b Entry) int { return strings.Compare(a.Target, b.Target) })
	return Spec{
		Tags:       DatabaseTags,
		Entries:    root.entries,
		Entrypoint: []string{"/usr/local/bin/mariadb-entrypoint"},
	}, nil
}

// DatabaseVersion is the version of the server that goes into the images.
func DatabaseVersion(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "mariadbd", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask MariaDB for its version: %w", err)
	}
	_, version, _ := strings.Cut(string(out), "Ver ")
	version, _, _ = strings.Cut(version, " ")
	return version, nil
}

// rootfs collects programs with the libraries that they are linked with.
type rootfs struct {
	entries []Entry
	seen    map[string]bool
}

func (r *rootfs) add(entries ...Entry) {
	for _, e := range entries {
		if !r.seen[e.Target] {
			r.seen[e.Target] = true
			r.entries = append(r.entries, e)
		}
	}
}

// addProgram puts a program where Debian has it, also if PATH finds it through
// the link that unites /bin and /usr/bin.
func (r *rootfs) addProgram(ctx context.Context, name string) error {
	file, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("find a program for the image: %w", err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return err
	}
	target := filepath.Join(dir, name)
	r.add(Entry{Target: target, Source: target})
	return r.addLibraries(ctx, target)
}

func (r *rootfs) addFolder(ctx context.Context, pattern string) error {
	dirs, err := filepath.Glob(pattern)
	if err != nil || len(dirs) == 0 {
		return errors.Join(fmt.Errorf("no folder %s for the image", pattern), err)
	}
	for _, dir := range dirs {
		files, err := Files(dir, dir)
		if err != nil {
			return err
		}
		r.add(files...)
		for _, e := range files {
			if strings.HasSuffix(e.Source, ".so") {
				if err := r.addLibraries(ctx, e.Source); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *rootfs) addLibraries(ctx context.Context, file string) error {
	out, err := exec.CommandContext(ctx, "ldd", file).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "not a dynamic executable") {
		return fmt.Errorf("list the libraries of %s: %w: %s", file, err, out)
	}
	for _, library := range libraries(string(out)) {
		if _, err := os.Stat(library); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s needs %s, which is missing", file, library)
		}
		r.add(Entry{Target: library, Source: library})
	}
	return nil
}

// libraries picks the paths from what ldd prints: "name => path (address)", or
// "path (address)" for the loader.
func libraries(listing string) []string {
	var paths []string
	for field := range strings.FieldsSeq(listing) {
		if strings.HasPrefix(field, "/") && !strings.HasSuffix(field, ":") {
			paths = append(paths, field)
		}
	}
	return paths
}
