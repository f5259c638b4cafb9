// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"slices"

	"example.com/backupjob-operator/conversion"
)

// keepOld turns the faults that the old object has too into warnings: those of
// the same field, with the same value and for the same reason. So what was
// stored before a rule existed, or while the webhook was away, can be edited,
// and no edit adds a fault.
func (v *Verdict) keepOld(d, was *document, old []Fault) {
	known := map[string]bool{}
	for _, fault := range old {
		known[was.identity(fault)] = true
	}
	v.Faults = slices.DeleteFunc(v.Faults, func(f Fault) bool {
		if !known[d.identity(f)] {
			return false
		}
		v.Ratcheted = true
		v.Warnings = append(v.Warnings, Warning{Field: f.Field, Message: "is kept as it was, but " + f.Message, at: f.at})
		return true
	})
}

// identity tells whether two faults are the same one. Values are compared as
// v1, so a field that moved within v1alpha1 is still the same field; an item of
// a list is the same wherever it stands.
func (d *document) identity(f Fault) string {
	hub := f.at
	if d.version != d.asHub {
		hub = d.asHub.shape.parse(conversion.NewPath(d.version.gvk.Kind, f.at.String()))
	}
	value, _ := hub.find(d.hub)
	text, _ := json.Marshal(value) // it came as JSON
	return hub.withoutIndexes() + "\x00" + string(text) + "\x00" + f.Message
}
