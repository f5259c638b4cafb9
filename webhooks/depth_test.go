// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"net/http"
	"strings"
	"testing"
)

func inEachOther(depth int) string {
	return strings.Repeat(`{"a":[`, depth/2) + strings.Repeat(`]}`, depth/2)
}

func TestDepthIsJudged(t *testing.T) {
	brackets := strings.Repeat("[{", 2*mostDepth)
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"nothing":                             {"", false},
		"as deep as may be":                   {inEachOther(mostDepth), false},
		"deeper":                              {inEachOther(mostDepth + 2), true},
		"deeper, and cut off":                 {strings.Repeat("[", mostDepth+1), true},
		"many beside each other":              {"[" + strings.Repeat(inEachOther(mostDepth-2)+",", 10) + "0]", false},
		"after many beside each other":        {"[" + strings.Repeat("[],", 2*mostDepth) + inEachOther(mostDepth), true},
		"brackets in a string":                {`{"a":"` + brackets + `"}`, false},
		"brackets in a string, after a quote": {`{"a":"\"` + brackets + `"}`, false},
		"after a string":                      {`["\\",` + inEachOther(mostDepth) + `]`, true},
		"a string without an end":             {`["` + brackets, false},
		"a string that ends in a backslash":   {`["` + brackets + `\`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tooDeep([]byte(tc.text)); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestWhatNoLibraryShallReadIsNotRead(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	for _, path := range routes {
		counted := map[string]float64{}
		for name, tc := range map[string]struct{ text, reason string }{
			"too deep":                    {inEachOther(mostDepth + 2), "Depth"},
			"too deep, after a break":     {"\r\n\t " + inEachOther(mostDepth+2), "Depth"},
			"a list":                      {"[]", "Text"},
			"nothing":                     {"", "Text"},
			"YAML that is deep":           {strings.Repeat("- ", mostDepth+1), "Text"},
			"YAML that begins as comment": {"#\n" + inEachOther(mostDepth+2), "Text"},
			"a mark of the byte order":    {"\ufeff{}", "Text"},
		} {
			code, text, _ := d.post(t, d.client, path, strings.NewReader(tc.text))
			if code != http.StatusBadRequest {
				t.Errorf("%s: %s got %d %s", path, name, code, text)
			}
			counted[tc.reason]++
		}
		for reason, want := range counted {
			if n := d.metric(t, "backupjob_webhook_refused_total", map[string]string{"route": path, "reason": reason}); n != want {
				t.Errorf("%s: counted %v of %s, want %v", path, n, reason, want)
			}
		}
	}
}
