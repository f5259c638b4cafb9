// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/credentials"
	"example.com/backupjob-operator/cmd/agent/internal/mysql"
	"example.com/backupjob-operator/cmd/agent/internal/prune"
	"example.com/backupjob-operator/cmd/agent/internal/store"
)

// timeFlag is a flag that holds a time. Empty means the zero time.
type timeFlag struct{ time.Time }

// String shows the value.
func (t *timeFlag) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// Set reads the value, to the second and in UTC.
func (t *timeFlag) Set(value string) error {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return err
	}
	t.Time = at.UTC().Truncate(time.Second)
	return nil
}

// Type is shown in the help.
func (t *timeFlag) Type() string { return "time" }

// require makes flags mandatory. That a flag exists is a matter of these
// few lines, so its absence is a programming error.
func require(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// placeFlags say where an object's backups are.
type placeFlags struct {
	root  string
	owner store.Owner
}

func (f *placeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.root, agent.FlagRoot, agent.BackupRoot, "where the backups' volume is mounted")
	flags.StringVar(&f.owner.Namespace, agent.FlagNamespace, "", "namespace of the object (required)")
	flags.StringVar(&f.owner.Name, agent.FlagName, "", "name of the object (required)")
	flags.StringVar(&f.owner.UID, agent.FlagUID, "", "UID of the object")
	flags.StringVar(&f.owner.Kind, agent.FlagKind, "", "kind of the object: BackupJob or MySQLBackup")
	require(cmd, agent.FlagNamespace, agent.FlagName)
}

// serverFlags say which server, and how to log in.
type serverFlags struct {
	engine  string
	target  mysql.Target
	files   credentials.Files
	workDir string
}

func (f *serverFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.engine, agent.FlagEngine, agent.EngineMySQL, "whose client to prefer: MySQL or MariaDB")
	flags.StringVar(&f.target.Host, agent.FlagHost, "", "DNS name or address of the server (required)")
	flags.IntVar(&f.target.Port, agent.FlagPort, mysql.DefaultPort, "port of the server")
	flags.StringVar(&f.files.Username, agent.FlagUsernameFile, filepath.Join(agent.CredentialsDir, "username"), "file with the user's name")
	flags.StringVar(&f.files.Password, agent.FlagPasswordFile, filepath.Join(agent.CredentialsDir, "password"), "file with the password")
	flags.StringVar(&f.target.TLS.Mode, agent.FlagTLSMode, agent.TLSPreferred, "Disabled, Preferred, Required, VerifyCA or VerifyIdentity")
	flags.StringVar(&f.target.TLS.CAFile, agent.FlagTLSCAFile, "", "file with the authority's certificate")
	flags.StringVar(&f.workDir, agent.FlagWorkDir, agent.WorkDir, "folder in memory, for the client's options file")
	require(cmd, agent.FlagHost)
}

// credentialFiles are the files to read and to wait for.
func (f *serverFlags) credentialFiles() credentials.Files {
	files := f.files
	files.CA = f.target.TLS.CAFile
	return files
}

// retentionFlags say what is kept.
type retentionFlags struct{ policy prune.Policy }

func (f *retentionFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.policy.Days, agent.FlagRetentionDays, 7, "days for which a backup is kept")
	flags.IntVar(&f.policy.MinBackups, agent.FlagMinBackups, 1, "newest complete backups that are kept whatever their age")
}

// choiceFlags say which backup is meant.
type choiceFlags struct {
	file   string
	latest bool
	before timeFlag
}

func (f *choiceFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, agent.FlagFile, "", "the backup's file, as 'agent list' shows it")
	flags.BoolVar(&f.latest, agent.FlagLatest, false, "the newest complete backup")
	flags.Var(&f.before, agent.FlagBefore, "the newest complete backup at or before this time, as in 2027-03-28T02:00:00Z")
	cmd.MarkFlagsOneRequired(agent.FlagFile, agent.FlagLatest, agent.FlagBefore)
	cmd.MarkFlagsMutuallyExclusive(agent.FlagFile, agent.FlagLatest, agent.FlagBefore)
}

func (f *choiceFlags) choice() store.Choice {
	return store.Choice{File: f.file, Latest: f.latest, Before: f.before.Time}
}
