// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"maps"
	"slices"
	"testing"
)

// required are the fields that no admitted object lacks, so that nobody can give them up for long.
var required = []string{"apiVersion", "kind", "metadata", "spec", "source", "schedule", "backupSchedule", "host", "databaseHost", "status"}

// TestGivingUpFieldsMakesNoFieldAppear holds the law without which server-side apply loses values: the API
// server converts the object before and after a manager gave up fields, and takes away what the converted
// texts do not both have. A value that moved to another field for want of a neighbour would be gone.
func TestGivingUpFieldsMakesNoFieldAppear(t *testing.T) {
	for _, s := range schemasOf(t) {
		t.Run(s.kind+"/"+s.version, func(t *testing.T) {
			t.Parallel()
			g := newGenerator(t, seed(t))
			for range roundTrips / 10 {
				whole := g.object(s)
				there := fieldsOf(convertObject(t, whole, otherVersion(s.version)))
				less := decodeObject(t, encode(t, whole))
				delete(less, "status") // no manager gives up a status
				g.giveUp(less)
				for field := range fieldsOf(convertObject(t, less, otherVersion(s.version))) {
					if !there[field] {
						t.Fatalf("%s appears in the other version\nwhole: %s\nless:  %s", field, encode(t, whole), encode(t, less))
					}
				}
			}
		})
	}
}

// giveUp takes fields away as the API server does: a list as a whole, and an object that is empty then.
func (g *generator) giveUp(object map[string]any) {
	for _, name := range sortedNames(object) {
		inner, isObject := object[name].(map[string]any)
		kept := slices.Contains(required, name)
		if isObject && len(inner) > 0 && name != "metadata" {
			g.giveUp(inner)
			if len(inner) == 0 && !kept {
				delete(object, name)
			}
			continue
		}
		if !kept && g.chance(0.4) {
			delete(object, name)
		}
	}
}

// fieldsOf are the paths of all fields of an object, lists not looked into.
func fieldsOf(object map[string]any) map[string]bool {
	fields := map[string]bool{}
	for name, value := range object {
		fields[name] = true
		if inner, ok := value.(map[string]any); ok {
			for field := range maps.Keys(fieldsOf(inner)) {
				fields[name+"."+field] = true
			}
		}
	}
	return fields
}
