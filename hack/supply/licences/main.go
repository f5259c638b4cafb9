// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command licences prints docs/licences.md: the modules that the shipped
// binaries are made of, and their licences. It fails if one has no licence, or
// one that is not allowed. With -texts it also writes the texts, which have to
// go wherever the binaries go.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/backupjob-operator/hack/supply/internal/linked"
)

func main() {
	root := flag.String("root", "../..", "folder of the module whose binaries are looked at")
	texts := flag.String("texts", "", "file for the texts of all licences and notices")
	flag.Parse()
	if err := run(os.Stdout, *root, *texts); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root, texts string) error {
	rows, err := gather(root)
	if err != nil {
		return err
	}
	if texts != "" {
		if err := writeTexts(texts, rows); err != nil {
			return err
		}
	}
	return writeDocument(out, rows)
}

// row is a module and the binaries that hold it.
type row struct {
	linked.Module
	in []string
}

// gather is every module of every binary on every platform, by path.
func gather(root string) ([]row, error) {
	all := map[string]*row{}
	var problems []error
	for _, b := range linked.Binaries() {
		for _, platform := range b.Platforms {
			modules, err := linked.Modules(root, b.Package(), platform)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s on %s: %w", b.Name, platform, err))
				continue
			}
			for path, m := range modules {
				if all[path] == nil {
					all[path] = &row{}
				}
				all[path].add(m, b.Name)
			}
		}
	}
	rows := make([]row, 0, len(all))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		rows = append(rows, *all[path])
	}
	return rows, errors.Join(problems...)
}

// add takes in what a module is to another binary, or on another platform,
// where other packages of it may be linked.
func (r *row) add(m linked.Module, binary string) {
	for _, f := range m.Files {
		if !slices.ContainsFunc(r.Files, func(have linked.File) bool { return have.Name == f.Name }) {
			r.Files = append(r.Files, f)
		}
	}
	slices.SortFunc(r.Files, func(a, b linked.File) int { return cmp.Compare(a.Name, b.Name) })
	r.Path, r.Version = m.Path, m.Version
	r.Licences = slices.Compact(slices.Sorted(slices.Values(append(r.Licences, m.Licences...))))
	if !slices.Contains(r.in, binary) {
		r.in = append(r.in, binary)
	}
}

func writeDocument(out io.Writer, rows []row) error {
	var text strings.Builder
	text.WriteString(`<!-- Written by 'make generate' from the modules that are linked. -->
# Licences

The project itself: Apache-2.0. Below is every module of which the shipped binaries hold a package, on any platform that they are built for; ` + "`std`" + ` is Go's standard library. A module with several licences has parts under each. ` + "`make sbom`" + ` writes the versions, and the texts that have to be passed on, into ` + "`dist/`" + `.

| module | licences | in |
|---|---|---|
`)
	for _, r := range rows {
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", r.Path, strings.Join(r.Licences, ", "), strings.Join(r.in, ", "))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func writeTexts(file string, rows []row) error {
	var text strings.Builder
	text.WriteString("Licences and notices of the modules that backupjob-operator's binaries hold.\n")
	for _, r := range rows {
		for _, f := range r.Files {
			fmt.Fprintf(&text, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("=", 78),
				strings.TrimSpace(r.Path+" "+r.Version)+": "+f.Name, strings.Repeat("=", 78), strings.TrimRight(f.Text, "\n"))
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}
