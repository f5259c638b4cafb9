// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"archive/zip"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryZoneOfTheDatabaseLoadsAndIsAccepted(t *testing.T) {
	zones := Zones()
	if len(zones) < 590 {
		t.Fatalf("the embedded database holds only %d zones", len(zones))
	}
	for _, zone := range zones {
		if err := CheckZone(zone); err != nil {
			t.Errorf("%s: %v", zone, err)
		}
		location, err := load(zone)
		if err != nil {
			t.Errorf("%s: %v", zone, err)
		} else if location.String() != zone {
			t.Errorf("%s is called %s", zone, location)
		}
	}
	again, err := load("Europe/Berlin")
	if first, _ := load("Europe/Berlin"); err != nil || first != again {
		t.Error("a zone is loaded twice")
	}
}

// A name that a newer Go knows and the copy here does not means that it is time for "go generate".
func TestTheDatabaseKnowsEveryNameOfTheToolchain(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no go command to ask for its root: %v", err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(out)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skipf("this toolchain comes without the database: %v", err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		if !f.FileInfo().IsDir() && f.Name != "Factory" && CheckZone(f.Name) != nil {
			t.Errorf("%s is a zone of the toolchain and not of zoneinfo.zip: run go generate ./api/schedule", f.Name)
		}
	}
}

// What the host has and the image has not must make no difference, whatever it is.
func TestNamesOfTheHostAreRefused(t *testing.T) {
	known := Zones()
	for _, root := range []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ"} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			name := strings.TrimPrefix(path, root+"/")
			if _, listed := slices.BinarySearch(known, name); listed != (CheckZone(name) == nil) {
				t.Errorf("%s of the host: in the database %v, check says %v", name, listed, CheckZone(name))
			}
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	for _, name := range []string{"Local", "localtime", "posixrules", "Factory", "posix/Europe/Rome", "right/UTC", "zone.tab", "."} {
		if CheckZone(name) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// The package asks neither the host nor the clock: no import but the parser and the standard library,
// and none of the functions that would.
func TestThePackageIsPure(t *testing.T) {
	banned := []string{"time.LoadLocation", "time.Now", "time.Local", "time.Since", "time.Until", "os.Getenv"}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range tree.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil || strings.Contains(path, ".") && path != "github.com/robfig/cron/v3" {
				t.Errorf("%s imports %s", file, path)
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := call.X.(*ast.Ident); ok && slices.Contains(banned, x.Name+"."+call.Sel.Name) {
					t.Errorf("%s uses %s.%s", file, x.Name, call.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestZonesAreRefusedWithAWayOut(t *testing.T) {
	cases := map[string]string{
		"EUROPE/ROME":                      "'Europe/Rome'",
		"utc":                              "'UTC'",
		"America/New York":                 "'America/New_York'",
		"New York":                         "'America/New_York'",
		" Asia/Tokyo":                      "'Asia/Tokyo'",
		"Asia/Tokio":                       "'Asia/Tokyo'",
		"Berlin":                           "'Europe/Berlin'",
		"Germany/Berlin":                   "'Europe/Berlin'",
		"Europe/Munich":                    "'Europe/Berlin'",
		"Asia/Mumbai":                      "'Asia/Kolkata'",
		"San Francisco":                    "'America/Los_Angeles'",
		"posix/Europe/Rome":                "'Europe/Rome'",
		"/usr/share/zoneinfo/Europe/Paris": "'Europe/Paris'",
		"PST":                              "region, such as 'America/Los_Angeles' or 'Asia/Manila'",
		"cest":                             "'Europe/Berlin'",
		"GMT+5":                            "'Etc/GMT-5'",
		"UTC-03:00":                        "'Etc/GMT+3'",
		"-11":                              "'Etc/GMT+11'",
		"+00:00":                           "'Etc/GMT-0'",
		"UTC+5:30":                         "'Asia/Kolkata'",
		"UTC+15":                           "not an offset",
		"Etc/GMT+15":                       "must be an IANA time zone name",
		"Mars/Phobos":                      "must be an IANA time zone name",
		"XYZ":                              "region",
		"\x00\xff\u202e":                   "must be an IANA time zone name",
		strings.Repeat("a/", 4096):         "must be an IANA time zone name",
	}
	for zone, says := range cases {
		err := CheckZone(zone)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v, want %s", zone, err, says)
		}
	}
}

func TestEveryAliasLeadsToZonesAndIsNoneItself(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(aliases) {
		words := strings.Fields(line)
		if len(words) < 2 || seen[words[0]] || CheckZone(words[0]) == nil {
			t.Errorf("%q has no zone, is there twice or is a zone itself", line)
		}
		seen[words[0]] = true
		if upper := strings.ToUpper(words[0]); words[0] != upper && words[0] != key(words[0]) {
			t.Errorf("%q is neither in upper case nor written as a key", words[0])
		}
		for _, zone := range words[1:] {
			if CheckZone(zone) != nil {
				t.Errorf("%q leads to %q, which is no zone", words[0], zone)
			}
		}
	}
	// A place of the database must not be hidden behind an alias.
	for _, zone := range Zones() {
		if seen[key(place(zone))] {
			t.Errorf("%s has an alias of its own name", zone)
		}
	}
	keys := slices.Sorted(maps.Keys(seen))
	var listed []string
	for line := range strings.Lines(aliases) {
		listed = append(listed, strings.Fields(line)[0])
	}
	if diff := cmp.Diff(keys, listed); diff != "" {
		t.Errorf("aliases.txt is not sorted (-sorted +listed):\n%s", diff)
	}
}
