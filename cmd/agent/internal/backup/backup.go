// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup carries out one attempt of one run: dump, compress, sum,
// store, and then retention.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/compress"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/dump"
	"example.com/backupjob-operator/cmd/agent/internal/mysql"
	"example.com/backupjob-operator/cmd/agent/internal/prune"
	"example.com/backupjob-operator/cmd/agent/internal/store"
	"example.com/backupjob-operator/cmd/agent/internal/verify"
)

// Options are everything that an attempt is told.
type Options struct {
	Root        string
	Run         store.Run
	Engine      string
	Target      mysql.Target
	Credentials credentials.Files
	// CredentialsWait is how long missing files are waited for.
	CredentialsWait time.Duration
	WorkDir         string
	Dump            dump.Options
	Compression     string
	Retention       prune.Policy

	Clock clock.PassiveClock
	Log   *slog.Logger
}

// Run carries out the attempt. The result is worth reporting also when there
// is an error. Retention is applied only after a success, and its failure is
// no error.
func Run(ctx context.Context, o Options) (agent.Result, error) {
	start := o.Clock.Now()
	result := agent.Result{StartTime: &start}
	if _, err := compress.Extension(o.Compression); err != nil {
		return result, err
	}
	if err := errors.Join(o.Dump.Validate(), o.Retention.Validate()); err != nil {
		return result, err
	}
	folder, err := store.MakeFolder(o.Root, o.Run.Owner)
	if err != nil {
		return result, err
	}
	defer func() { _ = folder.Close() }()

	b, err := o.obtain(ctx, folder, start)
	if err != nil {
		return result, err
	}
	result.Location = folder.Location(b.File)
	result.SizeBytes, result.SHA256 = b.SizeBytes, b.SHA256
	result.StartTime, result.CompletionTime = &b.StartTime, &b.CompletionTime
	o.Log.Info("The backup is stored", "location", result.Location, "sizeBytes", b.SizeBytes,
		"dumpSizeBytes", b.DumpSizeBytes, "sha256", b.SHA256, "databases", b.Databases)
	o.retain(ctx, folder, &result)
	return result, nil
}

// obtain returns the run's backup: one that an earlier attempt has stored and
// that is whole, or a new one.
func (o Options) obtain(ctx context.Context, folder *store.Folder, start time.Time) (store.Backup, error) {
	recovered, err := folder.Recover(ctx, o.Run, start)
	for _, name := range recovered.Removed {
		o.Log.Info("Removed what an earlier attempt had left", "file", name)
	}
	for _, name := range recovered.Finished {
		o.Log.Info("Completed a backup that an earlier attempt had stored", "file", name)
	}
	if err != nil {
		// What is left over costs room, but is no reason to make no backup.
		o.Log.Warn("Not everything that earlier attempts had left could be cleared up", "reason", err.Error())
	}
	l, err := folder.List()
	if err != nil {
		return store.Backup{}, err
	}
	if b, found := l.Find(o.Run); found {
		err := verify.Check(ctx, folder, b)
		if err == nil {
			o.Log.Info("An earlier attempt of this run has stored the backup already, nothing is dumped again", "file", b.File)
			return b, nil
		}
		if ctx.Err() != nil {
			return store.Backup{}, err
		}
		o.Log.Warn("An earlier attempt's backup is made anew", "reason", err.Error())
	}
	return o.create(ctx, folder, start)
}

// create dumps and stores. On any failure nothing of it stays on the volume.
func (o Options) create(ctx context.Context, folder *store.Folder, start time.Time) (b store.Backup, err error) {
	login, err := credentials.Read(ctx, o.Credentials, o.CredentialsWait)
	if err != nil {
		return store.Backup{}, err
	}
	tools, err := mysql.FindTools(ctx, o.Engine)
	if err != nil {
		return store.Backup{}, err
	}
	client, err := mysql.Connect(ctx, tools, o.Target, login, o.WorkDir, o.Log)
	if err != nil {
		return store.Backup{}, err
	}
	defer client.Close()
	plan, err := dump.Prepare(ctx, client, o.Dump)
	if err != nil {
		return store.Backup{}, err
	}
	o.Log.Info("The dump begins", "server", client.Server.String(), "client", tools.Version.String(),
		"host", o.Target.String(), "databases", plan.Databases)

	pending, err := folder.Create(o.Run)
	if err != nil {
		return store.Backup{}, err
	}
	defer func() { err = errors.Join(err, pending.Abort()) }()
	made, err := o.stream(ctx, plan, pending)
	if err != nil {
		return store.Backup{}, err
	}
	if err := pending.Flush(ctx, made.stored); err != nil {
		return store.Backup{}, err
	}
	extension, err := compress.Extension(o.Compression)
	if err != nil {
		return store.Backup{}, err
	}
	return pending.Commit(store.Manifest{
		Engine:         client.Server.Family,
		ServerVersion:  client.Server.Text,
		ClientVersion:  tools.Version.Text,
		AllDatabases:   plan.All,
		Databases:      plan.Databases,
		StartTime:      start.UTC(),
		CompletionTime: o.Clock.Now().UTC(),
		SizeBytes:      made.stored.Bytes,
		SHA256:         made.stored.SHA256,
		DumpSizeBytes:  made.dumped,
		Compression:    o.Compression,
	}, extension)
}

// retain applies the retention and notes its outcome in the result.
func (o Options) retain(ctx context.Context, folder *store.Folder, result *agent.Result) {
	removed, err := prune.Apply(ctx, folder, o.Run.Owner.UID, o.Retention, o.Clock.Now())
	result.Pruned = removed
	if err != nil {
		result.PruneError = err.Error()
		o.Log.Warn("The backup is good, but old ones could not be removed", "reason", err.Error())
	}
	l, err := folder.List()
	if err != nil {
		return // said already
	}
	own := len(l.Of(o.Run.Owner.UID))
	o.Log.Info("The retention is applied", "removed", removed, "backups", own,
		"ofOtherObjects", len(l.Backups)-own, "unknownFiles", len(l.Unknown))
}

// stream is the pipeline: dump tool, compression, checksum, file.
func (o Options) stream(ctx context.Context, plan *dump.Plan, file io.Writer) (made, error) {
	p, err := newPipeline(o.Compression, file, o.Clock, o.Log)
	if err != nil {
		return made{}, err
	}
	if err := plan.Run(ctx, p); err != nil {
		_ = p.compressor.Close() // frees its memory; the stream is lost anyway
		return made{}, fmt.Errorf("dump: %w", err)
	}
	return p.finish()
}
