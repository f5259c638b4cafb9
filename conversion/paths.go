// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"strings"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// Pair is a field of v1alpha1 and the field of v1 that says the same, or a part of it. One field can stand
// in several pairs: "host:port" has two fields in v1.
type Pair struct {
	Old, New string
}

// pair is a Pair with what its translation has to know.
type pair struct {
	Pair
	// element is the suffix of New that Old alone stands for: "[0]" where Old is the only one of a list.
	element string
	// parent pairs an object of v1 with the field that a user of v1alpha1 looks at instead. It is no pair
	// of fields.
	parent bool
}

func to(old, path string) pair     { return pair{Pair: Pair{Old: old, New: path}} }
func first(old, path string) pair  { return pair{Pair: Pair{Old: old, New: path}, element: "[0]"} }
func parent(old, path string) pair { return pair{Pair: Pair{Old: old, New: path}, parent: true} }

func tableOf(kind string) *table {
	switch kind {
	case backupv1.KindBackupJob:
		return backupJob
	case backupv1.KindMySQLBackup:
		return mySQLBackup
	}
	return nil
}

// Pairs returns the pairs of a kind's fields, none for another kind. What stands below a field has the
// same path below its partner.
func Pairs(kind string) []Pair {
	t := tableOf(kind)
	if t == nil {
		return nil
	}
	pairs := make([]Pair, 0, len(t.pairs))
	for _, p := range t.pairs {
		if !p.parent {
			pairs = append(pairs, p.Pair)
		}
	}
	return pairs
}

// OldPath translates the path of a field in v1, such as spec.source.databases[1], into its path in
// v1alpha1. Where the object decides which of two fields it is, it takes the one of the old systems; a
// Translator knows better. A path that no field has stays the same.
func OldPath(kind, path string) string {
	return (&Translator{table: tableOf(kind)}).OldPath(path)
}

// NewPath translates the path of a field in v1alpha1 into its path in v1.
func NewPath(kind, path string) string {
	t := tableOf(kind)
	if t == nil {
		return path
	}
	for _, p := range t.pairs {
		if suffix, ok := cutPath(path, p.Old); ok && !p.parent {
			return p.New + p.element + suffix
		}
	}
	return path
}

// Translator translates paths of v1 into the fields that one object of v1alpha1 really uses.
type Translator struct {
	table *table
	old   *object
}

// NewTranslator returns the Translator for an object of v1alpha1. With anything else it translates as
// OldPath does.
func NewTranslator(kind string, old []byte) *Translator {
	o, _ := parseObject(old)
	return &Translator{table: tableOf(kind), old: o}
}

// OldPath translates the path of a field in v1 into its path in v1alpha1. It changes the Translator, so
// that one must not be used by several goroutines at once.
func (t *Translator) OldPath(path string) string {
	if t.table == nil {
		return path
	}
	translated := path
	for _, p := range t.table.pairs {
		candidate, ok := p.oldPath(path)
		if !ok {
			continue
		}
		translated = candidate
		field, _, _ := strings.Cut(candidate, "[")
		if t.old != nil && t.old.get(strings.Split(field, ".")...) != nil {
			break
		}
	}
	return translated
}

func (p pair) oldPath(path string) (string, bool) {
	suffix, ok := cutPath(path, p.New)
	switch {
	case !ok, p.parent && suffix != "":
		return "", false
	case p.element != "":
		suffix, ok = strings.CutPrefix(suffix, p.element)
		return p.Old + suffix, ok || suffix == ""
	}
	return p.Old + suffix, true
}

// cutPath cuts a field's path off the front of a path that is its own or leads on below it.
func cutPath(path, field string) (suffix string, ok bool) {
	suffix, ok = strings.CutPrefix(path, field)
	return suffix, ok && (suffix == "" || suffix[0] == '.' || suffix[0] == '[')
}
