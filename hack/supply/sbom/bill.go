// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/app"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"example.com/backupjob-operator/hack/supply/internal/linked"
)

const specVersion = cdx.SpecVersion1_6

// bill is a bill of materials as it is written, with the number of modules in
// it that are not ours.
type bill struct {
	text    []byte
	modules int
}

func newBill(s settings, b linked.Binary) (bill, error) {
	file := filepath.Join(s.bin, b.Name)
	built, err := buildinfo.ReadFile(file)
	if err != nil {
		return bill{}, fmt.Errorf("read what the binary was built from: %w", err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return bill{}, err
	}
	bom, err := generate(s, b, built)
	if err != nil {
		return bill{}, err
	}
	if err := agree(bom, built); err != nil {
		return bill{}, err
	}
	describe(bom, s.version, b.Name, sha256.Sum256(content))
	var text bytes.Buffer
	encoder := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.EncodeVersion(bom, specVersion); err != nil {
		return bill{}, fmt.Errorf("write the bill: %w", err)
	}
	return bill{text: text.Bytes(), modules: len(*bom.Components)}, nil
}

// generate asks the Go command that built the binary for what is linked on the
// binary's platform.
func generate(s settings, b linked.Binary, built *debug.BuildInfo) (*cdx.BOM, error) {
	setting := map[string]string{"GOTOOLCHAIN": built.GoVersion}
	for _, one := range built.Settings {
		setting[one.Key] = one.Value
	}
	for _, key := range []string{"GOTOOLCHAIN", "GOOS", "GOARCH", "CGO_ENABLED"} {
		if err := os.Setenv(key, setting[key]); err != nil { // the generator's Go command inherits it
			return nil, err
		}
	}
	modules, err := linked.Modules(s.root, b.Package(), setting["GOOS"]+"/"+setting["GOARCH"])
	if err != nil {
		return nil, err
	}
	generator, err := app.NewGenerator(s.root,
		app.WithMainDir(b.Package()), app.WithIncludeStdlib(true),
		app.WithLicenseDetector(detector(modules)),
		app.WithLogger(zerolog.New(os.Stderr).Level(zerolog.WarnLevel)))
	if err != nil {
		return nil, fmt.Errorf("set up the generator: %w", err)
	}
	bom, err := generator.Generate()
	if err != nil {
		return nil, fmt.Errorf("generate the bill (it needs the git repository): %w", err)
	}
	return bom, nil
}

// detector is a licensedetect.Detector that knows what linked found.
type detector map[string]linked.Module

// Detect gives the licences of a module.
func (d detector) Detect(path, _, _ string) ([]cdx.License, error) {
	m, ok := d[path]
	if !ok { // our own module
		return []cdx.License{{ID: "Apache-2.0"}}, nil
	}
	var licences []cdx.License
	for _, id := range m.Licences {
		licences = append(licences, cdx.License{ID: id})
	}
	return licences, nil
}

// agree fails unless bill and binary name the same modules.
func agree(bom *cdx.BOM, built *debug.BuildInfo) error {
	want := map[string]bool{linked.Standard + "@" + built.GoVersion: true}
	for _, m := range built.Deps {
		want[m.Path+"@"+m.Version] = true
	}
	for _, c := range *bom.Components {
		name := c.Name + "@" + c.Version
		if !want[name] {
			return fmt.Errorf("the bill names %s, the binary does not: build it anew, with the same Go", name)
		}
		if c.Evidence == nil || c.Evidence.Licenses == nil || len(*c.Evidence.Licenses) == 0 {
			return fmt.Errorf("the bill knows no licence of %s", name)
		}
		delete(want, name)
	}
	for name := range want {
		return fmt.Errorf("the binary names %s, the bill does not: build it anew, with the same Go", name)
	}
	return nil
}

// describe says which binary the bill is of, and takes out what would change
// from one commit to the next although the binary does not.
func describe(bom *cdx.BOM, version, name string, digest [sha256.Size]byte) {
	main := bom.Metadata.Component
	old, reference := "@"+main.Version, main.BOMRef
	rename := func(s string) string { return strings.Replace(s, old, "@"+version, 1) }
	main.Name, main.Version = name, version
	main.BOMRef, main.PackageURL = rename(main.BOMRef), rename(main.PackageURL)
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}}
	for i := range *bom.Dependencies {
		if d := &(*bom.Dependencies)[i]; d.Ref == reference {
			d.Ref = main.BOMRef
		}
	}
	assert(main)
	for i := range *bom.Components {
		assert(&(*bom.Components)[i])
	}
	bom.Metadata.Tools = &cdx.ToolsChoice{Components: &[]cdx.Component{{
		Type: cdx.ComponentTypeApplication, Name: "cyclonedx-gomod", Version: generatorVersion(),
	}}}
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, digest[:]).URN()
}

// assert states the licences instead of offering them as evidence: each text
// was recognised, and what reads bills looks there.
func assert(c *cdx.Component) {
	c.Licenses, c.Evidence = c.Evidence.Licenses, nil
}

func generatorVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/CycloneDX/cyclonedx-gomod" {
				return m.Version
			}
		}
	}
	return ""
}
