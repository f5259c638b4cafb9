// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/json"
	"strings"

	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
)

// itsOwn are the fields of a live object that belong to that one object, or to
// the operator that served it: the new object could not be created with some,
// and not be deleted with others.
var itsOwn = [][]string{
	{"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"},
	{"metadata", "creationTimestamp"},
	{"metadata", "deletionGracePeriodSeconds"},
	{"metadata", "deletionTimestamp"},
	{"metadata", "finalizers"},
	{"metadata", "generation"},
	{"metadata", "managedFields"},
	{"metadata", "resourceVersion"},
	{"metadata", "selfLink"},
	{"metadata", "uid"},
	{"status"},
}

// adopt makes an object of the operators before this one an object of
// v1alpha1, whose fields have the same names. It returns the fields that it
// left with the old object.
func adopt(raw []byte) (adopted []byte, left []string, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a number keeps its digits
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, nil, err
	}
	for _, path := range itsOwn {
		if remove(fields, path) {
			left = append(left, pathText(path))
		}
	}
	fields["apiVersion"] = backupv1alpha1.GroupVersion.String()
	adopted, err = json.Marshal(fields)
	return adopted, left, err
}

// remove takes away what stands at a path, and the map that held nothing else.
func remove(fields map[string]any, path []string) bool {
	if len(path) == 1 {
		_, found := fields[path[0]]
		delete(fields, path[0])
		return found
	}
	inner, ok := fields[path[0]].(map[string]any)
	if !ok || !remove(inner, path[1:]) {
		return false
	}
	if len(inner) == 0 {
		delete(fields, path[0])
	}
	return true
}

// pathText writes a key with dots in brackets.
func pathText(path []string) string {
	var text strings.Builder
	text.WriteString(path[0])
	for _, name := range path[1:] {
		if strings.Contains(name, ".") {
			text.WriteString("[" + name + "]")
		} else {
			text.WriteString("." + name)
		}
	}
	return text.String()
}
