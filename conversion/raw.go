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
	ok = visit(text, func(key, value []byte) { o.members = append(o.members, member{key: key, value: value}) })
	if !ok {
		return nil, false
	}
	return o, true
}

// visit walks over the members of an object; ok is false for any other value. A key is in its quotes,
// without escapes that it does not need.
func visit(text []byte, member func(key, value []byte)) (ok bool) {
	return parse(text, '{', '}', func(s *scanner) bool {
		key := s.value()
		if !s.eat(':') {
			return false
		}
		if bytes.IndexByte(key, '\\') >= 0 {
			if text, ok := decodeString(key); ok {
				key = encodeString(text)
			}
		}
		value := s.value()
		if key == nil || value == nil {
			return false
		}
		member(key, value)
		return true
	})
}

// pick is what stands under at most three names of an object, nil where nothing does. It keeps nothing else
// of it, however much there is.
func pick(text []byte, names ...string) (values values, ok bool) {
	ok = visit(text, func(key, value []byte) {
		m := member{key: key}
		if i := slices.IndexFunc(names, m.named); i >= 0 {
			values[i] = value
		}
	})
	return values, ok
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
