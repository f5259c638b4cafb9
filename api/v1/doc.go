// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the stored version of the API and the hub of conversion:
// BackupJob and MySQLBackup, the policy and the status that both share, and
// accessors through which everything else treats the two kinds alike.
//
// Values that are the same for every object are defaults of the schema, so
// they show in "kubectl explain" and hold while the webhook is away. Once
// released, such a default is frozen.
//
// +kubebuilder:object:generate=true
// +groupName=backup.example.com
package v1
