// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDecodeManifestKnowsItsOwn(t *testing.T) {
	const good = `{"formatVersion":1,"object":{"uid":"u"},"file":"a.sql","scheduledTime":"2027-03-28T02:00:00Z","sha256":"ab","later":"field"}`
	if _, err := DecodeManifest([]byte(good)); err != nil {
		t.Errorf("a good one with a field of later: %v", err)
	}
	for name, replace := range map[string][2]string{
		"no version":           {`"formatVersion":1,`, ``},
		"a version of later":   {`"formatVersion":1`, `"formatVersion":2`},
		"a file elsewhere":     {`"a.sql"`, `"../a.sql"`},
		"a hidden file":        {`"a.sql"`, `".a.sql"`},
		"itself as the file":   {`"a.sql"`, `"a.json"`},
		"no file":              {`"a.sql"`, `""`},
		"no UID":               {`{"uid":"u"}`, `{}`},
		"no scheduled time":    {`"scheduledTime":"2027-03-28T02:00:00Z",`, ``},
		"no checksum":          {`"sha256":"ab"`, `"sha256":""`},
		"a time that is none":  {`2027-03-28T02:00:00Z`, `yesterday`},
		"not even JSON":        {`{`, ``},
		"a list":               {good, `[]`},
		"nothing":              {good, ``},
		"a null":               {good, `null`},
		"a size that is a map": {`"later":"field"`, `"sizeBytes":{}`},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := DecodeManifest([]byte(strings.Replace(good, replace[0], replace[1], 1))); err == nil {
				t.Errorf("got %+v, want an error", m)
			}
		})
	}
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add([]byte(`{"formatVersion":1,"object":{"uid":"u"},"file":"a.sql","scheduledTime":"2027-03-28T02:00:00Z","sha256":"ab"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeManifest(data)
		if err == nil && (filepath.Base(m.File) != m.File || m.Object.UID == "") {
			t.Errorf("got %+v", m)
		}
	})
}
