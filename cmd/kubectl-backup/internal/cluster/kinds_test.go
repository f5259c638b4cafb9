// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
)

func TestParseNameTakesWhatKubectlTakes(t *testing.T) {
	both := []string{"BackupJob", "MySQLBackup"}
	cases := map[string]struct {
		kinds []string
		name  string
	}{
		"nightly":                              {both, "nightly"},
		"db.prod.eu":                           {both, "db.prod.eu"},
		"bj/nightly":                           {both[:1], "nightly"},
		"backupjob/nightly":                    {both[:1], "nightly"},
		"backupjobs/nightly":                   {both[:1], "nightly"},
		"BackupJob/nightly":                    {both[:1], "nightly"},
		"backupjob.backup.example.com/nightly": {both[:1], "nightly"},
		"backupjobs.v1.backup.example.com/nightly": {both[:1], "nightly"},
		"mb/nightly":                              {both[1:], "nightly"},
		"mysqlbackup/db.prod.eu":                  {both[1:], "db.prod.eu"},
		"mysqlbackups.backup.example.com/nightly": {both[1:], "nightly"},
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			kinds, name, err := parseName(text)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, kind := range kinds {
				names = append(names, kind.Name)
			}
			if diff := cmp.Diff(want.kinds, names); diff != "" || name != want.name {
				t.Errorf("got name %q and kinds %s", name, diff)
			}
		})
	}
	for _, text := range []string{"", "/", "bj/", "/nightly", "pod/nightly", "bj/a/b", "backupjob.other.example/nightly", "backupjobs.v2.backup.example.com/x"} {
		if _, _, err := parseName(text); exit.Code(err) != exit.Misused {
			t.Errorf("%q: got %v, want a misuse", text, err)
		}
	}
}

func TestABareNameMustBeThatOfOneObject(t *testing.T) {
	job, mysql := &backupv1.BackupJob{}, &backupv1.MySQLBackup{}
	for name, tc := range map[string]struct {
		found []backupv1.Backup
		want  string
		code  int
	}{
		"one of them": {found: []backupv1.Backup{mysql}},
		"both":        {found: []backupv1.Backup{job, mysql}, want: "write bj/nightly or mb/nightly", code: exit.Misused},
		"neither":     {want: `there is no BackupJob or MySQLBackup "nightly" in namespace "shop"`, code: exit.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := only(tc.found, Kinds, "nightly", "shop")
			if exit.Code(err) != tc.code {
				t.Errorf("got exit code %d, want %d", exit.Code(err), tc.code)
			}
			if err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestExplainTellsAMissingOperatorFromAMissingObject(t *testing.T) {
	resource := schema.GroupResource{Group: backupv1.GroupName, Resource: "backupjobs"}
	missing := apierrors.NewNotFound(resource, "nightly")
	if got := Explain(missing); !errors.Is(got, missing) || got.Error() != missing.Error() {
		t.Errorf("got %v, want it unchanged", got)
	}
	unknown := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", resource, "", "404 page not found", 0, true)
	if got := Explain(unknown); !strings.Contains(got.Error(), "is the operator installed there") || !errors.Is(got, unknown) {
		t.Errorf("got %v", got)
	}
}

func TestDecodeReadsWhatTheServerSends(t *testing.T) {
	from := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "backup.example.com/v1", "kind": "MySQLBackup", "metadata": map[string]any{"name": "a", "namespace": "shop"},
		"spec": map[string]any{"schedule": "@daily", "aFieldOfALaterVersion": true},
	}}
	got, err := Decode(from)
	if err != nil {
		t.Fatal(err)
	}
	want := &backupv1.MySQLBackup{
		TypeMeta:   metav1.TypeMeta{APIVersion: "backup.example.com/v1", Kind: "MySQLBackup"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop"},
		Spec:       backupv1.MySQLBackupSpec{BackupPolicy: backupv1.BackupPolicy{Schedule: "@daily"}},
	}
	if diff := cmp.Diff(backupv1.Backup(want), got); diff != "" {
		t.Error(diff)
	}
	from.SetKind("Pod")
	if _, err := Decode(from); err == nil {
		t.Error("a Pod was taken for one of our kinds")
	}
	if name := FullName("BackupJob", "a") + " " + ShortName("MySQLBackup", "b"); name != "backupjob.backup.example.com/a mb/b" {
		t.Error(name)
	}
}
