// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package linked

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/licensecheck"
)

const isc = `ISC License

Copyright (c) 2026 The authors

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`

const gpl = `This program is free software: you can redistribute it and/or modify
it under the terms of the GNU General Public License as published by
the Free Software Foundation, either version 3 of the License, or
(at your option) any later version.
`

func TestALicenceIsNamedOrRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		text, wantErr string
		want          []string
	}{
		"a permissive one":                        {text: isc, want: []string{"ISC"}},
		"one that asks for the source":            {text: gpl, wantErr: "licence GPL-3.0-or-later is not one of Apache-2.0, "},
		"a permissive one and one that is not":    {text: isc + "\n" + gpl, wantErr: "licence GPL-3.0-or-later"},
		"no known one":                            {text: "Do what you want on Tuesdays.", wantErr: "only 0 % of the text"},
		"none":                                    {wantErr: "only 0 % of the text"},
		"a known one among much that is not":      {text: isc + strings.Repeat("All your data belong to us and to our partners. ", 60), wantErr: "do not link the module"},
		"a web address that only speaks of one":   {text: "See https://opensource.org/licenses/MIT", wantErr: "of the text is that of a known licence"},
		"names and years before a permissive one": {text: "Copyright (c) 2020 Somebody\nCopyright (c) 2021 Somebody else\n" + isc, want: []string{"ISC"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := identify([]byte(tc.text))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("got %v and error %v, want an error with %q", got, err, tc.wantErr)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("error %v, difference %s", err, diff)
			}
		})
	}
}

func TestEveryAllowedLicenceIsOneThatCanBeFound(t *testing.T) {
	known := map[string]bool{}
	for _, l := range licensecheck.BuiltinLicenses() {
		known[l.ID] = true
	}
	for _, id := range allowed {
		if !known[id] {
			t.Errorf("%s is no identifier that is ever found", id)
		}
	}
}

func TestFilesCountFromThePackageUpToTheModulesRoot(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE": isc, "NOTICE.txt": "Thanks.", "license.go": "package x",
		"third/COPYING": isc, "third/party/x.go": "package x",
		"elsewhere/LICENSE": gpl,
	} {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]File{}
	if err := collect(found, filepath.Join(top, "third", "party"), top); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(found))
	if diff := cmp.Diff([]string{"LICENSE", "NOTICE.txt", filepath.Join("third", "COPYING")}, got); diff != "" {
		t.Error(diff)
	}
	if err := collect(found, filepath.Join(top, "elsewhere"), top); err == nil || !strings.Contains(err.Error(), "elsewhere/LICENSE: licence GPL") {
		t.Errorf("the licence of a linked package was overlooked: %v", err)
	}
}
