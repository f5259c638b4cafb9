// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import "bytes"

// mostDepth is how deep lists and objects may stand in each other, many times
// what a schema has. Whoever reads a text calls itself for each level, so a deep
// one takes its hundredfold in memory.
const mostDepth = 1000

// beginsObject reports whether a text can be a JSON object: else the library takes
// it for YAML, which can be as deep without a bracket.
func beginsObject(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}

// tooDeep judges the beginning of a JSON text. What is deeper further on, the
// library refuses at 10,000 levels, and of such large texts one is read at a
// time.
func tooDeep(text []byte) bool {
	if bytes.Count(text, []byte{'['})+bytes.Count(text, []byte{'{'}) <= mostDepth {
		return false // this is quick, and true of nearly all texts
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfString(text, i+1)
		case '[', '{':
			if depth++; depth > mostDepth {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// endOfString returns where the quote is that ends a string.
func endOfString(text []byte, i int) int {
	for ; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}
