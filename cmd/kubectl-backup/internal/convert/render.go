// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

const indent = 2

// render writes the documents in one text, with what there is to say of it.
func (o *Options) render(all []*converted) (text []byte, notes []string, err error) {
	for _, c := range all {
		notes = append(notes, c.notes...)
		if c.foreign > 0 {
			notes = append(notes, fmt.Sprintf("%s:%d: passed through unchanged: %s", c.from.File, c.from.Line(), c.passedOver()))
		}
	}
	if o.Format.String() == output.JSON {
		text, err = renderJSON(all)
		return text, notes, err
	}
	var buffer bytes.Buffer
	for i, c := range all {
		if i > 0 {
			buffer.WriteString("---\n")
		}
		lost, err := c.writeYAML(&buffer)
		if err != nil {
			return nil, notes, fmt.Errorf("%s:%d: %w", c.from.File, c.from.Line(), err)
		}
		for _, line := range lost {
			notes = append(notes, fmt.Sprintf("%s:%d: left out: a comment that has no place in %s", c.from.File, line, o.To))
		}
	}
	return buffer.Bytes(), notes, nil
}

func (c *converted) passedOver() string {
	if c.from.IsList() {
		return fmt.Sprintf("objects of other kinds in the list: %d", c.foreign)
	}
	return fmt.Sprintf("%s of %s", orNone(c.from.Kind), orNone(c.from.APIVersion))
}

func orNone(text string) string {
	if text == "" {
		return output.None
	}
	return text
}

// renderJSON writes one document as it is and several as a list, so that the
// answer is one JSON value.
func renderJSON(all []*converted) ([]byte, error) {
	if len(all) == 1 {
		return indentJSON(all[0].json)
	}
	items := make([]json.RawMessage, 0, len(all))
	for _, c := range all {
		items = append(items, c.json)
	}
	list, err := json.Marshal(struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}{"v1", "List", items})
	if err != nil {
		return nil, err
	}
	return indentJSON(list)
}

func indentJSON(raw []byte) ([]byte, error) {
	var buffer bytes.Buffer
	if err := json.Indent(&buffer, raw, "", "    "); err != nil {
		return nil, err
	}
	buffer.WriteByte('\n')
	return buffer.Bytes(), nil
}

// writeYAML writes the document; one that did not change as it was written.
// It returns the lines of the comments that found no place.
func (c *converted) writeYAML(buffer *bytes.Buffer) (lost []int, err error) {
	if !c.changed {
		text := bytes.Trim(c.from.Text, "\r\n")
		buffer.Write(text)
		buffer.WriteByte('\n')
		return nil, nil
	}
	node, err := nodeOf(c.json)
	if err != nil {
		return nil, err
	}
	document := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{node}}
	indented := false
	if root := c.from.Root(); root != nil {
		lost, indented = c.dress(document, root)
	}
	encoder := yaml.NewEncoder(buffer)
	encoder.SetIndent(indent)
	if !indented {
		encoder.CompactSeqIndent() // as kubectl writes lists
	}
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return lost, encoder.Close()
}
