// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
)

var (
	oldVersion = backupv1alpha1.GroupVersion.String()
	newVersion = backupv1.GroupVersion.String()
)

// Convert returns the object in the wanted version, backup.example.com/v1alpha1 or backup.example.com/v1.
// The object is JSON of either version; it is not changed. An error means that it is no object of our
// kinds: what its fields hold never makes one.
func Convert(raw []byte, apiVersion string) ([]byte, error) {
	o, ok := parseObject(raw)
	if !ok {
		what := "a JSON object"
		if !json.Valid(raw) {
			what = "JSON"
		}
		return nil, fmt.Errorf("convert an object to %s: it must be %s", apiVersion, what)
	}
	return appendConverted(nil, o, apiVersion)
}

// appendConverted appends an object in the wanted version, and makes it that. One that has it already keeps its
// bytes.
func appendConverted(dst []byte, o *object, apiVersion string) ([]byte, error) {
	from, _ := decodeString(o.get("apiVersion"))
	kind, _ := decodeString(o.get("kind"))
	t := tableOf(kind)
	switch {
	case t == nil || from != oldVersion && from != newVersion:
		return nil, fmt.Errorf("convert %s to %s: it must be a BackupJob or MySQLBackup of %s or %s, but is a %q of %q",
			describe(o.text), apiVersion, newVersion, oldVersion, kind, from)
	case apiVersion != oldVersion && apiVersion != newVersion:
		return nil, fmt.Errorf("convert %s: the wanted version must be %s or %s, but is %q",
			describe(o.text), newVersion, oldVersion, apiVersion)
	case from == apiVersion:
		return append(dst, o.text...), nil
	}
	o.put(encodeString(apiVersion), "apiVersion")
	if m := o.find("metadata"); m == nil || isNothing(m.value) {
		o.put([]byte("{}"), "metadata") // without it an API server refuses the answer
	}
	if apiVersion == newVersion {
		convert(o, t.toNew)
	} else {
		convert(o, t.toOld)
	}
	return o.append(slices.Grow(dst, len(o.text)+len(o.text)/8)), nil
}

// isNothing holds for a field that is not there, or null.
func isNothing(raw []byte) bool { return raw == nil || string(raw) == "null" }

// describe names an object to a person.
func describe(raw []byte) string {
	top, ok := pick(raw, "kind", "metadata")
	if !ok {
		return "what is no object"
	}
	metadata, _ := pick(top[1], "namespace", "name")
	kind, _ := decodeString(top[0])
	namespace, _ := decodeString(metadata[0])
	name, _ := decodeString(metadata[1])
	return fmt.Sprintf("%s %q", cmp.Or(kind, "object"), strings.TrimPrefix(namespace+"/"+name, "/"))
}
