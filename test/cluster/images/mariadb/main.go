// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command mariadb is the entrypoint of the database images. Like that of the
// well-known image it fills an empty data folder from environment variables and
// then becomes the server; a command given instead of flags is run as it is. It
// needs no shell, and no root.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	serverPath   = "/usr/sbin/mariadbd"
	socketFolder = "/run/mysqld"
	tmpFolder    = "/tmp"
	dataFolder   = "/var/lib/mysql"
	serverUser   = "mysql"
	serverID     = 999
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "mariadb-entrypoint: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	command, flags := split(args)
	if command != "" {
		path, err := exec.LookPath(command)
		if err != nil {
			return err
		}
		return syscall.Exec(path, args, os.Environ())
	}
	data := dataFolderOf(flags)
	flags, err := serverFlags(flags, data)
	if err != nil {
		return err
	}
	if err := initialise(data, flags); err != nil {
		return fmt.Errorf("initialise %s: %w", data, err)
	}
	return syscall.Exec(serverPath, append([]string{serverPath}, flags...), os.Environ())
}

// split tells a command of its own from flags for the server, which may follow
// the server's name.
func split(args []string) (command string, flags []string) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return "", args
	}
	switch filepath.Base(args[0]) {
	case "mariadbd", "mysqld":
		return "", args[1:]
	}
	return args[0], nil
}

func dataFolderOf(flags []string) string {
	for _, f := range flags {
		if dir, ok := strings.CutPrefix(f, "--datadir="); ok {
			return dir
		}
	}
	return dataFolder
}

// serverFlags puts what this container needs in front of the given flags, which
// win.
func serverFlags(flags []string, data string) ([]string, error) {
	if err := os.MkdirAll(socketFolder, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the socket: %w; mount an emptyDir at /run", err)
	}
	own := []string{
		"--datadir=" + data,
		"--socket=" + filepath.Join(socketFolder, "mysqld.sock"),
		"--pid-file=" + filepath.Join(socketFolder, "mysqld.pid"),
	}
	if !writable(tmpFolder) {
		own = append(own, "--tmpdir="+socketFolder)
	}
	if os.Geteuid() == 0 {
		own = append(own, "--user="+serverUser)
		for _, dir := range []string{data, socketFolder} {
			if err := os.Chown(dir, serverID, serverID); err != nil {
				return nil, err
			}
		}
	}
	return append(own, flags...), nil
}

func writable(dir string) bool {
	f, err := os.CreateTemp(dir, "")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}
