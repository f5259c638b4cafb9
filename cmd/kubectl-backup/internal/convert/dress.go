// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a value of the input.
type place struct {
	key, value *yaml.Node // key is nil for an item of a list
	order      int        // in the text
	told       bool       // its comments have been carried over
}

// wardrobe holds what the input's author gave to each value: a place in the
// order, comments, quotes.
type wardrobe struct {
	places   map[string]*place
	origin   func(string) string
	plain    bool // the input is JSON in all but name: its quotes say nothing
	indented bool // a list begins further in than its key
}

// dress gives the answer the order, the comments and the quotes of the input.
// It returns the lines of the comments that found no place, and whether the
// input indents its lists.
func (c *converted) dress(answer, input *yaml.Node) (lost []int, indented bool) {
	answer.HeadComment, answer.FootComment = input.HeadComment, input.FootComment
	w := &wardrobe{places: map[string]*place{}, origin: c.origin, plain: input.Content[0].Style&yaml.FlowStyle != 0}
	w.collect(input.Content[0], "")
	w.dress(answer.Content[0], "")
	for _, p := range w.places {
		if !p.told && p.commented() {
			lost = append(lost, c.from.LineAt(p.value))
		}
	}
	slices.Sort(lost)
	return lost, w.indented
}

// collect leaves aliases alone: what they stand for has its place elsewhere.
func (w *wardrobe) collect(node *yaml.Node, path string) {
	eachChild(node, path, func(key, value *yaml.Node, at string) {
		w.places[at] = &place{key: key, value: value, order: len(w.places)}
		if key != nil && value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0 {
			w.indented = w.indented || value.Column > key.Column
		}
		w.collect(value, at)
	})
}

// eachChild visits what a mapping or a sequence holds.
func eachChild(node *yaml.Node, path string, visit func(key, value *yaml.Node, at string)) {
	switch node.Kind { //nolint:exhaustive // the others hold nothing
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			visit(key, node.Content[i+1], strings.TrimPrefix(path+"."+key.Value, "."))
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			visit(nil, item, path+"["+strconv.Itoa(i)+"]")
		}
	}
}

// dress returns where in the input the first of what the node holds comes from.
func (w *wardrobe) dress(node *yaml.Node, path string) (first int) {
	first = math.MaxInt
	orders := map[*yaml.Node]int{}
	previous := -1
	eachChild(node, path, func(key, value *yaml.Node, at string) {
		order := math.MaxInt
		if p := w.places[w.origin(at)]; p != nil {
			p.give(key, value, w.plain)
			order = p.order
		}
		order = min(order, w.dress(value, at))
		first = min(first, order)
		if order == math.MaxInt {
			order = previous // what comes from nowhere stays beside its neighbour
		}
		orders[cmp.Or(key, value)], previous = order, order
	})
	if node.Kind == yaml.MappingNode {
		sortPairs(node, orders)
	}
	return first
}

func sortPairs(mapping *yaml.Node, orders map[*yaml.Node]int) {
	pairs := slices.Collect(slices.Chunk(mapping.Content, 2))
	slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int { return cmp.Compare(orders[a[0]], orders[b[0]]) })
	mapping.Content = slices.Concat(pairs...)
}

// give hands on comments, once, and the way in which a value is written.
func (p *place) give(key, value *yaml.Node, plain bool) {
	if p.value.Kind != value.Kind {
		return
	}
	if !p.told {
		p.told = true
		carry(p.key, key)
		carry(p.value, value)
	}
	const quotes = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	switch style := p.value.Style; {
	case plain || len(value.Content) == 0 && value.Kind != yaml.ScalarNode:
	case value.Kind != yaml.ScalarNode:
		value.Style = style & yaml.FlowStyle
	case value.Tag == "!!str" && (style&quotes != 0 || p.value.Value == value.Value && style&^yaml.TaggedStyle != 0):
		value.Style = style &^ yaml.TaggedStyle
	}
}

func carry(from, to *yaml.Node) {
	if from != nil && to != nil {
		to.HeadComment, to.LineComment, to.FootComment = from.HeadComment, from.LineComment, from.FootComment
	}
}

func (p *place) commented() bool {
	for _, node := range []*yaml.Node{p.key, p.value} {
		if node != nil && node.HeadComment+node.LineComment+node.FootComment != "" {
			return true
		}
	}
	return false
}
