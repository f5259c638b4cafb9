// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore brings a stored backup back into a server.
package restore

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"example.com/backupjob-operator/cmd/agent/internal/compress"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/hash"
	"example.com/backupjob-operator/cmd/agent/internal/mysql"
	"example.com/backupjob-operator/cmd/agent/internal/store"
	"example.com/backupjob-operator/cmd/agent/internal/verify"
)

// Options are everything that a restore is told.
type Options struct {
	Root   string
	Owner  store.Owner
	Choice store.Choice

	Engine          string
	Target          mysql.Target
	Credentials     credentials.Files
	CredentialsWait time.Duration
	WorkDir         string
	// Force restores also into databases that have tables. Tables of the
	// backup replace those of the same name; others stay.
	Force bool

	Log *slog.Logger
}

// Run restores the chosen backup. It is read twice: once to prove that it is
// whole before the server is touched, and once to restore it.
func Run(ctx context.Context, o Options) (store.Backup, error) {
	folder, b, err := o.Choice.Open(o.Root, o.Owner)
	if err != nil {
		return store.Backup{}, err
	}
	defer func() { _ = folder.Close() }()
	o.Log.Info("The backup is being checked", "location", folder.Location(b.File), "scheduledTime", b.ScheduledTime,
		"server", b.ServerVersion, "databases", b.Databases)
	if err := verify.Check(ctx, folder, b); err != nil {
		return b, err
	}
	client, err := o.connect(ctx)
	if err != nil {
		return b, err
	}
	defer client.Close()
	if client.Server.Family != b.Engine {
		o.Log.Warn("The backup is of another kind of server, not every statement may be understood",
			"backup", b.Engine, "server", client.Server.String())
	}
	if err := o.checkEmpty(ctx, client, b.Databases); err != nil {
		return b, err
	}
	o.Log.Info("The restore begins", "host", o.Target.String(), "server", client.Server.String(),
		"dumpSizeBytes", b.DumpSizeBytes)
	if err := stream(ctx, folder, b, client, o.Log); err != nil {
		return b, fmt.Errorf("restore %s into %s: %w (the databases there are half restored now: drop them and start again)",
			folder.Location(b.File), o.Target, err)
	}
	o.Log.Info("The backup is restored", "location", folder.Location(b.File), "databases", b.Databases)
	return b, nil
}

func (o Options) connect(ctx context.Context) (*mysql.Client, error) {
	login, err := credentials.Read(ctx, o.Credentials, o.CredentialsWait)
	if err != nil {
		return nil, err
	}
	tools, err := mysql.FindTools(ctx, o.Engine)
	if err != nil {
		return nil, err
	}
	return mysql.Connect(ctx, tools, o.Target, login, o.WorkDir, o.Log)
}

// checkEmpty refuses a target in which a database of the backup has tables.
func (o Options) checkEmpty(ctx context.Context, client *mysql.Client, databases []string) error {
	if o.Force {
		return nil
	}
	there, err := client.DatabasesWithTables(ctx)
	if err != nil {
		return fmt.Errorf("look whether the target is empty: %w", err)
	}
	var full []string
	for _, name := range databases {
		if slices.ContainsFunc(there, func(t string) bool { return strings.EqualFold(t, name) }) {
			full = append(full, "'"+name+"'")
		}
	}
	if len(full) > 0 {
		return fmt.Errorf("the target %s is not empty, it has tables in %s: restore into another server, "+
			"drop these databases, or give --force to replace the tables that the backup has too",
			o.Target, strings.Join(full, ", "))
	}
	return nil
}

// stream sends the dump to the server.
func stream(ctx context.Context, folder *store.Folder, b store.Backup, client *mysql.Client, log *slog.Logger) error {
	file, err := folder.Open(b.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	plain, err := compress.NewReader(b.Compression, hash.Reader(ctx, file))
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()
	return client.Execute(ctx, skipSandbox(&progress{next: plain, log: log, total: b.DumpSizeBytes}))
}

// sandbox begins the first line of newer dumps of MariaDB. It tells the
// client to obey no command to itself, which it does not anyway in its
// binary mode, and it is an error for the clients that do not know it:
// MySQL's, and MariaDB's own older ones.
var sandbox = []byte(`/*M!999999\-`)

// skipSandbox leaves that line out.
func skipSandbox(r io.Reader) io.Reader {
	const longest = 128
	b := bufio.NewReaderSize(r, longest)
	start, _ := b.Peek(longest) // an error comes again when it is read
	if line, _, found := bytes.Cut(start, []byte("\n")); found && bytes.HasPrefix(line, sandbox) {
		_, _ = b.Discard(len(line) + 1) // was peeked
	}
	return b
}
