// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command sbom writes a CycloneDX bill of materials for each shipped binary,
// and proves that it is valid and says what the binary itself says. Equal
// binaries have equal bills.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/backupjob-operator/hack/supply/internal/linked"
)

// settings say where things are; all folders may be relative.
type settings struct {
	root, bin, out, version string
}

func main() {
	var s settings
	flag.StringVar(&s.root, "root", "../..", "folder of the module that the binaries are built from")
	flag.StringVar(&s.bin, "bin", "../../bin", "folder of the binaries")
	flag.StringVar(&s.out, "out", "../../dist", "folder for the bills")
	flag.StringVar(&s.version, "version", "", "version of the release, such as v0.1.0")
	flag.Parse()
	if err := run(os.Stdout, s); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, s settings) error {
	if s.version == "" {
		return errors.New("-version is needed, such as -version=v0.1.0")
	}
	schema, err := loadSchema()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	for _, b := range linked.Binaries() {
		bill, err := newBill(s, b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		if err := schema.check(bill.text); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		file := filepath.Join(s.out, "sbom-"+b.Name+".cdx.json")
		if err := os.WriteFile(file, bill.text, 0o644); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s: %d modules, valid CycloneDX %s, as the binary says\n", filepath.Base(file), bill.modules, specVersion); err != nil {
			return err
		}
	}
	return nil
}
