// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package linked

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Standard is how the standard library is called where modules are listed.
const Standard = "std"

// Module is a module of which a binary holds at least one package.
type Module struct {
	Path, Version string
	// Files are its licences and notices: those above its linked packages, up to
	// its root.
	Files []File
	// Licences are the SPDX identifiers of all of them, sorted.
	Licences []string
}

// goPackage is what "go list" says of a package.
type goPackage struct {
	Dir      string
	Standard bool
	Root     string
	Module   *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path string }
	}
}

// Modules are the modules of other people in the binary that is built from
// the main package on the platform (GOOS/GOARCH), by path, with the standard
// library. Root is the folder of our module.
func Modules(root, mainPackage, platform string) (map[string]Module, error) {
	packages, err := list(root, mainPackage, platform)
	if err != nil {
		return nil, err
	}
	versions, files := map[string]string{}, map[string]map[string]File{}
	for _, p := range packages {
		if p.Module != nil && p.Module.Main {
			continue
		}
		from, err := p.origin()
		if err != nil {
			return nil, err
		}
		if files[from.path] == nil {
			versions[from.path], files[from.path] = from.version, map[string]File{}
		}
		if err := collect(files[from.path], from.dir, from.top); err != nil {
			return nil, fmt.Errorf("module %s: %w", from.path, err)
		}
	}
	modules := map[string]Module{}
	for path, found := range files {
		m, err := newModule(path, versions[path], found)
		if err != nil {
			return nil, err
		}
		modules[path] = m
	}
	return modules, nil
}

// origin is where a package is from, and which folders its licences are in:
// those from dir up to top.
type origin struct{ path, version, dir, top string }

func (p goPackage) origin() (origin, error) {
	switch {
	case p.Standard:
		// The root counts: what lies deeper, such as the licence of the BoringCrypto
		// objects, is of things that only cgo links.
		return origin{path: Standard, dir: p.Root, top: p.Root}, nil
	case p.Module == nil:
		return origin{}, fmt.Errorf("the package in %s belongs to no module", p.Dir)
	case p.Module.Replace != nil:
		return origin{}, fmt.Errorf("module %s is replaced: nobody else could build what is shipped", p.Module.Path)
	}
	return origin{path: p.Module.Path, version: p.Module.Version, dir: p.Dir, top: p.Module.Dir}, nil
}

func newModule(path, version string, found map[string]File) (Module, error) {
	m := Module{Path: path, Version: version}
	licences := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		m.Files = append(m.Files, found[name])
		for _, id := range found[name].Licences {
			licences[id] = true
		}
	}
	m.Licences = slices.Sorted(maps.Keys(licences))
	if len(m.Licences) == 0 {
		return m, fmt.Errorf("module %s has no licence file: ask its authors, or do without it", path)
	}
	return m, nil
}

func list(root, mainPackage, platform string) ([]goPackage, error) {
	system, architecture, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, fmt.Errorf("platform %q must be GOOS/GOARCH, such as linux/amd64", platform)
	}
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Root,Module", mainPackage)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w\n%s", mainPackage, err, stderr.String())
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list prints: %w", err)
		}
		if p.Dir != "" { // unsafe has no folder in some versions
			p.Dir = filepath.Clean(p.Dir)
			packages = append(packages, p)
		}
	}
}
