// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// shape is what a Go type of the API looks like as JSON. It knows the fields
// in the order of the API reference, which a schema does not keep.
type shape struct {
	goType reflect.Type
	fields map[string]*shape // of a struct, by JSON name
	order  map[string]int    // of these fields
	elem   *shape            // of a list or a map
	list   bool
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// shapeOf describes a type. Our types hold no cycles.
func shapeOf(t reflect.Type) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := &shape{goType: t}
	switch {
	case reflect.PointerTo(t).Implements(unmarshaler):
	case t.Kind() == reflect.Struct:
		s.fields, s.order = map[string]*shape{}, map[string]int{}
		s.addFields(t)
	case t.Kind() == reflect.Slice:
		s.elem, s.list = shapeOf(t.Elem()), true
	case t.Kind() == reflect.Map:
		s.elem = shapeOf(t.Elem())
	}
	return s
}

func (s *shape) addFields(t reflect.Type) {
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			s.addFields(field.Type)
		case name != "" && name != "-":
			s.order[name] = len(s.order)
			s.fields[name] = shapeOf(field.Type)
		}
	}
}

// step leads from a value to one inside it: a field, a key of a map, or an
// index of a list.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind int

const (
	stepField stepKind = iota
	stepKey
	stepIndex
)

// path is the way from an object to one of its values.
type path []step

// parse reads the text of a path below s. The libraries write the keys of maps
// in two ways, and a key may hold any character, so only the type tells where
// it ends: our maps hold no maps, a key is always the last step.
func (s *shape) parse(text string) path {
	var p path
	for text != "" {
		if s != nil && s.elem != nil && !s.list {
			return append(p, step{name: keyIn(text), kind: stepKey})
		}
		if s != nil && s.list && text[0] == '[' {
			number, rest, _ := strings.Cut(text[1:], "]")
			index, _ := strconv.Atoi(number) // the libraries wrote it
			p, s, text = append(p, step{index: index, kind: stepIndex}), s.elem, rest
			continue
		}
		text = strings.TrimLeft(text, ".")
		end := strings.IndexAny(text, ".[")
		if end < 1 {
			end = len(text)
		}
		if end > 0 {
			p = append(p, step{name: text[:end], kind: stepField})
		}
		if s != nil {
			s = s.fields[text[:end]]
		}
		text = text[end:]
	}
	return p
}

func keyIn(text string) string {
	if rest, ok := strings.CutPrefix(text, "["); ok {
		return strings.TrimSuffix(rest, "]")
	}
	return strings.TrimPrefix(text, ".")
}

// String writes the path as the Kubernetes API does.
func (p path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch s.kind {
		case stepIndex:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case stepKey:
			b.WriteString("[" + s.name + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// withoutIndexes writes the path with all items of a list alike.
func (p path) withoutIndexes() string {
	var b strings.Builder
	for _, s := range p {
		if s.kind != stepIndex {
			b.WriteString("." + s.name)
		}
	}
	return b.String()
}

// shown is String with keys cut, which may have any length.
func (p path) shown() string {
	short := slices.Clone(p)
	for i := range short {
		if short[i].kind == stepKey {
			short[i].name = cutQuoted(short[i].name)
		}
	}
	return short.String()
}

// through reports whether the path leads through a field of that name.
func (p path) through(name string) bool {
	return slices.ContainsFunc(p, func(s step) bool { return s.kind == stepField && s.name == name })
}

// last is the name of the field or key at the end, "" for an item of a list.
func (p path) last() string {
	if len(p) == 0 {
		return ""
	}
	return p[len(p)-1].name
}

// find follows the path; false means that there is no such value.
func (p path) find(value any) (any, bool) {
	for _, s := range p {
		switch holder := value.(type) {
		case map[string]any:
			inner, ok := holder[s.name]
			if !ok || s.kind == stepIndex {
				return nil, false
			}
			value = inner
		case []any:
			if s.kind != stepIndex || s.index >= len(holder) {
				return nil, false
			}
			value = holder[s.index]
		default:
			return nil, false
		}
	}
	return value, true
}

// compare orders two paths as the API reference does: fields as declared, a
// value before what is inside it.
func (s *shape) compare(a, b path) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			s = s.inner(x)
			continue
		}
		if x.kind == stepField && y.kind == stepField && s != nil {
			return cmp.Or(cmp.Compare(s.position(x.name), s.position(y.name)), cmp.Compare(x.name, y.name))
		}
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.index, y.index), cmp.Compare(x.name, y.name))
	}
	return cmp.Compare(len(a), len(b))
}

func (s *shape) inner(next step) *shape {
	switch {
	case s == nil:
		return nil
	case next.kind == stepField:
		return s.fields[next.name]
	}
	return s.elem
}

func (s *shape) position(name string) int {
	if at, ok := s.order[name]; ok {
		return at
	}
	return len(s.order)
}
