// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/restore"
	"example.com/backupjob-operator/cmd/agent/internal/store"
	"example.com/backupjob-operator/cmd/agent/internal/verify"
)

// stored notes a backup in the result.
func (a *app) stored(b store.Backup) {
	a.result.Location = b.Object.Namespace + "/" + b.Object.Name + "/" + b.File
	a.result.SizeBytes, a.result.SHA256 = b.SizeBytes, b.SHA256
}

func (a *app) verifyCommand() *cobra.Command {
	var (
		place  placeFlags
		choice choiceFlags
	)
	cmd := &cobra.Command{
		Use:   agent.CommandVerify,
		Short: "Check that a backup is what was once written",
		Long: `Read the whole backup, compare its checksum with the manifest, decompress it
and look for the dump's closing line. Nothing is changed and no server is
needed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, b, err := choice.choice().Open(place.root, place.owner)
			if err != nil {
				return err
			}
			defer func() { _ = folder.Close() }()
			a.stored(b)
			if err := verify.Check(cmd.Context(), folder, b); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s is whole: %d bytes, sha256 %s, dump of %d bytes to its closing line\n",
				folder.Location(b.File), b.SizeBytes, b.SHA256, b.DumpSizeBytes)
			return err
		},
	}
	place.add(cmd)
	choice.add(cmd)
	return cmd
}

const restoreHelp = `Check a backup and send it to a server.

Nothing is sent unless the whole backup is good. A target in which a database
of the backup has tables is refused; with --force the tables that the backup
has are replaced and others stay. If the server refuses something half-way,
the restore fails and the databases have to be dropped before the next try.

Without --uid the backups of every object of that name are looked at, also
those from before it was recreated.

The user needs all rights on the databases, and, where views, triggers,
routines or events were made by somebody else, SET USER (MariaDB) or
SET_USER_ID or SET_ANY_DEFINER (MySQL).`

func (a *app) restoreCommand() *cobra.Command {
	var (
		place  placeFlags
		server serverFlags
		choice choiceFlags
		force  bool
	)
	cmd := &cobra.Command{
		Use:   agent.CommandRestore,
		Short: "Bring a backup back into a server",
		Long:  restoreHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start := a.clock.Now()
			a.result.StartTime = &start
			b, err := restore.Run(cmd.Context(), restore.Options{
				Root:            place.root,
				Owner:           place.owner,
				Choice:          choice.choice(),
				Engine:          server.engine,
				Target:          server.target,
				Credentials:     server.credentialFiles(),
				CredentialsWait: credentials.Wait,
				WorkDir:         server.workDir,
				Force:           force,
				Log:             a.log,
			})
			if b.File != "" {
				a.stored(b)
			}
			if err != nil {
				return err
			}
			end := a.clock.Now()
			a.result.CompletionTime = &end
			return nil
		},
	}
	place.add(cmd)
	server.add(cmd)
	choice.add(cmd)
	cmd.Flags().BoolVar(&force, agent.FlagForce, false, "restore also into databases that have tables")
	return cmd
}
