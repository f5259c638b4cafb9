// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "bytes"

// maxDepth is how deep lists and objects may stand in each other, as in encoding/json.
const maxDepth = 10000

// scanner walks over JSON and judges it on its way, as encoding/json does: a text that was walked over to its
// end is valid. The walk that judges is the one that finds what is looked for, because reading the text once
// more costs as much as a whole conversion.
type scanner struct {
	text  []byte
	at    int
	depth int
}

// each walks over the items of the object or array that is next; item steps over one.
func (s *scanner) each(start byte, item func() bool) bool {
	if !s.eat(start) || s.depth == maxDepth {
		return false
	}
	s.depth++
	end := start + 2 // of both kinds
	for first := true; !s.eat(end); first = false {
		if !first && !s.eat(',') || !item() {
			return false
		}
	}
	s.depth--
	return true
}

// members walks over the members of the object that is next; value steps over what stands under the key. The
// key is in its quotes, without escapes that it does not need.
func (s *scanner) members(value func(key []byte) bool) bool {
	return s.each('{', func() bool {
		s.next()
		start := s.at
		if !s.skipString() {
			return false
		}
		key := s.text[start:s.at:s.at]
		if bytes.IndexByte(key, '\\') >= 0 {
			if text, ok := decodeString(key); ok {
				key = encodeString(text)
			}
		}
		return s.eat(':') && value(key)
	})
}

// end holds if nothing follows but blanks.
func (s *scanner) end() bool { return s.next() == 0 && s.at == len(s.text) }

// next steps over blanks and returns what follows them, 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.text); s.at++ {
		if c := s.text[s.at]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// eat steps over blanks and then over c, if that is next.
func (s *scanner) eat(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// value steps over one value and returns its text, nil if there is none.
func (s *scanner) value() []byte {
	s.next()
	start := s.at
	if !s.skip() {
		return nil
	}
	return s.text[start:s.at:s.at]
}

// skip steps over one value.
func (s *scanner) skip() bool {
	switch s.next() {
	case '"':
		return s.skipString()
	case '{':
		return s.each('{', func() bool {
			s.next()
			return s.skipString() && s.eat(':') && s.skip()
		})
	case '[':
		return s.each('[', s.skip)
	case 't':
		return s.skipWord("true")
	case 'f':
		return s.skipWord("false")
	case 'n':
		return s.skipWord("null")
	default:
		return s.skipNumber()
	}
}

// plain are the bytes that mean nothing but themselves in a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// skipString steps over a string.
func (s *scanner) skipString() bool {
	if !s.is('"') {
		return false
	}
	text, at := s.text, s.at
	for {
		for at < len(text) && plain[text[at]] {
			at++
		}
		if at == len(text) {
			return false
		}
		switch text[at] {
		case '"':
			s.at = at + 1
			return true
		case '\\':
			n := escape(text[at+1:])
			if n == 0 {
				return false
			}
			at += 1 + n
		default:
			return false
		}
	}
}

// escape is how many bytes after a backslash belong to it, 0 if they mean nothing.
func escape(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch text[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		for i := 1; i <= 4; i++ {
			if i == len(text) || !isHex(text[i]) {
				return 0
			}
		}
		return 5
	}
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func (s *scanner) skipWord(word string) bool {
	if len(s.text)-s.at < len(word) || string(s.text[s.at:s.at+len(word)]) != word {
		return false
	}
	s.at += len(word)
	return true
}

// skipNumber steps over a number: "-", an integer without leading zeros, a fraction, an exponent.
func (s *scanner) skipNumber() bool {
	s.is('-')
	if !s.is('0') && !s.digits() || s.is('.') && !s.digits() {
		return false
	}
	if s.is('e') || s.is('E') {
		if !s.is('+') {
			s.is('-')
		}
		return s.digits()
	}
	return true
}

// is steps over c, if that is the next byte.
func (s *scanner) is(c byte) bool {
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}
