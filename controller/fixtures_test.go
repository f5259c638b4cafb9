// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// at reads a time in UTC.
func at(t *testing.T, value string) time.Time {
	t.Helper()
	read, err := time.Parse("2006-01-02 15:04:05", value)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func atPtr(t *testing.T, value string) *metav1.Time {
	t.Helper()
	return second(at(t, value))
}

// nightly is a BackupJob that runs at two in the night, known since the first
// of March.
func nightly(t *testing.T, change ...func(*backupv1.BackupJob)) *backupv1.BackupJob {
	t.Helper()
	b := &backupv1.BackupJob{
		ObjectMeta: metav1.ObjectMeta{
			Name: "nightly", Namespace: "shop", UID: "11111111-2222-3333-4444-555555555555", Generation: 1,
		},
		Spec: backupv1.BackupJobSpec{
			Source:       backupv1.BackupJobSource{Server: backupv1.Server{Host: "db.shop.svc"}},
			BackupPolicy: backupv1.BackupPolicy{Schedule: "0 2 * * *"},
		},
		Status: backupv1.BackupStatus{
			ObservedSchedule: &backupv1.ObservedSchedule{Schedule: "0 2 * * *", Since: atPtr(t, "2027-03-01 12:00:00")},
		},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func mysqlBackup(change ...func(*backupv1.MySQLBackup)) *backupv1.MySQLBackup {
	b := &backupv1.MySQLBackup{
		ObjectMeta: metav1.ObjectMeta{
			Name: "maindb", Namespace: "shop", UID: "66666666-7777-8888-9999-000000000000", Generation: 1,
		},
		Spec: backupv1.MySQLBackupSpec{
			Source: backupv1.MySQLBackupSource{
				Server:    backupv1.Server{Host: "db.shop.svc"},
				Databases: []backupv1.DatabaseName{"user_profiles"},
				Options:   &backupv1.MySQLOptions{},
			},
			BackupPolicy: backupv1.BackupPolicy{Schedule: "0 2 * * *"},
		},
	}
	for _, c := range change {
		c(b)
	}
	return b
}
