// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"archive/zip"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
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
	defer func() {
		if err := archive.Close(); err != nil {
			t.Error(err)
		}
	}()
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
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		checkPure(t, file)
	}
}

func checkPure(t *testing.T, file string) {
	t.Helper()
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
	for node := range ast.Preorder(tree) {
		if name := selected(node); impure[name] {
			t.Errorf("%s uses %s", file, name)
		}
	}
}

var impure = map[string]bool{
	"time.LoadLocation": true, "time.Now": true, "time.Local": true, "time.Since": true, "time.Until": true, "os.Getenv": true,
}

// selected returns "package.Name" where a node is such a thing.
func selected(node ast.Node) string {
	if selector, ok := node.(*ast.SelectorExpr); ok {
		if x, ok := selector.X.(*ast.Ident); ok {
			return x.Name + "." + selector.Sel.Name
		}
	}
	return ""
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
	var names []string
	for line := range strings.Lines(aliases) {
		words := strings.Fields(line)
		if len(words) < 2 || CheckZone(words[0]) == nil {
			t.Fatalf("%q has no zone or is one itself", line)
		}
		name := words[0]
		names = append(names, name)
		if name != strings.ToUpper(name) && name != key(name) {
			t.Errorf("%q is neither in upper case nor written as a key", name)
		}
		if i := slices.IndexFunc(words[1:], func(zone string) bool { return CheckZone(zone) != nil }); i >= 0 {
			t.Errorf("%q leads to %q, which is no zone", name, words[1+i])
		}
	}
	if want := slices.Compact(slices.Sorted(slices.Values(names))); !slices.Equal(names, want) {
		t.Error("aliases.txt is not sorted, or has a name twice")
	}
	for _, zone := range Zones() {
		if slices.Contains(names, key(place(zone))) {
			t.Errorf("%s is hidden behind an alias of its own name", zone)
		}
	}
}
