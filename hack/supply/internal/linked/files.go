// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package linked

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// enough is how many percent of a licence file have to be known text; the rest
// is names, years and headings.
const enough = 75

// allowed are the licences under which a module may be linked: permissive
// ones, whose texts dist/third-party-licences.txt passes on.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

var (
	licenceName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|unlicense)([.-].*)?$`)
	// A file of licences, in the plural, tells of other modules.
	noticeName = regexp.MustCompile(`(?i)^(notices?|licen[sc]es)([.-].*)?$`)
)

// File is a licence or a notice.
type File struct {
	// Name is its path in the module, with slashes.
	Name string
	Text string
	// Licences are the SPDX identifiers found in it; a notice has none.
	Licences []string
}

// collect adds the licences and notices in dir and in the folders above it, up
// to top.
func collect(found map[string]File, dir, top string) error {
	for ; ; dir = filepath.Dir(dir) {
		if err := collectFrom(found, dir, top); err != nil {
			return err
		}
		if dir == top || !strings.HasPrefix(dir, top) {
			return nil
		}
	}
}

// collectFrom is collect for one folder.
func collectFrom(found map[string]File, dir, top string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, err := filepath.Rel(top, filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if _, done := found[name]; done || e.IsDir() || !speaks(e.Name()) {
			continue
		}
		if found[name], err = read(top, name); err != nil {
			return err
		}
	}
	return nil
}

// speaks says whether a file of that name is a licence or a notice.
func speaks(name string) bool {
	return filepath.Ext(name) != ".go" && (licenceName.MatchString(name) || noticeName.MatchString(name))
}

func read(top, name string) (File, error) {
	text, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		return File{}, err
	}
	f := File{Name: filepath.ToSlash(name), Text: string(text)}
	if licenceName.MatchString(filepath.Base(name)) {
		if f.Licences, err = identify(text); err != nil {
			return File{}, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return f, nil
}

// identify names the licences in a text; it fails if there is none, if much of
// the text is something else, or if one is not allowed.
func identify(text []byte) ([]string, error) {
	coverage := licensecheck.Scan(text)
	ids := map[string]bool{}
	for _, match := range coverage.Match {
		if match.IsURL {
			continue // it mentions a licence, which is not granting it
		}
		if !slices.Contains(allowed, match.ID) {
			return nil, fmt.Errorf("licence %s is not one of %s", match.ID, strings.Join(allowed, ", "))
		}
		ids[match.ID] = true
	}
	if len(ids) == 0 || coverage.Percent < enough {
		return nil, fmt.Errorf("only %.0f %% of the text is that of a known licence; read it, and do not link the module unless it may be passed on", coverage.Percent)
	}
	return slices.Sorted(maps.Keys(ids)), nil
}
