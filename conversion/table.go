// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "strings"

// table pairs the fields of a kind's two versions.
type table struct {
	moves []move
	pairs []pair
}

// holders are the objects of v1 that hold moved fields, and nothing once these are gone.
var holders = split("spec.source", "spec.retention")

// move carries values between the paths of v1alpha1 and those of v1.
type move struct {
	old, new     [][]string
	toNew, toOld func(values) values
}

// values are what stands at the paths of a move, in their order; nil is nothing. The texts are the
// input's own and must not be written to.
type values [3][]byte

// line is what a table is written in: the pairs of paths that the reader sees, and how the values move.
type line struct {
	pairs []pair
	move  *move
}

// same is a field that has the same path and the same type in both versions.
func same(path string) line {
	return line{pairs: []pair{{Pair: Pair{Old: path, New: path}}}}
}

// renamed is a field that has the same type in both versions, but not the same path.
func renamed(old, path string) line {
	carry := func(v values) values { return v }
	return line{
		pairs: []pair{{Pair: Pair{Old: old, New: path}}},
		move:  &move{old: split(old), new: split(path), toNew: carry, toOld: carry},
	}
}

// reshaped are fields whose values are not the same in both versions. The move says which values it
// reads and writes; the pairs say which field of one version speaks of which of the other.
func reshaped(m move, pairs ...pair) line {
	return line{pairs: pairs, move: &m}
}

func newTable(groups ...[]line) *table {
	t := &table{}
	for _, lines := range groups {
		for _, l := range lines {
			t.pairs = append(t.pairs, l.pairs...)
			if l.move != nil {
				t.moves = append(t.moves, *l.move)
			}
		}
	}
	return t
}

func split(paths ...string) [][]string {
	names := make([][]string, len(paths))
	for i, path := range paths {
		names[i] = strings.Split(path, ".")
	}
	return names
}

// toNew turns an object of v1alpha1 into one of v1.
func (t *table) toNew(o *object) {
	t.convert(o, func(m *move) (from, to [][]string, turn func(values) values) { return m.old, m.new, m.toNew })
}

// toOld turns an object of v1 into one of v1alpha1.
func (t *table) toOld(o *object) {
	t.convert(o, func(m *move) (from, to [][]string, turn func(values) values) { return m.new, m.old, m.toOld })
}

// convert takes everything out before it puts anything in: a path of one version can be another field's
// path in the other. What is then left at a path of the other version is no field of this one, and goes,
// lest it begins to mean something. An empty holder goes too: v1alpha1 has none.
func (t *table) convert(o *object, way func(*move) (from, to [][]string, turn func(values) values)) {
	taken := make([]values, len(t.moves))
	for i := range t.moves {
		from, _, _ := way(&t.moves[i])
		taken[i] = o.takeAll(from)
	}
	for i := range t.moves {
		_, to, _ := way(&t.moves[i])
		o.takeAll(to)
	}
	for _, holder := range holders {
		if held := o.get(holder...); string(held) == "{}" || string(held) == "null" {
			o.take(holder...)
		}
	}
	for i := range t.moves {
		_, to, turn := way(&t.moves[i])
		o.putAll(to, turn(taken[i]))
	}
}

func (o *object) takeAll(paths [][]string) (v values) {
	for i, path := range paths {
		v[i] = o.take(path...)
	}
	return v
}

func (o *object) putAll(paths [][]string, v values) {
	for i, path := range paths {
		if v[i] != nil {
			o.put(v[i], path...)
		}
	}
}
