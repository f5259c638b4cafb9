// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "bytes"

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
