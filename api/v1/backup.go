// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Backup is what both kinds have in common. Everything behind the types works
// through it, so that another kind costs types, a conversion and accessors.
// +kubebuilder:object:generate=false
type Backup interface {
	metav1.Object
	runtime.Object

	// Kind is the object's kind, also where its TypeMeta is empty.
	Kind() string
	// Policy is the part of the spec that all kinds share.
	Policy() *BackupPolicy
	// RunStatus is the status that all kinds share.
	RunStatus() *BackupStatus
	// Server is the part of the source that all kinds share.
	Server() *Server
	// Engine is the kind of database server.
	Engine() Engine
	// Databases are the names of the databases; none means all.
	Databases() []DatabaseName
	// DumpOptions are the options of the dump, nil where the kind has none.
	DumpOptions() *MySQLOptions
}

var (
	_ Backup = &BackupJob{}
	_ Backup = &MySQLBackup{}
)

// Kind returns BackupJob.
func (b *BackupJob) Kind() string { return KindBackupJob }

// Policy returns the shared part of the spec.
func (b *BackupJob) Policy() *BackupPolicy { return &b.Spec.BackupPolicy }

// RunStatus returns the shared status.
func (b *BackupJob) RunStatus() *BackupStatus { return &b.Status }

// Server returns the shared part of the source.
func (b *BackupJob) Server() *Server { return &b.Spec.Source.Server }

// Engine returns the source's engine, MySQL if it is unset.
func (b *BackupJob) Engine() Engine {
	if b.Spec.Source.Engine == "" {
		return EngineMySQL
	}
	return b.Spec.Source.Engine
}

// Databases returns the names of the databases; none means all.
func (b *BackupJob) Databases() []DatabaseName { return b.Spec.Source.Databases }

// DumpOptions returns nil: a BackupJob has no options of one engine.
func (b *BackupJob) DumpOptions() *MySQLOptions { return nil }

// Kind returns MySQLBackup.
func (b *MySQLBackup) Kind() string { return KindMySQLBackup }

// Policy returns the shared part of the spec.
func (b *MySQLBackup) Policy() *BackupPolicy { return &b.Spec.BackupPolicy }

// RunStatus returns the shared status.
func (b *MySQLBackup) RunStatus() *BackupStatus { return &b.Status }

// Server returns the shared part of the source.
func (b *MySQLBackup) Server() *Server { return &b.Spec.Source.Server }

// Engine returns MySQL; the agent finds out whether the server is a MariaDB.
func (b *MySQLBackup) Engine() Engine { return EngineMySQL }

// Databases returns the names of the databases.
func (b *MySQLBackup) Databases() []DatabaseName { return b.Spec.Source.Databases }

// DumpOptions returns the options of the dump.
func (b *MySQLBackup) DumpOptions() *MySQLOptions { return b.Spec.Source.Options }
