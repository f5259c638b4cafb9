// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"strings"
	"testing"
)

var isJSON = []string{
	` { "a" : [ 1 , "\"}" , {} ] , "b\u0041":null } `, `[]`, `{}`, "\t{\r\n}", `[[],[{}]]`, `""`, `"é"`, "\"\xff\"", "\"\u007f\"",
	`"\"\\\/\b\f\n\r\t\u00e9\uD800"`, `true`, `false`, `null`, `0`, `-0`, `-12`, `10.050`, `1e5`, `1E+05`, `-0.0e-0`,
	`{"":"","":[true,false,null]}`, strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
}

var notJSON = []string{
	``, ` `, `{`, `[`, `}`, `]`, `,`, `:`, `"`, `{} {}`, `[]x`, `{]`, `[}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `{1:1}`, `[1,]`, `[,]`, `[1 2]`,
	`{"a" 1}`, `{"a":1 "b":2}`, "\"\n\"", "\"\x00\"", `"\x"`, `"\u12"`, `"\u12g4"`, `"\`, `"\u`, `tru`, `truex`, `True`, `nul`, `nan`, `+1`, `-`, `01`, `-01`,
	`1.`, `.5`, `1.e5`, `1e`, `1e+`, `0x1`, `1_000`, "\v1", "\u00a01", strings.Repeat("[", 10001) + strings.Repeat("]", 10001), strings.Repeat("[", 1<<20),
}

func TestTheScannerJudgesAsEncodingJSON(t *testing.T) {
	for want, texts := range map[bool][]string{true: isJSON, false: notJSON} {
		for _, text := range texts {
			s := &scanner{text: []byte(text)}
			if got := s.value() != nil && s.end(); got != want || json.Valid([]byte(text)) != want {
				t.Errorf("%.50q: valid %t, encoding/json says %t, want %t", text, got, json.Valid([]byte(text)), want)
			}
		}
	}
}
