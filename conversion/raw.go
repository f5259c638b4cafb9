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
	members []member
}

type member struct {
	key   []byte // in its quotes, without escapes that it does not need
	value []byte
	inner *object // the value, once it was looked into
}

// parseObject splits the text of an object; ok is false for any other value. The text must be valid JSON:
// of another one nothing sensible comes, but no harm either.
func parseObject(text []byte) (o *object, ok bool) {
	o = &object{members: make([]member, 0, 8)}
	ok = parse(text, '{', '}', func(s *scanner) bool {
		m := member{key: s.value()}
		if !s.eat(':') {
			return false
		}
		if bytes.IndexByte(m.key, '\\') >= 0 {
			if key, ok := decodeString(m.key); ok {
				m.key = encodeString(key)
			}
		}
		m.value = s.value()
		o.members = append(o.members, m)
		return m.key != nil && m.value != nil
	})
	if !ok {
		return nil, false
	}
	return o, true
}

// parseArray splits the text of an array; ok is false for any other value.
func parseArray(text []byte) (elements [][]byte, ok bool) {
	ok = parse(text, '[', ']', func(s *scanner) bool {
		element := s.value()
		elements = append(elements, element)
		return element != nil
	})
	return elements, ok
}

func (o *object) find(name string) *member {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].named(name) {
			return &o.members[i]
		}
	}
	return nil
}

func (m *member) named(name string) bool {
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

// get is what stands at the path, nil if nothing does.
func (o *object) get(path ...string) []byte {
	holder := o.holder(path)
	if holder == nil {
		return nil
	}
	switch m := holder.find(path[len(path)-1]); {
	case m == nil:
		return nil
	case m.inner != nil:
		return m.inner.append(nil)
	default:
		return m.value
	}
}

// take removes what stands at the path and returns it, nil if nothing does.
func (o *object) take(path ...string) []byte {
	value := o.get(path...)
	if value != nil {
		holder := o.holder(path)
		holder.members = slices.DeleteFunc(holder.members, func(m member) bool { return m.named(path[len(path)-1]) })
	}
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
	raw, _ := json.Marshal(text) // every string can be written
	return raw
}

// scanner walks over valid JSON without judging it.
type scanner struct {
	text []byte
	at   int
}

// parse walks over an object or an array, item by item.
func parse(text []byte, start, end byte, item func(*scanner) bool) bool {
	s := &scanner{text: text}
	if !s.eat(start) {
		return false
	}
	for first := true; !s.eat(end); first = false {
		if !first && !s.eat(',') || !item(s) {
			return false
		}
	}
	return true
}

// eat steps over blanks and then over c, if that is next.
func (s *scanner) eat(c byte) bool {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
		case c:
			s.at++
			return true
		default:
			return false
		}
	}
	return false
}

// value steps over one value and returns its text, nil if there is none.
func (s *scanner) value() []byte {
	s.eat(0) // which no JSON has: only the blanks
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.skipString()
		case c == '{' || c == '[':
			depth++
			s.at++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
			s.at++
		case depth > 0: // between the strings of an object or array nothing matters but its end
			s.at++
			continue
		default:
			for s.at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n,:{}[]\""), s.text[s.at]) < 0 {
				s.at++
			}
		}
		if depth == 0 {
			break
		}
	}
	if s.at == start {
		return nil
	}
	return s.text[start:s.at:s.at]
}

// skipString steps over a string: to the next quote that no backslash takes the meaning from.
func (s *scanner) skipString() {
	for s.at++; s.at < len(s.text); s.at++ {
		quote := bytes.IndexByte(s.text[s.at:], '"')
		if quote < 0 {
			s.at = len(s.text)
			return
		}
		before := s.text[s.at : s.at+quote]
		s.at += quote
		if slashes := len(before) - len(bytes.TrimRight(before, `\`)); slashes%2 == 0 {
			s.at++
			return
		}
	}
}
