// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSkipSandboxLeavesOnlyThatLineOut(t *testing.T) {
	const line = `/*M!999999\- enable the sandbox mode */ ` + "\n"
	body := "-- MariaDB dump\n" + strings.Repeat("INSERT INTO `t` VALUES (1);\n", 100)
	cases := map[string]struct{ dump, want string }{
		"a newer dump":                  {line + body, body},
		"an older dump":                 {body, body},
		"the line further down":         {body + line, body + line},
		"nothing":                       {"", ""},
		"only the line":                 {line, ""},
		"a short dump":                  {"x", "x"},
		"a line that never ends":        {strings.Repeat(`/*M!999999\-`, 50), strings.Repeat(`/*M!999999\-`, 50)},
		"another comment with a number": {"/*M!100616 SET x */;\n", "/*M!100616 SET x */;\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tc.dump), iotest.OneByteReader(strings.NewReader(tc.dump))} {
				got, err := io.ReadAll(skipSandbox(r))
				if err != nil || string(got) != tc.want {
					t.Errorf("got %.60q, %v; want %.60q", got, err, tc.want)
				}
			}
		})
	}
}

func TestSkipSandboxPassesAnErrorOn(t *testing.T) {
	if _, err := io.ReadAll(skipSandbox(iotest.ErrReader(io.ErrUnexpectedEOF))); err == nil {
		t.Error("the error is lost")
	}
}
