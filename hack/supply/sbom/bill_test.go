// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func component(name, version string) cdx.Component {
	licences := cdx.Licenses{{License: &cdx.License{ID: "MIT"}}}
	return cdx.Component{
		Type: cdx.ComponentTypeLibrary, BOMRef: name + "@" + version, Name: name, Version: version,
		Evidence: &cdx.Evidence{Licenses: &licences},
	}
}

func bomOf(components ...cdx.Component) *cdx.BOM {
	bom := cdx.NewBOM()
	ours := component("example.com/ours", "v0.0.0-20260101000000-abcdefabcdef")
	ours.Type = cdx.ComponentTypeApplication
	bom.Metadata = &cdx.Metadata{Component: &ours}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: ours.BOMRef}}
	return bom
}

func TestABillThatSaysSomethingElseThanTheBinaryIsRefused(t *testing.T) {
	built := &debug.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}}}
	std, unlicensed := component("std", "go1.26.0"), component("example.com/a", "v1.0.0")
	unlicensed.Evidence = nil
	for name, tc := range map[string]struct {
		components []cdx.Component
		want       string
	}{
		"it agrees":         {components: []cdx.Component{component("example.com/a", "v1.0.0"), std}},
		"a module too few":  {components: []cdx.Component{std}, want: "the binary names example.com/a@v1.0.0"},
		"a module too many": {components: []cdx.Component{component("example.com/a", "v1.0.0"), std, component("example.com/b", "v1.0.0")}, want: "the bill names example.com/b@v1.0.0"},
		"another version":   {components: []cdx.Component{component("example.com/a", "v1.0.1"), std}, want: "the bill names example.com/a@v1.0.1"},
		"another Go":        {components: []cdx.Component{component("example.com/a", "v1.0.0"), component("std", "go1.26.1")}, want: "the bill names std@go1.26.1"},
		"no licence":        {components: []cdx.Component{unlicensed, std}, want: "no licence of example.com/a@v1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			err := agree(bomOf(tc.components...), built)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func written(t *testing.T, bom *cdx.BOM) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).EncodeVersion(bom, specVersion); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func TestABillIsOfTheBinaryAndNotOfTheCommit(t *testing.T) {
	bom := bomOf(component("example.com/a", "v1.0.0"))
	describe(bom, "v0.1.0", "agent", sha256.Sum256([]byte("the binary")))
	text := string(written(t, bom))
	if strings.Contains(text, "abcdefabcdef") {
		t.Errorf("the commit is in it:\n%s", text)
	}
	for _, want := range []string{`"name":"agent","version":"v0.1.0"`, `"ref":"example.com/ours@v0.1.0"`, `"licenses":[{"license":{"id":"MIT"}}]`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in it:\n%s", want, text)
		}
	}
}

func TestTheSchemaRefusesWhatIsNotCycloneDX(t *testing.T) {
	schema, err := loadSchema()
	if err != nil {
		t.Fatal(err)
	}
	bom := bomOf(component("example.com/a", "v1.0.0"))
	describe(bom, "v0.1.0", "agent", sha256.Sum256(nil))
	good := written(t, bom)
	if err := schema.check(good); err != nil {
		t.Errorf("a good bill is refused: %v", err)
	}
	for old, changed := range map[string]string{`"MIT"`: `"No Such Licence"`, `"type":"library"`: `"type":"book"`, `"name":"agent",`: ``} {
		bad := strings.Replace(string(good), old, changed, 1)
		if err := schema.check([]byte(bad)); bad == string(good) || err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("with %s instead of %s: %v", changed, old, err)
		}
	}
}
