// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/manifest"
	"example.com/backupjob-operator/conversion"
)

func checkNothingIsTwice(d *manifest.Document) error {
	var errs []error
	for _, duplicate := range d.Duplicates() {
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s is there twice, and only the last one would be kept: remove one",
			d.File, duplicate.Line, title(d), duplicate.Path))
	}
	return errors.Join(errs...)
}

// checkNothingIsLost refuses a document with a field that its version does not
// have but the other one does: mostly a manifest of one version under the name
// of the other. A server would drop such a field, and so does a conversion.
func (c *converted) checkNothingIsLost(raw, converted []byte, from string) error {
	d := c.from
	back, err := conversion.Convert(converted, from)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", d.File, d.Line(), err)
	}
	var was, is map[string]any
	if err := errors.Join(json.Unmarshal(raw, &was), json.Unmarshal(back, &is)); err != nil {
		return fmt.Errorf("%s:%d: %w", d.File, d.Line(), err)
	}
	old := from == backupv1alpha1.GroupVersion.String()
	lost := gone(was, is, "")
	slices.SortStableFunc(lost, func(a, b string) int { return cmp.Compare(d.LineOf(a), d.LineOf(b)) })
	var errs []error
	for _, path := range lost {
		if isField(d.Kind, path, old) {
			continue // it has its home in another field of this version
		}
		advice := "correct the apiVersion"
		if renamed := otherName(d.Kind, path, old); renamed != path {
			advice = fmt.Sprintf("write %s, or correct the apiVersion", renamed)
		}
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s is no field of %s and would be lost: %s",
			d.File, d.LineOf(path), title(d), path, from, advice))
	}
	return errors.Join(errs...)
}

// gone are the paths of values that are not there any more.
func gone(was, is map[string]any, path string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(was)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		inner, isMap := was[name].(map[string]any)
		still, there := is[name]
		switch kept, _ := still.(map[string]any); {
		case isMap && len(inner) > 0:
			found = append(found, gone(inner, kept, at)...)
		case !there:
			found = append(found, at)
		}
	}
	return found
}

// isField says whether a path of a version is a field of the conversion's
// table, or lies above or below one.
func isField(kind, path string, old bool) bool {
	for _, pair := range conversion.Pairs(kind) {
		field := pair.New
		if old {
			field = pair.Old
		}
		if field == path || strings.HasPrefix(field, path+".") || strings.HasPrefix(path, field+".") {
			return true
		}
	}
	return false
}

// otherName is what a field of the other version is called in this one.
func otherName(kind, path string, old bool) string {
	if old {
		return conversion.OldPath(kind, path)
	}
	return conversion.NewPath(kind, path)
}
