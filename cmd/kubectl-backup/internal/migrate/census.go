// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// census counts who owns fields of v1alpha1.
type census struct {
	resource string
	found    map[Manager]*Manager
	objects  int64 // with at least one entry of v1alpha1
}

func newCensus(resource string) *census {
	return &census{resource: resource, found: map[Manager]*Manager{}}
}

func (c *census) count(objects []unstructured.Unstructured) {
	for i := range objects {
		if saysOld(&objects[i]) {
			c.objects++
		}
		for _, entry := range objects[i].GetManagedFields() {
			if entry.APIVersion == oldVersion.String() {
				c.add(entry)
			}
		}
	}
}

// add counts an entry of one object.
func (c *census) add(entry metav1.ManagedFieldsEntry) {
	key := Manager{Name: entry.Manager, Operation: string(entry.Operation), Subresource: entry.Subresource, Resource: c.resource}
	m := c.found[key]
	if m == nil {
		m = new(key)
		c.found[key] = m
	}
	m.Objects++
	if entry.Time != nil && (m.LastTime == nil || m.LastTime.Before(entry.Time.Time)) {
		m.LastTime = new(entry.Time.UTC())
	}
}

// managers are sorted by resource and by how many objects they wrote.
func (c *census) managers() []*Manager {
	var all []*Manager
	for _, m := range c.found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *Manager) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.Subresource, b.Subresource))
	})
	return all
}
