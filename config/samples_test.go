// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// The manifests of the two systems that this one replaces, with the one line
// that their users change.
const (
	oldMySQLBackup = `apiVersion: backup.example.com/v1alpha1
kind: MySQLBackup
metadata: {name: backup-maindb}
spec:
  host: "mysql-primary.default.svc.cluster.local:3306"
  database: "user_profiles"
  backupSchedule: "0 2 * * *"
  secretRef: "mysql-secret"
`
	oldBackupJob = `apiVersion: backup.example.com/v1alpha1
kind: BackupJob
metadata: {name: nightly}
spec:
  databaseHost: "mysql-primary.default.svc.cluster.local:3306"
  schedule: "0 2 * * *"
  retentionDays: 7
  maxRetries: 3
`
)

// TestSamples decodes each file strictly and expects the object with the
// Secret and the claim that it uses, so that the file is enough by itself.
func TestSamples(t *testing.T) {
	cases := map[string]struct{ file, version, kind, name, secret, claim, verbatim string }{
		"BackupJob v1":        {file: "v1_backupjob.yaml", version: "v1", kind: "BackupJob", name: "orders", secret: "orders-credentials", claim: "orders-backups"},
		"MySQLBackup v1":      {file: "v1_mysqlbackup.yaml", version: "v1", kind: "MySQLBackup", name: "shop", secret: "shop-backup-login", claim: "team-backups"},
		"the old BackupJob":   {file: "v1alpha1_backupjob.yaml", version: "v1alpha1", kind: "BackupJob", name: "nightly", secret: "nightly-credentials", claim: "nightly-backups", verbatim: oldBackupJob},
		"the old MySQLBackup": {file: "v1alpha1_mysqlbackup.yaml", version: "v1alpha1", kind: "MySQLBackup", name: "backup-maindb", secret: "mysql-secret", claim: "backup-maindb-backups", verbatim: oldMySQLBackup},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("samples", tc.file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), tc.verbatim) {
				t.Errorf("%s does not hold the old manifest exactly as it stood", tc.file)
			}
			m := decode(t, data)
			want := []string{
				"backup.example.com/" + tc.version + " " + tc.kind + " " + tc.name,
				"v1 Secret " + tc.secret, "v1 PersistentVolumeClaim " + tc.claim,
			}
			if diff := cmp.Diff(want, contents(m)); diff != "" {
				t.Errorf("the object, its Secret and its claim (-want +got):\n%s", diff)
			}
			checkCredentials(t, named[*corev1.Secret](t, m, tc.secret).StringData)
		})
	}
}

func checkCredentials(t *testing.T, credentials map[string]string) {
	t.Helper()
	for _, key := range []string{"username", "password"} {
		if !strings.Contains(credentials[key], "example") {
			t.Errorf("the %s does not say that it is an example", key)
		}
	}
}

// contents lists version, kind and name of each object.
func contents(m manifests) []string {
	var list []string
	for _, object := range m {
		kind := object.GetObjectKind().GroupVersionKind()
		list = append(list, kind.GroupVersion().String()+" "+kind.Kind+" "+object.GetName())
	}
	return list
}

func TestSamplesRenderTogether(t *testing.T) {
	if m := render(t, "samples"); len(m) != 12 {
		t.Errorf("%d objects, want three per sample", len(m))
	}
}
