// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// walk calls visit with the path and the schema of everything below.
func walk(path string, props *apiextensionsv1.JSONSchemaProps, visit func(string, *apiextensionsv1.JSONSchemaProps)) {
	if path != "" {
		visit(path, props)
	}
	for _, name := range sortedNames(props.Properties) {
		property := props.Properties[name]
		walk(strings.TrimPrefix(path+"."+name, "."), &property, visit)
	}
	if props.Items != nil && props.Items.Schema != nil {
		walk(path+"[0]", props.Items.Schema, visit)
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		walk(path+"[a.b/c]", props.AdditionalProperties.Schema, visit)
	}
}

func pathsOf(s schema) map[string]*apiextensionsv1.JSONSchemaProps {
	paths := map[string]*apiextensionsv1.JSONSchemaProps{}
	walk("", s.props, func(path string, props *apiextensionsv1.JSONSchemaProps) { paths[path] = props })
	return paths
}

// known says whether a path is a field of the table, or lies below one, or leads to one.
func known(kind, path string, side func(Pair) string) bool {
	for _, p := range Pairs(kind) {
		_, below := cutPath(path, side(p))
		_, above := cutPath(side(p), path)
		if below || above {
			return true
		}
	}
	return false
}

func TestTheTableKnowsEveryPathOfBothVersions(t *testing.T) {
	sides := map[string]func(Pair) string{oldVersion: func(p Pair) string { return p.Old }, newVersion: func(p Pair) string { return p.New }}
	for _, s := range schemasOf(t) {
		for path := range pathsOf(s) {
			if !known(s.kind, path, sides[s.version]) {
				t.Errorf("%s of %s has %s, which the table does not know", s.kind, s.version, path)
			}
		}
		for _, p := range Pairs(s.kind) {
			if path := sides[s.version](p); pathsOf(s)[path] == nil {
				t.Errorf("the table of %s has %s, which %s does not have", s.kind, path, s.version)
			}
		}
	}
}

// TestEveryPathOfV1HasAHomeInV1alpha1 also compares the types: a home of another type is none. Where a
// value changes its shape on the way, the round trips prove the home.
func TestEveryPathOfV1HasAHomeInV1alpha1(t *testing.T) {
	reshaped := map[string]bool{
		"spec.source": true, "spec.source.host": true, "spec.source.port": true, "spec.source.databases": true,
		"spec.source.databases[0]": true, "spec.source.credentialsSecretRef": true, "spec.schedule": true,
		"spec.timeZone": true, "spec.retention": true, "spec.storage": true, "spec.storage.persistentVolumeClaim": true,
	}
	for _, kind := range []string{"BackupJob", "MySQLBackup"} {
		homes := pathsOf(schemaOf(t, kind, oldVersion))
		for path, props := range pathsOf(schemaOf(t, kind, newVersion)) {
			home := homes[OldPath(kind, path)]
			switch {
			case home == nil:
				t.Errorf("%s: %s has no home in v1alpha1, %s is none", kind, path, OldPath(kind, path))
			case !reshaped[path] && path != "spec" && path != "status" && !reflect.DeepEqual(bounds(props), bounds(home)):
				t.Errorf("%s: %s and %s differ:\n%s", kind, path, OldPath(kind, path), cmp.Diff(bounds(props), bounds(home)))
			}
		}
		for path := range homes {
			if path := NewPath(kind, path); pathsOf(schemaOf(t, kind, newVersion))[path] == nil && path != "spec.credentialKeys" {
				t.Errorf("%s: NewPath gives %s, which v1 does not have", kind, path)
			}
		}
	}
}

// bounds is what a schema lets in, without what it says about it and what lies below.
func bounds(props *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	b := props.DeepCopy()
	b.Description, b.Default, b.Properties, b.Items, b.AdditionalProperties = "", nil, nil, nil, nil
	return b
}

func TestOldPath(t *testing.T) {
	for path, want := range map[string]string{
		"metadata.name":                                "metadata.name",
		"spec":                                         "spec",
		"spec.source":                                  "spec",
		"spec.source.host":                             "spec.host",
		"spec.source.port":                             "spec.host",
		"spec.source.databases":                        "spec.database",
		"spec.source.databases[0]":                     "spec.database",
		"spec.source.databases[1]":                     "spec.databases[1]",
		"spec.source.credentialsSecretRef":             "spec.secretRef",
		"spec.source.credentialsSecretRef.name":        "spec.secretRef",
		"spec.source.credentialsSecretRef.usernameKey": "spec.credentialKeys.usernameKey",
		"spec.source.tls.caSecretRef.name":             "spec.tls.caSecretRef.name",
		"spec.source.options.ignoreTables[2]":          "spec.options.ignoreTables[2]",
		"spec.source.unknown":                          "spec.source.unknown",
		"spec.sourceful":                               "spec.sourceful",
		"spec.schedule":                                "spec.backupSchedule",
		"spec.timeZone":                                "spec.backupSchedule",
		"spec.retention":                               "spec.retentionDays",
		"spec.retention.days":                          "spec.retentionDays",
		"spec.retention.minBackups":                    "spec.minBackups",
		"spec.storage":                                 "spec.storageClaim",
		"spec.storage.persistentVolumeClaim.claimName": "spec.storageClaim",
		"spec.storage.persistentVolumeClaim.subPath":   "spec.storage.persistentVolumeClaim.subPath",
		"spec.podTemplate.labels[a.b/c]":               "spec.podTemplate.labels[a.b/c]",
		"status.lastScheduleTime":                      "status.lastBackupTime",
		"status.lastBackupTime":                        "status.lastCompletionTime",
		"status.phase":                                 "status.phase",
		"":                                             "",
	} {
		if got := OldPath("MySQLBackup", path); got != want {
			t.Errorf("OldPath(%q) = %q, want %q", path, got, want)
		}
	}
	if got := OldPath("BackupJob", "spec.source.host"); got != "spec.databaseHost" {
		t.Errorf("the host of a BackupJob is %q", got)
	}
	if got := OldPath("Pod", "spec.source.host"); got != "spec.source.host" {
		t.Errorf("another kind's path became %q", got)
	}
}

