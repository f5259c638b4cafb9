// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// decodeInto reads object into a typed one as far as the types reach, and
// returns the paths of the values that it had to leave out.
func decodeInto(object map[string]any, into any, s *shape) ([]path, error) {
	object = withoutWildQuantities(object)
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, into) == nil {
		return nil, nil
	}
	sifter := &sifter{}
	kept, _ := sifter.sift(object, s, nil)
	if data, err = json.Marshal(kept); err != nil {
		return nil, err
	}
	target := reflect.ValueOf(into).Elem()
	target.SetZero()
	return sifter.dropped, json.Unmarshal(data, into)
}

// sifter leaves out of an object what does not fit its type.
type sifter struct{ dropped []path }

// sift returns the part of value that fits; false means none of it.
func (f *sifter) sift(value any, s *shape, at path) (any, bool) {
	if value == nil || s == nil {
		return value, true
	}
	switch holder := value.(type) {
	case map[string]any:
		if s.fields != nil || s.elem != nil && !s.list {
			return f.siftMap(holder, s, at), true
		}
	case []any:
		if s.list {
			return f.siftList(holder, s, at), true
		}
	}
	if s.fields == nil && s.elem == nil && fits(value, s.goType) {
		return value, true
	}
	f.dropped = append(f.dropped, at)
	return nil, false
}

func (f *sifter) siftMap(holder map[string]any, s *shape, at path) map[string]any {
	kept := make(map[string]any, len(holder))
	for _, name := range slices.Sorted(maps.Keys(holder)) {
		next := step{name: name, kind: stepField}
		if s.fields == nil {
			next.kind = stepKey
		}
		if value, ok := f.sift(holder[name], s.inner(next), append(slices.Clip(at), next)); ok {
			kept[name] = value
		}
	}
	return kept
}

// siftList leaves a null for an item that does not fit, so that the others
// keep their indexes.
func (f *sifter) siftList(holder []any, s *shape, at path) []any {
	kept := make([]any, len(holder))
	for i, item := range holder {
		kept[i], _ = f.sift(item, s.elem, append(slices.Clip(at), step{index: i, kind: stepIndex}))
	}
	return kept
}

func fits(value any, t reflect.Type) bool {
	data, err := json.Marshal(value)
	return err == nil && json.Unmarshal(data, reflect.New(t).Interface()) == nil
}
