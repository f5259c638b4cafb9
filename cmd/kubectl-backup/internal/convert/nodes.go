// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// nodeOf is a JSON value as YAML, its fields in the order in which they stand.
func nodeOf(raw []byte) (*yaml.Node, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a number keeps its digits
	return readNode(decoder)
}

func readNode(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return readInner(decoder, &yaml.Node{Kind: yaml.MappingNode})
	case json.Delim('['):
		return readInner(decoder, &yaml.Node{Kind: yaml.SequenceNode})
	}
	return scalar(token)
}

// readInner reads what a mapping or a sequence holds. The keys of a mapping are
// tokens like its values.
func readInner(decoder *json.Decoder, node *yaml.Node) (*yaml.Node, error) {
	for decoder.More() {
		inner, err := readNode(decoder)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, inner)
	}
	if len(node.Content) == 0 {
		node.Style = yaml.FlowStyle
	}
	_, err := decoder.Token()
	return node, err
}

func scalar(token json.Token) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.ScalarNode}
	switch value := token.(type) {
	case json.Number:
		node.Value = value.String()
	case string:
		// Encode knows which texts need quotes so as to stay texts, also for
		// readers of YAML 1.1. The sign of a merge is the one that it misses.
		if value == "<<" {
			node.Tag, node.Value, node.Style = "!!str", value, yaml.DoubleQuotedStyle
			return node, nil
		}
		err := node.Encode(value)
		return node, err
	case bool, nil:
		err := node.Encode(value)
		return node, err
	default:
		return nil, fmt.Errorf("%v is no JSON value", token)
	}
	return node, nil
}
