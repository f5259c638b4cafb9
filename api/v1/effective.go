// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "time"

// Values of the schema's defaults, for readers that meet an object which did
// not come through a server, and for values that are resolved at use.
const (
	DefaultStartingDeadlineSeconds = 3600
	DefaultMaxRetries              = 3
	DefaultActiveDeadlineSeconds   = 21600
	DefaultRetentionDays           = 7
	DefaultMinBackups              = 1
	DefaultSuccessfulJobsHistory   = 3
	DefaultFailedJobsHistory       = 1
	DefaultRunAsID                 = 65532
	DefaultUsernameKey             = "username"
	DefaultPasswordKey             = "password"
	DefaultCAKey                   = "ca.crt"
	DefaultMySQLPort               = 3306
)

// CredentialsSecretName is the name of the Secret with the credentials: the
// one that is set, else "<object name>-credentials".
func CredentialsSecretName(b Backup) string {
	if ref := b.Server().CredentialsSecretRef; ref != nil && ref.Name != nil {
		return *ref.Name
	}
	return b.GetName() + "-credentials"
}

// ClaimName is the name of the claim that keeps the backups: the one that is
// set, else "<object name>-backups".
func ClaimName(b Backup) string {
	if s := b.Policy().Storage; s != nil && s.PersistentVolumeClaim != nil && s.PersistentVolumeClaim.ClaimName != nil {
		return *s.PersistentVolumeClaim.ClaimName
	}
	return b.GetName() + "-backups"
}

// EffectivePort is the port that is set, else the engine's own.
func EffectivePort(b Backup) int32 { return valueOr(b.Server().Port, DefaultMySQLPort) }

// Zone is the name of the schedule's zone; empty means UTC.
func (p *BackupPolicy) Zone() string { return valueOr(p.TimeZone, "") }

// Suspended says whether scheduled runs are stopped.
func (p *BackupPolicy) Suspended() bool { return valueOr(p.Suspend, false) }

// StartingDeadline is how late a run may start.
func (p *BackupPolicy) StartingDeadline() time.Duration {
	return time.Duration(valueOr(p.StartingDeadlineSeconds, DefaultStartingDeadlineSeconds)) * time.Second
}

// Retries is how often a failed run is tried again.
func (p *BackupPolicy) Retries() int32 { return valueOr(p.MaxRetries, DefaultMaxRetries) }

// RetentionDays is how many days a backup is kept.
func (p *BackupPolicy) RetentionDays() int32 {
	if p.Retention == nil {
		return DefaultRetentionDays
	}
	return valueOr(p.Retention.Days, DefaultRetentionDays)
}

// MinBackups is how many of the newest backups are kept whatever their age.
func (p *BackupPolicy) MinBackups() int32 {
	if p.Retention == nil {
		return DefaultMinBackups
	}
	return valueOr(p.Retention.MinBackups, DefaultMinBackups)
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
