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

// object is a JSON object whose members keep their order and their bytes. The text that it was parsed
// from is never written to.
type object struct {
	members []member
}

// member is one name of an object with its value.
type member struct {
	key   []byte // as it stands, in its quotes
	value []byte
	inner *object // the value, once it was looked into
}

// parseObject splits the text of an object. The text should be valid JSON; if it is not, the result is
// of no use, but nothing worse happens.
func parseObject(text []byte) (*object, bool) {
	s := scanner{text: text}
	if !s.eat('{') {
		return nil, false
	}
	o := &object{}
	if s.eat('}') {
		return o, true
	}
	o.members = make([]member, 0, 16)
	for {
		key := s.value()
		if len(key) < 2 || key[0] != '"' || !s.eat(':') {
			return nil, false
		}
		value := s.value()
		if value == nil {
			return nil, false
		}
		o.members = append(o.members, member{key: key, value: value})
		if !s.eat(',') {
			return o, s.eat('}')
		}
	}
}

// parseArray splits the text of an array; ok is false for anything else.
func parseArray(text []byte) (elements [][]byte, ok bool) {
	s := scanner{text: text}
	if !s.eat('[') {
		return nil, false
	}
	if s.eat(']') {
		return nil, true
	}
	for {
		element := s.value()
		if element == nil {
			return nil, false
		}
		elements = append(elements, element)
		if !s.eat(',') {
			return elements, s.eat(']')
		}
	}
}

// find is the member of that name. Of several the last counts, as everywhere in Go, and the others are
// dropped: they would come to light when the last one is moved.
func (o *object) find(name string) *member {
	last, count := -1, 0
	for i := range o.members {
		if o.members[i].named(name) {
			last = i
			count++
		}
	}
	if count > 1 {
		at := -1
		o.members = slices.DeleteFunc(o.members, func(m member) bool {
			at++
			return at < last && m.named(name)
		})
		last -= count - 1
	}
	if last < 0 {
		return nil
	}
	return &o.members[last]
}

func (m *member) named(name string) bool {
	if bytes.IndexByte(m.key, '\\') < 0 {
		return string(m.key[1:len(m.key)-1]) == name
	}
	key, ok := decodeString(m.key)
	return ok && key == name
}

// object is the member's value, nil if that is no object.
func (m *member) object() *object {
	if m.inner == nil {
		m.inner, _ = parseObject(m.value)
	}
	return m.inner
}

func (m *member) raw() []byte {
	if m.inner == nil {
		return m.value
	}
	return m.inner.append(nil)
}

// get is what stands at the path, nil if nothing does.
func (o *object) get(path ...string) []byte {
	m := o.find(path[0])
	for _, name := range path[1:] {
		if m == nil || m.object() == nil {
			return nil
		}
		m = m.object().find(name)
	}
	if m == nil {
		return nil
	}
	return m.raw()
}

// take removes what stands at the path and returns it, nil if nothing does.
func (o *object) take(path ...string) []byte {
	m := o.find(path[0])
	switch {
	case m == nil:
		return nil
	case len(path) > 1 && m.object() == nil:
		return nil
	case len(path) > 1:
		return m.object().take(path[1:]...)
	}
	value := m.raw()
	o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.named(path[0]) })
	return value
}

// put sets what stands at the path, whatever stood there, and makes the objects that lead to it.
func (o *object) put(value []byte, path ...string) {
	m := o.find(path[0])
	if m == nil {
		o.members = append(o.members, member{key: []byte(`"` + path[0] + `"`)})
		m = &o.members[len(o.members)-1]
	}
	if len(path) == 1 {
		m.value, m.inner = value, nil
		return
	}
	if m.object() == nil {
		m.inner = &object{}
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
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		text = string(raw[1 : len(raw)-1])
		return text, utf8.ValidString(text)
	}
	if json.Unmarshal(raw, &text) != nil || strings.ContainsRune(text, utf8.RuneError) {
		return "", false
	}
	return text, true
}

func encodeString(text string) []byte {
	raw, _ := json.Marshal(text) // a string always has a text
	return raw
}

// scanner walks over valid JSON without judging it.
type scanner struct {
	text []byte
	at   int
}

// eat steps over blanks and then over c, if that is next.
func (s *scanner) eat(c byte) bool {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			continue
		case c:
			s.at++
			return true
		}
		return false
	}
	return false
}

// value steps over one value and returns its text, nil if there is none.
func (s *scanner) value() []byte {
	s.eat(0) // no JSON has that byte: only the blanks
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.skipString()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return nil
			}
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return nil
			}
			s.at++
			continue
		default:
			s.skipPlain()
		}
		if depth == 0 {
			return s.text[start:s.at]
		}
	}
	return nil
}

// skipString steps over a string: to the next quote that no backslash takes the meaning from.
func (s *scanner) skipString() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
	s.at = len(s.text)
}

// skipPlain steps over a number, true, false or null.
func (s *scanner) skipPlain() {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ',', ':', ' ', '\t', '\r', '\n', '"', '{', '}', '[', ']':
			return
		}
	}
}
