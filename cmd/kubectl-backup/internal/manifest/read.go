// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Stdin is the name that stands for standard input.
const Stdin = "-"

// extensions are those of the files that are read from a folder.
var extensions = []string{".json", ".yaml", ".yml"}

// Read returns the documents of the named files and folders, in order. What
// cannot be read is in the error; the documents are all that could be.
func Read(names []string, recursive bool, stdin io.Reader) ([]*Document, error) {
	var documents []*Document
	var errs []error
	stdinRead := false
	for _, name := range names {
		if name == Stdin {
			if stdinRead {
				errs = append(errs, errors.New("standard input ('-') may be named only once"))
				continue
			}
			stdinRead = true
		}
		found, err := readOne(name, recursive, stdin)
		documents, errs = append(documents, found...), append(errs, err)
	}
	return documents, errors.Join(errs...)
}

func readOne(name string, recursive bool, stdin io.Reader) ([]*Document, error) {
	if name == Stdin {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return split(name, data)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readFile(name)
	}
	files, err := filesIn(name, recursive)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no .yaml, .yml or .json file in this folder%s", name, hint(recursive))
	}
	var documents []*Document
	var errs []error
	for _, file := range files {
		found, err := readFile(file)
		documents, errs = append(documents, found...), append(errs, err)
	}
	return documents, errors.Join(errs...)
}

func hint(recursive bool) string {
	if recursive {
		return " or below"
	}
	return "; with -R the folders below are read too"
}

func readFile(name string) ([]*Document, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return split(name, data)
}

// filesIn lists the manifests of a folder. A link to a file counts as a file,
// as in the volume of a ConfigMap; a link to a folder is not followed.
func filesIn(folder string, recursive bool) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && !recursive:
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains(extensions, filepath.Ext(path)):
			return nil
		}
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// split cuts a file into its documents.
func split(file string, data []byte) ([]*Document, error) {
	var documents []*Document
	var errs []error
	for _, part := range parts(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		document, err := newDocument(file, part.text, part.skip)
		if err != nil {
			errs = append(errs, err)
		} else if document != nil {
			documents = append(documents, document)
		}
	}
	return documents, errors.Join(errs...)
}

type part struct {
	text []byte
	skip int
}

// parts cuts at the lines that begin a YAML document, then at the borders of
// JSON objects that follow each other.
func parts(data []byte) []part {
	var all []part
	current := part{}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		rest, border := cutMarker(text)
		if !border {
			current.text = append(current.text, text...)
			continue
		}
		if !current.hasContent() {
			// A comment above the first marker, a licence say, belongs to the
			// document that follows.
			current.text = append(current.text, rest...)
			continue
		}
		all = append(all, current.objects()...)
		current = part{text: bytes.Clone(rest), skip: line - 1}
	}
	return append(all, current.objects()...)
}

// hasContent says whether there is more than comments and blanks.
func (p part) hasContent() bool {
	for line := range bytes.Lines(p.text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return true
		}
	}
	return false
}

// cutMarker recognises a line that ends a document or begins the next one.
func cutMarker(line []byte) (rest []byte, ok bool) {
	for _, marker := range []string{"---", "..."} {
		rest, ok = bytes.CutPrefix(line, []byte(marker))
		if ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			return rest, true
		}
	}
	return nil, false
}

// objects cuts a stream of JSON objects. What is not altogether JSON stays
// whole, and is YAML.
func (p part) objects() []part {
	decoder := json.NewDecoder(bytes.NewReader(p.text))
	var all []part
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) && len(all) > 0 {
			return all
		} else if err != nil || raw[0] != '{' {
			return []part{p}
		}
		before := p.text[:int(decoder.InputOffset())-len(raw)]
		all = append(all, part{text: raw, skip: p.skip + bytes.Count(before, []byte("\n"))})
	}
}
