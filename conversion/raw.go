// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// object is a JSON object whose members keep their order and their bytes, which are those of the text that
// it was parsed from. Of members with the same name the last one counts, as everywhere in Go.
type object struct {
	text    []byte // as it was
	members []member
}

type member struct {
	key   []byte // in its quotes, without escapes that it does not need
	value []byte
	inner *object // the value, once it was looked into
}

// parseObject splits the text of an object; ok is false for any other text.
func parseObject(text []byte) (o *object, ok bool) {
	s := &scanner{text: text}
	if o, ok = s.object(min(4+len(text)/48, 32)); !ok || !s.end() {
		return nil, false
	}
	return o, true
}

// object splits the object that is next. The guess is how many members it has.
func (s *scanner) object(guess int) (o *object, ok bool) {
	s.next()
	start := s.at
	o = &object{members: make([]member, 0, guess)}
	ok = s.members(func(key []byte) bool {
		value := s.value()
		o.members = append(o.members, member{key: key, value: value})
		return value != nil
	})
	o.text = s.text[start:s.at]
	return o, ok
}

// pick is what stands under at most three names of an object, nil where nothing does. It keeps nothing else
// of it, however much there is, and looks at nothing behind it.
func pick(text []byte, names ...string) (values values, ok bool) {
	s := &scanner{text: text}
	ok = s.members(func(key []byte) bool {
		value := s.value()
		if i := slices.IndexFunc(names, member{key: key}.named); i >= 0 {
			values[i] = value
		}
		return value != nil
	})
	return values, ok
}

// parseArray splits the text of an array; ok is false for any other text.
func parseArray(text []byte) (elements [][]byte, ok bool) {
	s := &scanner{text: text}
	ok = s.each('[', func() bool {
		element := s.value()
		elements = append(elements, element)
		return element != nil
	})
	return elements, ok && s.end()
}

func (o *object) find(name string) *member {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].named(name) {
			return &o.members[i]
		}
	}
	return nil
}

func (m member) named(name string) bool {
	return len(m.key) == len(name)+2 && string(m.key[1:len(m.key)-1]) == name
}

// object is the member's value, nil if that is no object.
func (m *member) object() *object {
	if m.inner == nil {
		m.inner, _ = parseObject(m.value)
	}
	return m.inner
}

// holder is the object that holds the last name of the path, nil if there is none.
func (o *object) holder(path []string) *object {
	for _, name := range path[:len(path)-1] {
		m := o.find(name)
		if m == nil || m.object() == nil {
			return nil
		}
		o = m.inner
	}
	return o
}

// at is the member at the path, nil if there is none.
func (o *object) at(path []string) *member {
	holder := o.holder(path)
	if holder == nil {
		return nil
	}
	return holder.find(path[len(path)-1])
}

// get is what stands at the path, nil if nothing does.
func (o *object) get(path ...string) []byte {
	m := o.at(path)
	if m == nil {
		return nil
	}
	return m.raw()
}

// raw is the member's value as it is now.
func (m *member) raw() []byte {
	if m.inner != nil {
		return m.inner.append(nil)
	}
	return m.value
}

// isEmpty holds for an object without members, and null.
func (m *member) isEmpty() bool {
	inner := m.object()
	return inner != nil && len(inner.members) == 0 || inner == nil && isNothing(m.value)
}

// take removes what stands at the path and returns it, nil if nothing does.
func (o *object) take(path ...string) []byte {
	holder := o.holder(path)
	if holder == nil {
		return nil
	}
	name := path[len(path)-1]
	m := holder.find(name)
	if m == nil {
		return nil
	}
	value := m.raw()
	holder.members = slices.DeleteFunc(holder.members, func(m member) bool { return m.named(name) })
	return value
}

// put sets what stands at the path, whatever stood there, and makes the objects that lead to it.
func (o *object) put(value []byte, path ...string) {
	m := o.find(path[0])
	if m == nil {
		o.members = append(o.members, member{key: []byte(`"` + path[0] + `"`)}) // no name of ours needs escapes
		m = &o.members[len(o.members)-1]
	}
	if len(path) == 1 {
		m.value, m.inner = value, nil
		return
	}
	if m.object() == nil {
		m.inner = &object{members: make([]member, 0, 8)}
	}
	m.inner.put(value, path[1:]...)
}

func (o *object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range o.members {
		m := &o.members[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.key...), ':')
		if m.inner != nil {
			dst = m.inner.append(dst)
		} else {
			dst = append(dst, m.value...)
		}
	}
	return append(dst, '}')
}

// decodeString is the text of a JSON string. It is not ok for any other value, nor for a string that a Go
// string cannot hold (half a surrogate pair): such a one is carried whole.
func decodeString(raw []byte) (text string, ok bool) {
	switch {
	case len(raw) < 2 || raw[0] != '"':
		return "", false
	case bytes.IndexByte(raw, '\\') < 0:
		text, ok = string(raw[1:len(raw)-1]), utf8.Valid(raw)
	default:
		ok = json.Unmarshal(raw, &text) == nil && !strings.ContainsRune(text, utf8.RuneError)
	}
	if !ok {
		return "", false
	}
	return text, true
}

func encodeString(text string) []byte {
	for i := range len(text) {
		if c := text[i]; !plain[c] || c > '~' || c == '<' || c == '>' || c == '&' {
			raw, _ := json.Marshal(text) // every string can be written
			return raw
		}
	}
	return []byte(`"` + text + `"`)
}
