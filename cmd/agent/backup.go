// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/backup"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/dump"
	"example.com/backupjob-operator/cmd/agent/internal/store"
)

const backupHelp = `Dump the databases, compress, store, and then remove what the retention no
longer keeps.

The backup counts only if the dump tool ended well, its closing line was seen,
and what the volume gives back is what was written. If an earlier attempt of
the same run has stored a whole backup, that is the result and nothing is
dumped again. That old backups could not be removed is reported, but is no
failure.

The user needs SELECT, SHOW VIEW, TRIGGER and EVENT on the databases, LOCK
TABLES without --single-transaction, and for routines SELECT ON mysql.proc
(MariaDB, MySQL 5.7) or SHOW_ROUTINE (MySQL 8).`

func (a *app) backupCommand() *cobra.Command {
	var (
		place       placeFlags
		server      serverFlags
		retention   retentionFlags
		options     dump.Options
		scheduled   timeFlag
		compression string
	)
	cmd := &cobra.Command{
		Use:   agent.CommandBackup,
		Short: "Make a backup, then apply the retention",
		Long:  backupHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			a.result, err = backup.Run(cmd.Context(), backup.Options{
				Root:            place.root,
				Run:             store.Run{Owner: place.owner, Scheduled: scheduled.Time, Attempt: attempt()},
				Engine:          server.engine,
				Target:          server.target,
				Credentials:     server.credentialFiles(),
				CredentialsWait: credentials.Wait,
				WorkDir:         server.workDir,
				Dump:            options,
				Compression:     compression,
				Retention:       retention.policy,
				Clock:           a.clock,
				Log:             a.log,
			})
			return err
		},
	}
	place.add(cmd)
	server.add(cmd)
	retention.add(cmd)
	addDumpFlags(cmd, &options)
	flags := cmd.Flags()
	flags.Var(&scheduled, agent.FlagScheduledTime, "the run's time, as in 2027-03-28T02:00:00Z (required)")
	flags.StringVar(&compression, agent.FlagCompression, agent.CompressionZstd, "Zstd, Gzip or None")
	require(cmd, agent.FlagUID, agent.FlagKind, agent.FlagScheduledTime)
	return cmd
}

func addDumpFlags(cmd *cobra.Command, o *dump.Options) {
	flags := cmd.Flags()
	// An array, not a slice: a name may hold a comma.
	flags.StringArrayVar(&o.Databases, agent.FlagDatabase, nil, "a database to dump, may be repeated; none means all but the server's own")
	flags.BoolVar(&o.SingleTransaction, agent.FlagSingleTransaction, true, "dump everything as of one moment, without locking (InnoDB)")
	flags.BoolVar(&o.Routines, agent.FlagRoutines, true, "dump stored procedures and functions")
	flags.BoolVar(&o.Triggers, agent.FlagTriggers, true, "dump triggers")
	flags.BoolVar(&o.Events, agent.FlagEvents, true, "dump events")
	flags.StringArrayVar(&o.IgnoreTables, agent.FlagIgnoreTable, nil, "a table to leave out, written database.table, may be repeated")
	flags.StringVar(&o.SetGTIDPurged, agent.FlagSetGTIDPurged, agent.GTIDPurgedAuto, "Auto, On or Off (MySQL only)")
}

// attempt makes the names of temporary files unique: by the Pod, or, where
// somebody runs the agent by hand, by host and process.
func attempt() string {
	if uid := os.Getenv(agent.EnvPodUID); uid != "" {
		return uid
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
