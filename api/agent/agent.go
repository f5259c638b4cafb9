// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package agent is the contract between the controller, which writes the
// command line of the agent into a Job, and the agent, which answers with one
// Result in the container's termination message. It knows neither Kubernetes
// nor databases, so both sides can import it.
package agent

// Subcommands of the agent.
const (
	CommandInstall = "install"
	CommandBackup  = "backup"
	CommandPrune   = "prune"
	CommandPurge   = "purge"
	CommandVerify  = "verify"
	CommandRestore = "restore"
	CommandList    = "list"
)

// Flags of the agent, without the leading dashes. A list is given by
// repeating the flag; a value is always passed as --flag=value, so that no
// value can be taken for a flag.
const (
	FlagTo = "to" // install: where the binary goes

	FlagEngine       = "engine" // MySQL or MariaDB
	FlagHost         = "host"
	FlagPort         = "port"
	FlagDatabase     = "database" // repeated; none means all
	FlagUsernameFile = "username-file"
	FlagPasswordFile = "password-file"
	FlagTLSMode      = "tls-mode"
	FlagTLSCAFile    = "tls-ca-file"

	FlagSingleTransaction = "single-transaction"
	FlagRoutines          = "routines"
	FlagTriggers          = "triggers"
	FlagEvents            = "events"
	FlagIgnoreTable       = "ignore-table" // repeated, db.table
	FlagSetGTIDPurged     = "set-gtid-purged"

	FlagRoot          = "root" // where the backups' volume is mounted
	FlagNamespace     = "namespace"
	FlagName          = "name"
	FlagUID           = "uid"
	FlagKind          = "kind"
	FlagScheduledTime = "scheduled-time" // RFC 3339, UTC, to the second
	FlagCompression   = "compression"    // Zstd, Gzip or None
	FlagRetentionDays = "retention-days"
	FlagMinBackups    = "min-backups"
	FlagWorkDir       = "work-dir" // memory-backed, for the client's options file

	FlagTerminationLog = "termination-log"
	FlagFile           = "file"   // restore, verify: a file name below the object's folder
	FlagLatest         = "latest" // restore, verify: the newest backup
	FlagBefore         = "before" // restore, verify: the newest backup at or before this time
	FlagForce          = "force"  // restore: into a target that is not empty
	FlagOutput         = "output" // list: table or json
)

// Values of FlagEngine.
const (
	EngineMySQL   = "MySQL"
	EngineMariaDB = "MariaDB"
)

// Values of FlagCompression.
const (
	CompressionZstd = "Zstd"
	CompressionGzip = "Gzip"
	CompressionNone = "None"
)

// Values of FlagTLSMode.
const (
	TLSDisabled       = "Disabled"
	TLSPreferred      = "Preferred"
	TLSRequired       = "Required"
	TLSVerifyCA       = "VerifyCA"
	TLSVerifyIdentity = "VerifyIdentity"
)

// Values of FlagSetGTIDPurged.
const (
	GTIDPurgedAuto = "Auto"
	GTIDPurgedOn   = "On"
	GTIDPurgedOff  = "Off"
)

// EnvPodUID names the environment variable that carries the Pod's UID. It
// makes the name of a backup's temporary file unique to one attempt.
const EnvPodUID = "POD_UID"

// Paths inside the containers of a run.
const (
	InstallDir     = "/opt/backup-agent"
	InstallPath    = InstallDir + "/agent"
	BackupRoot     = "/backup"
	CredentialsDir = "/etc/backup/credentials"
	CADir          = "/etc/backup/ca"
	WorkDir        = "/run/backup"
	TerminationLog = "/dev/termination-log"
)

// MaxResultBytes is the most that the kubelet keeps of a termination message.
const MaxResultBytes = 4096
