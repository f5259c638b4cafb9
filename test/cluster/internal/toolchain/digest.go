// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// digestLength keeps folder names short; a clash is still out of reach.
const digestLength = 12

// digest changes whenever what is built from m could change: its sources, the
// versions that it pins, the way it is built, and the compiler.
func (m module) digest(source string) (string, error) {
	sum := sha256.New()
	how := fmt.Sprintln(runtime.Version(), runtime.GOOS, runtime.GOARCH, m.flags, m.cgo, m.stamp, m.programs, m.copies)
	if _, err := io.WriteString(sum, how); err != nil {
		return "", err
	}
	root := filepath.Join(source, m.dir)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isSource(d.Name()) {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return hashFile(sum, filepath.ToSlash(name), path)
	})
	if err != nil {
		return "", fmt.Errorf("read the sources of %s: %w", m.name, err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLength], nil
}

func isSource(name string) bool {
	if name == "go.mod" || name == "go.sum" {
		return true
	}
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

func hashFile(w io.Writer, name, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s %d\n%s", name, len(content), content)
	return err
}
