// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/backupjob-operator/conversion"
)

// compare takes an object that was read in both versions and says where either
// is not what the converter makes of the other; empty if nowhere. back is what
// the converter makes of the object of v1alpha1.
func compare(read, old *unstructured.Unstructured) (said string, back map[string]any, err error) {
	there, err := convertObject(read, oldVersion.String())
	if err != nil {
		return "", nil, err
	}
	if back, err = convertObject(old, newVersion.String()); err != nil {
		return "", nil, err
	}
	if path, made, got, differs := difference("", there, old.Object); differs {
		return tell(path, "v1alpha1", made, got), back, nil
	}
	if path, made, got, differs := difference("", back, read.Object); differs {
		return tell(path, "v1", made, got), back, nil
	}
	return "", back, nil
}

func tell(path, version string, made, got any) string {
	return fmt.Sprintf("%s in %s: the server has %s, the converter makes %s", path, version, show(got), show(made))
}

func convertObject(from *unstructured.Unstructured, version string) (map[string]any, error) {
	raw, err := json.Marshal(from.Object)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", describe(from), err)
	}
	converted, err := conversion.Convert(raw, version)
	if err != nil {
		return nil, err
	}
	made := &unstructured.Unstructured{}
	if err := made.UnmarshalJSON(converted); err != nil {
		return nil, fmt.Errorf("decode %s: %w", describe(from), err)
	}
	return made.Object, nil
}

// difference is the first path, by name, at which two values are not the same.
func difference(path string, a, b any) (at string, left, right any, differs bool) {
	am, aIsMap := a.(map[string]any)
	bm, bIsMap := b.(map[string]any)
	switch {
	case reflect.DeepEqual(a, b):
		return "", nil, nil, false
	case !aIsMap || !bIsMap:
		return path, a, b, true
	}
	names := slices.Collect(maps.Keys(am))
	for name := range bm {
		if _, both := am[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		below := name
		if path != "" {
			below = path + "." + name
		}
		if at, left, right, differs = difference(below, am[name], bm[name]); differs {
			return at, left, right, true
		}
	}
	return path, a, b, true // a null is not the same as nothing
}

func show(value any) string {
	if value == nil {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return short(string(bytes.TrimSpace(text)))
}
