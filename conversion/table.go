// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "strings"

// line pairs fields of the two versions. A line without paths of values is a field that stays where it is.
type line struct {
	pairs []pair
	// old and new are where the values stand in either version. A path that is no field of the version is
	// where an odd value stays.
	old, new [][]string
	// toNew and toOld turn the values of one version into those of the other.
	toNew, toOld func(values) values
}

// values are what stands at the paths of a line, in their order; nil is nothing. The texts are the input's
// own and must not be written to.
type values [3][]byte

// same is a field that has the same path and the same type in both versions.
func same(path string) line { return line{pairs: []pair{to(path, path)}} }

// renamed is a field that has the same type in both versions, but not the same path.
func renamed(old, path string) line {
	carry := func(v values) values { return v }
	return line{pairs: []pair{to(old, path)}, old: at(old), new: at(path), toNew: carry, toOld: carry}
}

func at(paths ...string) [][]string {
	names := make([][]string, len(paths))
	for i, path := range paths {
		names[i] = strings.Split(path, ".")
	}
	return names
}

// table holds the lines of a kind, ready for both directions.
type table struct {
	toNew, toOld []step
	lines        []line
	pairs        []pair
}

type step struct {
	from, to [][]string
	turn     func(values) values
}

func newTable(groups ...[]line) *table {
	t := &table{}
	for _, lines := range groups {
		for _, l := range lines {
			t.lines = append(t.lines, l)
			t.pairs = append(t.pairs, l.pairs...)
			if l.old != nil {
				t.toNew = append(t.toNew, step{from: l.old, to: l.new, turn: l.toNew})
				t.toOld = append(t.toOld, step{from: l.new, to: l.old, turn: l.toOld})
			}
		}
	}
	return t
}

// holders are the objects of v1 that hold moved fields. v1alpha1 has no empty ones.
var holders = at("spec.source", "spec.retention")

// convert takes everything out before it puts anything in: a path of one version can be another field's in
// the other. What is then left at a path of the other version is no field of this one, and goes, lest it
// begins to mean something.
func convert(o *object, steps []step) {
	taken := make([]values, len(steps))
	for i := range steps {
		taken[i] = o.takeAll(steps[i].from)
	}
	for i := range steps {
		o.takeAll(steps[i].to)
	}
	for _, holder := range holders {
		if m := o.at(holder); m != nil && m.isEmpty() {
			o.take(holder...)
		}
	}
	for i := range steps {
		for j, value := range steps[i].turn(taken[i]) {
			if value != nil {
				o.put(value, steps[i].to[j]...)
			}
		}
	}
}

func (o *object) takeAll(paths [][]string) (v values) {
	for i, path := range paths {
		v[i] = o.take(path...)
	}
	return v
}
