// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads Kubernetes manifests from files, folders and standard
// input, as kubectl does, and remembers on which line everything stood.
package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// OldAPIVersion is that of the operators which this one replaces. Their kinds
// have the same names.
const OldAPIVersion = "example.com/v1"

// Document is one object of a manifest.
type Document struct {
	// File is where the document stands, "-" for standard input.
	File string
	// Text is the document as it was written. An item of a list has none.
	Text []byte
	// JSON is the document as kubectl would send it.
	JSON []byte
	// APIVersion, Kind, Namespace and Name are what the document says of
	// itself. What is missing or is no text is empty.
	APIVersion, Kind, Namespace, Name string

	root *yaml.Node // the YAML document, nil if it has no lines to tell of
	node *yaml.Node // the object in it
	skip int        // lines of the file before those that node counts
}

// newDocument reads text, which begins after skip lines of its file. A document
// that holds nothing but comments is nil.
func newDocument(file string, text []byte, skip int) (*Document, error) {
	d := &Document{File: file, Text: text, skip: skip}
	var err error
	if isJSON(text) {
		d.JSON = text
	} else if d.JSON, err = sigsyaml.YAMLToJSON(text); err != nil {
		return nil, d.syntaxError(err)
	}
	if string(d.JSON) == "null" {
		return nil, nil //nolint:nilnil // nothing is there, and nothing is wrong
	}
	// The lines are a help for the reader and nothing more: a text that only
	// this parser cannot read is judged without them.
	root := &yaml.Node{}
	if yaml.Unmarshal(text, root) == nil && len(root.Content) == 1 {
		d.root, d.node = root, root.Content[0]
	}
	err = d.readHeader()
	return d, err
}

func isJSON(text []byte) bool {
	return len(text) > 0 && text[0] == '{' && json.Valid(text)
}

func (d *Document) readHeader() error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(d.JSON, &fields); err != nil {
		return fmt.Errorf("%s:%d: is no object: a manifest must hold fields such as apiVersion and kind", d.File, d.Line())
	}
	var meta map[string]json.RawMessage
	// What has no metadata, or has text there, has no name: that is for the
	// judgement to say.
	_ = json.Unmarshal(fields["metadata"], &meta)
	d.APIVersion, d.Kind = text(fields["apiVersion"]), text(fields["kind"])
	d.Namespace, d.Name = text(meta["namespace"]), text(meta["name"])
	return nil
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

var lineNumber = regexp.MustCompile(`line (\d+): `)

// syntaxError puts the line of the file in front, where an editor looks for it.
func (d *Document) syntaxError(err error) error {
	why, line := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), d.skip+1
	why = strings.TrimPrefix(why, "yaml: ")
	if found := lineNumber.FindStringSubmatch(why); found != nil {
		n, _ := strconv.Atoi(found[1]) // digits, as the expression says
		line, why = d.skip+n, strings.Replace(why, found[0], "", 1)
	}
	return fmt.Errorf("%s:%d: is not valid YAML: %s", d.File, line, why)
}

// IsList says whether the document is a list of objects.
func (d *Document) IsList() bool {
	if !strings.HasSuffix(d.Kind, "List") {
		return false
	}
	_, ok := d.items()
	return ok
}

// Members are the objects of a list as they stand in it, nil for what is no
// list.
func (d *Document) Members() ([]*Document, error) {
	if !d.IsList() {
		return nil, nil
	}
	items, _ := d.items()
	nodes := mappingValue(d.node, "items")
	all := make([]*Document, 0, len(items))
	for i, raw := range items {
		item := &Document{File: d.File, JSON: raw, skip: d.skip}
		if nodes != nil && nodes.Kind == yaml.SequenceNode && i < len(nodes.Content) {
			item.node = nodes.Content[i]
		}
		if err := item.readHeader(); err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}

// Items are the objects of a list, those of lists inside it included. What is
// no list is its own only item.
func (d *Document) Items() ([]*Document, error) {
	items, err := d.Members()
	if items == nil {
		return []*Document{d}, err
	}
	var all []*Document
	for _, item := range items {
		inner, err := item.Items()
		if err != nil {
			return nil, err
		}
		all = append(all, inner...)
	}
	return all, nil
}

func (d *Document) items() ([]json.RawMessage, bool) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	return list.Items, json.Unmarshal(d.JSON, &list) == nil && list.Items != nil
}
