// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package crd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCRDsHoldBothKindsWithOneStoredVersion(t *testing.T) {
	definitions, err := CRDs()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			if version.Storage {
				got = append(got, definition.Spec.Names.Kind+" "+version.Name)
			}
		}
	}
	want := []string{"BackupJob v1", "MySQLBackup v1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored versions (-want +got):\n%s", diff)
	}
}

func TestCRDsGivesEachCallerItsOwnCopy(t *testing.T) {
	first, err := CRDs()
	if err != nil {
		t.Fatal(err)
	}
	first[0].Name = "changed"
	second, err := CRDs()
	if err != nil {
		t.Fatal(err)
	}
	if second[0].Name == "changed" {
		t.Error("a change to one result shows in the next one")
	}
}
