// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Line is the line of the file on which the document begins.
func (d *Document) Line() int {
	if d.node == nil {
		return d.skip + 1
	}
	return d.skip + d.node.Line
}

// LineOf is the line of the value at a path such as spec.databases[2], or of
// the innermost value on the way there.
func (d *Document) LineOf(path string) int {
	line := d.Line()
	for node := deref(d.node); node != nil && path != ""; {
		key, value, rest := follow(node, path)
		if value == nil {
			break
		}
		line = d.skip + key.Line
		node, path = deref(value), rest
	}
	return line
}

// Root is the document as it was parsed, comments included. It is nil for an
// item of a list, and where the lines are not known.
func (d *Document) Root() *yaml.Node { return d.root }

// LineAt is the line of the file at which a node of Root stands.
func (d *Document) LineAt(node *yaml.Node) int { return d.skip + node.Line }

// follow goes one step along a path. It returns the node to point at, the node
// to go on from and what is left of the path.
func follow(node *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	switch node.Kind { //nolint:exhaustive // the others hold nothing
	case yaml.SequenceNode:
		number, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		i, err := strconv.Atoi(number)
		if err != nil || i < 0 || i >= len(node.Content) {
			return nil, nil, ""
		}
		return node.Content[i], node.Content[i], rest
	case yaml.MappingNode:
		// Of a field that is there twice, the last one counts.
		for i := len(node.Content) - 2; i >= 0; i -= 2 {
			if rest, ok := cutKey(path, node.Content[i].Value); ok {
				return node.Content[i], node.Content[i+1], rest
			}
		}
	}
	return nil, nil, ""
}

// cutKey removes a key from the front of a path: .key, key at the very front,
// or [key] where the key may hold any character.
func cutKey(path, key string) (rest string, ok bool) {
	if rest, ok := strings.CutPrefix(path, "["+key+"]"); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(path, "."), key)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Duplicate is a key that is there more than once in one place. All but the
// last would be lost without a word.
type Duplicate struct {
	// Path is the path of the field.
	Path string
	// Line is where it is there again.
	Line int
}

// Duplicates are the keys that are there more than once.
func (d *Document) Duplicates() []Duplicate {
	if d.node == nil {
		return nil
	}
	var found []Duplicate
	d.findDuplicates(d.node, "", &found)
	return found
}

// findDuplicates leaves aliases alone: what they stand for is looked at where
// it is written.
func (d *Document) findDuplicates(node *yaml.Node, path string, found *[]Duplicate) {
	if node.Kind == yaml.SequenceNode {
		for i, item := range node.Content {
			d.findDuplicates(item, path+"["+strconv.Itoa(i)+"]", found)
		}
	}
	if node.Kind != yaml.MappingNode {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if seen[key.Value] {
			*found = append(*found, Duplicate{Path: at, Line: d.skip + key.Line})
		}
		seen[key.Value] = true
		d.findDuplicates(node.Content[i+1], at, found)
	}
}

func deref(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// mappingValue is the value of a key, nil where there is none.
func mappingValue(node *yaml.Node, key string) *yaml.Node {
	node = deref(node)
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	var found *yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			found = deref(node.Content[i+1])
		}
	}
	return found
}
