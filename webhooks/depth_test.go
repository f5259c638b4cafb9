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

func TestWhatIsTooDeepIsNotRead(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	for _, path := range routes {
		response, err := d.client.Post(d.url+path, "application/json", strings.NewReader(inEachOther(mostDepth+2))) //nolint:noctx // the client has a time-out
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s answered %s", path, response.Status)
		}
		if n := d.metric(t, "backupjob_webhook_refused_total", map[string]string{"route": path, "reason": "Depth"}); n != 1 {
			t.Errorf("%s counted %v", path, n)
		}
	}
}
