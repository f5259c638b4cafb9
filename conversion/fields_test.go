// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// rewriteOne rewrites one entry of an object of v1alpha1.
func rewriteOne(t *testing.T, object map[string]any, fields string) string {
	t.Helper()
	object["metadata"] = map[string]any{"name": "a", "managedFields": []any{map[string]any{
		"manager": "m", "operation": "Apply", "apiVersion": oldVersion, "fieldsType": "FieldsV1", "fieldsV1": decodeObject(t, []byte(fields)),
	}}}
	entries, rewritten, err := NewManagedFields(encode(t, object))
	if err != nil || rewritten != 1 {
		t.Fatalf("%d entries were rewritten: %v", rewritten, err)
	}
	if len(entries) == 0 {
		return "{}"
	}
	if entries[0].APIVersion != newVersion {
		t.Errorf("the entry says %s", entries[0].APIVersion)
	}
	return entries[0].FieldsV1.GetRawString()
}

func TestNewManagedFields(t *testing.T) {
	cases := map[string]struct{ kind, object, fields, want string }{
		"a host with a port":                  {"BackupJob", `{"spec":{"databaseHost":"h:1"}}`, `{"f:spec":{"f:databaseHost":{}}}`, `{"f:spec":{"f:source":{"f:host":{},"f:port":{}}}}`},
		"a host without a port":               {"BackupJob", `{"spec":{"databaseHost":"h"}}`, `{"f:spec":{"f:databaseHost":{}}}`, `{"f:spec":{"f:source":{"f:host":{}}}}`},
		"a bracketed host without a port":     {"MySQLBackup", `{"spec":{"host":"[::1]"}}`, `{"f:spec":{"f:host":{}}}`, `{"f:spec":{"f:source":{"f:host":{}}}}`},
		"a port that is no number":            {"MySQLBackup", `{"spec":{"host":"h:http"}}`, `{"f:spec":{"f:host":{}}}`, `{"f:spec":{"f:source":{"f:host":{}}}}`},
		"one database":                        {"BackupJob", `{"spec":{"database":"a"}}`, `{"f:spec":{"f:database":{}}}`, `{"f:spec":{"f:source":{"f:databases":{}}}}`},
		"several databases":                   {"BackupJob", `{"spec":{"databases":["a","b"]}}`, `{"f:spec":{"f:databases":{}}}`, `{"f:spec":{"f:source":{"f:databases":{}}}}`},
		"a zone in the schedule":              {"BackupJob", `{"spec":{"schedule":"CRON_TZ=Asia/Tokyo 0 2 * * *"}}`, `{"f:spec":{"f:schedule":{}}}`, `{"f:spec":{"f:schedule":{},"f:timeZone":{}}}`},
		"no zone in the schedule":             {"MySQLBackup", `{"spec":{"backupSchedule":"0 2 * * *"}}`, `{"f:spec":{"f:backupSchedule":{}}}`, `{"f:spec":{"f:schedule":{}}}`},
		"an odd zone, kept whole":             {"BackupJob", `{"spec":{"schedule":"CRON_TZ=a CRON_TZ=b x"}}`, `{"f:spec":{"f:schedule":{}}}`, `{"f:spec":{"f:schedule":{}}}`},
		"a Secret, and keys of another":       {"BackupJob", `{"spec":{"secretRef":"s","credentialKeys":{"usernameKey":"u"}}}`, `{"f:spec":{"f:secretRef":{}}}`, `{"f:spec":{"f:source":{"f:credentialsSecretRef":{"f:name":{}}}}}`},
		"keys, and a Secret of another":       {"BackupJob", `{"spec":{"secretRef":"s","credentialKeys":{"usernameKey":"u"}}}`, `{"f:spec":{"f:credentialKeys":{".":{},"f:usernameKey":{}}}}`, `{"f:spec":{"f:source":{"f:credentialsSecretRef":{".":{},"f:usernameKey":{}}}}}`},
		"a claim":                             {"BackupJob", `{"spec":{"storageClaim":"c"}}`, `{"f:spec":{"f:storageClaim":{}}}`, `{"f:spec":{"f:storage":{"f:persistentVolumeClaim":{"f:claimName":{}}}}}`},
		"what keeps its place":                {"BackupJob", `{"spec":{"suspend":true,"podTemplate":{"labels":{"a.b/c":"d"}}}}`, `{"f:spec":{"f:suspend":{},"f:podTemplate":{"f:labels":{"f:a.b/c":{}}}}}`, `{"f:spec":{"f:podTemplate":{"f:labels":{"f:a.b/c":{}}},"f:suspend":{}}}`},
		"retention":                           {"BackupJob", `{"spec":{"retentionDays":1,"minBackups":2}}`, `{"f:spec":{"f:minBackups":{},"f:retentionDays":{}}}`, `{"f:spec":{"f:retention":{"f:days":{},"f:minBackups":{}}}}`},
		"the holders themselves":              {"BackupJob", `{"spec":{"suspend":true},"status":{"phase":"Scheduled"}}`, `{"f:spec":{".":{},"f:suspend":{}},"f:status":{".":{},"f:phase":{}}}`, `{"f:spec":{".":{},"f:suspend":{}},"f:status":{".":{},"f:phase":{}}}`},
		"labels":                              {"BackupJob", `{"spec":{}}`, `{"f:metadata":{"f:labels":{"f:x":{}}}}`, `{"f:metadata":{"f:labels":{"f:x":{}}}}`},
		"a field that is not there":           {"BackupJob", `{"spec":{"suspend":true}}`, `{"f:spec":{"f:databaseHost":{}}}`, `{}`},
		"a field of no version":               {"BackupJob", `{"spec":{"suspend":true}}`, `{"f:spec":{"f:cron":{}}}`, `{}`},
		"the old status alone":                {"MySQLBackup", `{"status":{"backupStatus":"Succeeded","lastBackupTime":"t"}}`, `{"f:status":{"f:backupStatus":{},"f:lastBackupTime":{}}}`, `{"f:status":{"f:lastResult":{},"f:lastScheduleTime":{}}}`},
		"the old status of a run":             {"MySQLBackup", `{"status":{"backupStatus":"Running"}}`, `{"f:status":{"f:backupStatus":{}}}`, `{"f:status":{"f:phase":{}}}`},
		"the old status beside the new one":   {"MySQLBackup", `{"status":{"backupStatus":"Failed","phase":"Scheduled","lastResult":"Failed","lastCompletionTime":"t"}}`, `{"f:status":{"f:backupStatus":{},"f:phase":{},"f:lastResult":{},"f:lastCompletionTime":{}}}`, `{"f:status":{"f:lastBackupTime":{},"f:lastResult":{},"f:phase":{}}}`},
		"conditions, which have keys":         {"MySQLBackup", `{"status":{"conditions":[{"type":"Ready"}]}}`, `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:type":{}}}}}`, `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:type":{}}}}}`},
		"values of a set":                     {"BackupJob", `{"status":{"active":["j"]}}`, `{"f:status":{"f:active":{"v:\"j\"":{}}}}`, `{"f:status":{"f:active":{"v:\"j\"":{}}}}`},
		"an odd name that is another's field": {"MySQLBackup", `{"spec":{"host":"h"}}`, `{"f:spec":{"f:source":{"f:host":{}},"f:schedule":{}}}`, `{}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := decodeObject(t, []byte(tc.object))
			object["apiVersion"], object["kind"] = oldVersion, tc.kind
			if got := rewriteOne(t, object, tc.fields); !cmp.Equal(decodeObject(t, []byte(tc.want)), decodeObject(t, []byte(got))) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			// A server sends what it stores as v1.
			if got := rewriteOne(t, convertObject(t, object, newVersion), tc.fields); !cmp.Equal(decodeObject(t, []byte(tc.want)), decodeObject(t, []byte(got))) {
				t.Errorf("read in v1 it is %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestNewManagedFieldsLeavesWhatIsNotOld(t *testing.T) {
	at := func(minute int) *metav1.Time { return new(metav1.Unix(int64(minute)*60, 0)) }
	entry := func(version, manager, fields string, change func(*metav1.ManagedFieldsEntry)) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, Time: at(1),
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{},
		}
		e.FieldsV1.SetRawString(fields)
		if change != nil {
			change(&e)
		}
		return e
	}
	status := func(e *metav1.ManagedFieldsEntry) { e.Subresource = "status" }
	later := func(e *metav1.ManagedFieldsEntry) { e.Time = at(9) }
	applied := func(e *metav1.ManagedFieldsEntry) { e.Operation = metav1.ManagedFieldsOperationApply }
	object := map[string]any{
		"apiVersion": newVersion, "kind": "BackupJob",
		"spec":   map[string]any{"suspend": true, "retention": map[string]any{"days": int64(7)}, "compression": "Zstd"},
		"status": map[string]any{"phase": "Scheduled"},
	}
	before := []metav1.ManagedFieldsEntry{
		entry(newVersion, "edit", `{"f:spec":{"f:suspend":{}}}`, nil),
		entry(oldVersion, "edit", `{"f:spec":{"f:retentionDays":{}}}`, later),
		entry(oldVersion, "edit", `{"f:spec":{"f:compression":{}}}`, applied),
		entry(oldVersion, "controller", `{"f:status":{"f:phase":{}}}`, status),
		entry(oldVersion, "gone", `{"f:spec":{"f:cron":{}}}`, nil),
		entry("example.com/v1", "stranger", `{"f:x":{}}`, nil),
	}
	want := []metav1.ManagedFieldsEntry{
		entry(newVersion, "edit", `{"f:spec":{"f:retention":{"f:days":{}},"f:suspend":{}}}`, later),
		entry(newVersion, "edit", `{"f:spec":{"f:compression":{}}}`, applied),
		entry(newVersion, "controller", `{"f:status":{"f:phase":{}}}`, status),
		entry("example.com/v1", "stranger", `{"f:x":{}}`, nil),
	}
	object["metadata"] = map[string]any{"name": "a", "managedFields": before}
	raw := encode(t, object)
	got, rewritten, err := NewManagedFields(raw)
	if err != nil || rewritten != 4 {
		t.Errorf("%d entries were rewritten, want 4: %v", rewritten, err)
	}
	if diff := cmp.Diff(string(encode(t, want)), string(encode(t, got))); diff != "" {
		t.Error(diff)
	}
	object["metadata"] = map[string]any{"name": "a", "managedFields": got}
	again, rewritten, err := NewManagedFields(encode(t, object))
	if err != nil || rewritten != 0 || !reflect.DeepEqual(encode(t, got), encode(t, again)) {
		t.Errorf("a second time changes %d entries: %v", rewritten, err)
	}
}

func TestNewManagedFieldsSaysWhatItCannotRead(t *testing.T) {
	for raw, want := range map[string]string{
		`[`: "what is no object",
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`:                                      "must be a BackupJob or MySQLBackup",
		`{"apiVersion":"` + newVersion + `","kind":"BackupJob","metadata":{"name":"a","managedFields":7}}`: `BackupJob "a"`,
		`{"apiVersion":"` + newVersion + `","kind":"BackupJob","metadata":{"name":"a","managedFields":[{"manager":"m",` +
			`"apiVersion":"` + oldVersion + `","fieldsV1":{"i:x":{}}}]}}`: `what "m" owns in BackupJob "a"`,
	} {
		if _, _, err := NewManagedFields([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// ownedFields are the fields that an applier of the object would own.
func ownedFields(t *testing.T, types managedfields.TypeConverter, object map[string]any) (*typed.TypedValue, *fieldpath.Set) {
	t.Helper()
	value, err := types.ObjectToTyped(&unstructured.Unstructured{Object: object})
	if err != nil {
		t.Fatalf("%v\n%s", err, encode(t, object))
	}
	all, err := value.ToFieldSet()
	if err != nil {
		t.Fatal(err)
	}
	return value, only(all, "spec").Union(only(all, "status"))
}

// inNew are the fields of what a server makes of an object of v1alpha1.
func inNew(t *testing.T, types managedfields.TypeConverter, object map[string]any) *fieldpath.Set {
	t.Helper()
	converted := convertObject(t, object, newVersion)
	pruning.Prune(converted, schemaOf(t, converted["kind"].(string), newVersion).structural, true)
	_, fields := ownedFields(t, types, converted)
	return fields
}

func only(all *fieldpath.Set, field string) *fieldpath.Set {
	kept := fieldpath.NewSet()
	all.Iterate(func(path fieldpath.Path) {
		if path[:1].Equals(pathOf(field)) {
			kept.Insert(path.Copy())
		}
	})
	return kept
}

// some draws a part of a set. An item of a list is taken with all that is in it.
func (g *generator) some(all *fieldpath.Set) *fieldpath.Set {
	part, taken := fieldpath.NewSet(), map[string]bool{}
	all.Iterate(func(path fieldpath.Path) {
		group := path.String()
		for i, element := range path {
			if element.FieldName == nil {
				group = path[:i+1].String()
				break
			}
		}
		if _, drawn := taken[group]; !drawn {
			taken[group] = g.chance(0.4)
		}
		if taken[group] {
			part.Insert(path.Copy())
		}
	})
	return part
}

// TestWhatAManagerOwnsIsWhatItsFieldsConvertTo takes what a manager owns out of random objects with the
// server's own library, converts it, and asks that library again.
func TestWhatAManagerOwnsIsWhatItsFieldsConvertTo(t *testing.T) {
	for _, kind := range []string{"BackupJob", "MySQLBackup"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g, types, s := newGenerator(t, seed(t)), typesOf(t, kind), schemaOf(t, kind, oldVersion)
			for i := range 2000 {
				object := g.object(s)
				object["metadata"] = map[string]any{"name": "a"}
				value, all := ownedFields(t, types, object)
				owned := g.some(all)
				if i%10 == 0 || owned.Empty() {
					owned = all
				}
				part := value.ExtractItems(owned, typed.WithAppendKeyFields()).AsValue().Unstructured().(map[string]any)
				part["apiVersion"], part["kind"] = oldVersion, kind
				want := inNew(t, types, part).Intersection(inNew(t, types, object))
				text, err := owned.ToJSON()
				if err != nil {
					t.Fatal(err)
				}
				var got fieldpath.Set
				if err := got.FromJSON(strings.NewReader(rewriteOne(t, maps.Clone(object), string(text)))); err != nil {
					t.Fatal(err)
				}
				if !want.Equals(&got) {
					t.Fatalf("object %d: %s\nowned  %s\nin v1  %s\nwant   %s", i, encode(t, object), owned, &got, want)
				}
			}
		})
	}
}

// FuzzNewManagedFields has entries of any shape: none panics, none is lost but for what v1 does not have, and
// a second rewriting changes nothing.
func FuzzNewManagedFields(f *testing.F) {
	for _, fields := range []string{
		`{"f:spec":{".":{},"f:databaseHost":{},"f:host":{},"f:database":{},"f:schedule":{},"f:storageClaim":{}}}`,
		`{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{}}},"f:active":{"v:\"a\"":{}}}}`, `{"f:spec":{"i:0":{}}}`, `{}`, `[]`,
	} {
		f.Add([]byte(fields), []byte(`{"databaseHost":"h:1","host":"h:1","database":"a","schedule":"CRON_TZ=UTC x","storageClaim":"c"}`))
	}
	f.Fuzz(func(t *testing.T, fields, spec []byte) {
		if !json.Valid(fields) || !json.Valid(spec) {
			return
		}
		for _, kind := range []string{"BackupJob", "MySQLBackup"} {
			raw := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"a","managedFields":[`+
				`{"manager":"m","operation":"Apply","apiVersion":%q,"time":%q,"fieldsV1":%s}]},"spec":%s}`,
				newVersion, kind, oldVersion, time.Unix(0, 0).UTC().Format(time.RFC3339), fields, spec)
			entries, _, err := NewManagedFields(raw)
			if err != nil {
				continue
			}
			object := map[string]any{"apiVersion": newVersion, "kind": kind, "metadata": map[string]any{"managedFields": entries}}
			if _, rewritten, err := NewManagedFields(encode(t, object)); err != nil || rewritten != 0 {
				t.Fatalf("%d entries are left: %v\n%s\n%s", rewritten, err, raw, encode(t, entries))
			}
		}
	})
}
