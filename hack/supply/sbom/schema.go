// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/xeipuuv/gojsonschema"
)

// schema is CycloneDX's own, from the module that writes the bills.
type schema struct{ *gojsonschema.Schema }

func loadSchema() (schema, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		return schema{}, fmt.Errorf("find the module of the schema: %w", err)
	}
	file := func(name string) gojsonschema.JSONLoader {
		path := filepath.Join(strings.TrimSpace(string(out)), "schema", name)
		return gojsonschema.NewReferenceLoader("file://" + filepath.ToSlash(path))
	}
	loader := gojsonschema.NewSchemaLoader()
	// The names under which the main schema refers to them.
	if err := loader.AddSchemas(file("spdx.schema.json"), file("jsf-0.82.schemax.json")); err != nil {
		return schema{}, fmt.Errorf("load what the schema refers to: %w", err)
	}
	compiled, err := loader.Compile(file("bom-" + specVersion.String() + ".schema.json"))
	if err != nil {
		return schema{}, fmt.Errorf("load the schema: %w", err)
	}
	return schema{compiled}, nil
}

// check fails with every violation.
func (s schema) check(text []byte) error {
	result, err := s.Validate(gojsonschema.NewBytesLoader(text))
	if err != nil {
		return fmt.Errorf("read the bill: %w", err)
	}
	problems := []error{}
	for _, e := range result.Errors() {
		problems = append(problems, fmt.Errorf("the bill breaks CycloneDX's schema: %s", e))
	}
	return errors.Join(problems...)
}