func TestNewPath(t *testing.T) {
	for path, want := range map[string]string{
		"spec.databaseHost":                  "spec.source.host",
		"spec.database":                      "spec.source.databases[0]",
		"spec.databases[3]":                  "spec.source.databases[3]",
		"spec.secretRef":                     "spec.source.credentialsSecretRef.name",
		"spec.credentialKeys.usernameKey":    "spec.source.credentialsSecretRef.usernameKey",
		"spec.schedule":                      "spec.schedule",
		"spec.timeZone":                      "spec.timeZone",
		"spec.retentionDays":                 "spec.retention.days",
		"spec.storageClaim":                  "spec.storage.persistentVolumeClaim.claimName",
		"spec.storage.persistentVolumeClaim": "spec.storage.persistentVolumeClaim",
		"spec.engine":                        "spec.source.engine",
		"status.lastBackupTime":              "status.lastBackupTime",
		"spec.unknown":                       "spec.unknown",
	} {
		if got := NewPath("BackupJob", path); got != want {
			t.Errorf("NewPath(%q) = %q, want %q", path, got, want)
		}
	}
	if got := NewPath("MySQLBackup", "status.lastBackupTime"); got != "status.lastScheduleTime" {
		t.Errorf("the start of a MySQLBackup's last run is %q", got)
	}
	if Pairs("Pod") != nil || NewPath("Pod", "spec.database") != "spec.database" {
		t.Error("another kind has pairs")
	}
}

func TestATranslatorNamesTheFieldThatTheObjectUses(t *testing.T) {
	for name, tc := range map[string]struct{ spec, path, want string }{
		"one of several databases":     {`{databases: [a, b]}`, "spec.source.databases[0]", "spec.databases[0]"},
		"the list of databases":        {`{databases: []}`, "spec.source.databases", "spec.databases"},
		"the one database":             {`{database: a}`, "spec.source.databases[0]", "spec.database"},
		"no database":                  {`{}`, "spec.source.databases", "spec.database"},
		"the claim in storage":         {`{storage: {persistentVolumeClaim: {claimName: a}}}`, "spec.storage.persistentVolumeClaim.claimName", "spec.storage.persistentVolumeClaim.claimName"},
		"the claim beside storage":     {`{storageClaim: a, storage: {persistentVolumeClaim: {subPath: a}}}`, "spec.storage.persistentVolumeClaim.claimName", "spec.storageClaim"},
		"a folder beside the claim":    {`{storageClaim: a, storage: {persistentVolumeClaim: {subPath: a}}}`, "spec.storage.persistentVolumeClaim.subPath", "spec.storage.persistentVolumeClaim.subPath"},
		"storage itself":               {`{storage: {}}`, "spec.storage", "spec.storage"},
		"the claim's name":             {`{storageClaim: a}`, "spec.storage.persistentVolumeClaim.claimName", "spec.storageClaim"},
		"a storage of a claim's name":  {`{storageClaim: a}`, "spec.storage.persistentVolumeClaim", "spec.storageClaim"},
		"a zone in a field of its own": {`{schedule: a, timeZone: b}`, "spec.timeZone", "spec.timeZone"},
		"a zone in front":              {`{schedule: a}`, "spec.timeZone", "spec.schedule"},
		"keys":                         {`{secretRef: a, credentialKeys: {usernameKey: a}}`, "spec.source.credentialsSecretRef.usernameKey", "spec.credentialKeys.usernameKey"},
		"an odd spec":                  {`7`, "spec.source.host", "spec.databaseHost"},
	} {
		t.Run(name, func(t *testing.T) {
			translator := NewTranslator("BackupJob", objectOf(t, oldVersion, "BackupJob", "spec: "+tc.spec))
			for range 2 {
				if got := translator.OldPath(tc.path); got != tc.want {
					t.Errorf("OldPath(%q) = %q, want %q", tc.path, got, tc.want)
				}
			}
		})
	}
	if got := NewTranslator("BackupJob", []byte("no JSON")).OldPath("spec.source.port"); got != "spec.databaseHost" {
		t.Errorf("without an object the port is %q", got)
	}
}
