// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// choose keeps one finding per place: a wrong type before our words, our words
// before the schema's. What is inside a value that is missing or of a wrong
// type says nothing new.
func choose(theirs, misfits, ours []finding) []finding {
	// The libraries walk over maps, so their order is a different one each time.
	slices.SortFunc(theirs, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.message, b.message))
	})
	c := &choice{blocked: map[string]bool{}, taken: map[string]int{}, keyed: map[string]bool{}}
	for _, f := range slices.Concat(theirs, misfits) {
		if f.kind == field.ErrorTypeTypeInvalid || f.kind == field.ErrorTypeRequired {
			c.blocked[f.at.String()] = true
		}
	}
	for _, f := range theirs {
		if f.kind == field.ErrorTypeTypeInvalid {
			c.take(f)
		}
	}
	for _, f := range misfits {
		c.take(f)
	}
	before := len(c.chosen)
	for _, f := range ours {
		c.join(f, before)
	}
	for _, f := range theirs {
		c.take(f)
	}
	return c.chosen
}

type choice struct {
	blocked map[string]bool // places whose inside is not judged
	taken   map[string]int  // places with a finding, and where in chosen it is
	keyed   map[string]bool // maps with a finding about one of their keys
	chosen  []finding
}

func (c *choice) take(f finding) {
	key := f.at.String()
	if _, taken := c.taken[key]; taken || c.inBlocked(f.at) || f.rule && c.keyed[key] {
		return
	}
	c.taken[key] = len(c.chosen)
	if last := len(f.at) - 1; last >= 0 && f.at[last].kind == stepKey {
		c.keyed[f.at[:last].String()] = true
	}
	c.chosen = append(c.chosen, f)
}

// join is take for findings of our rules, of which two are told at one place:
// what are two fields in v1, such as schedule and zone, can be one in v1alpha1.
func (c *choice) join(f finding, from int) {
	if at, taken := c.taken[f.at.String()]; taken && at >= from {
		c.chosen[at].message += "; and " + f.message
		return
	}
	c.take(f)
}

// inBlocked looks at what is around a place, so that its cost does not depend
// on how much is blocked.
func (c *choice) inBlocked(at path) bool {
	for n := 1; n < len(at); n++ {
		if c.blocked[at[:n].String()] {
			return true
		}
	}
	return false
}
