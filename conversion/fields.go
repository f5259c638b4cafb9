// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// NewManagedFields returns the managedFields of an object with every entry of v1alpha1 rewritten to v1, and
// how many there were. The object is JSON of either version, as a server sent it; it is not changed. A manager
// owns afterwards what its fields of v1alpha1 convert to: of "host:port" it owns the port too, of "host" it
// does not. An entry that owns nothing in v1 goes, and two entries that have become one are joined, because
// a server keeps only one of them. An error means that the object is none of ours or an entry cannot be read.
func NewManagedFields(raw []byte) (entries []metav1.ManagedFieldsEntry, rewritten int, err error) {
	var meta struct {
		Kind     string
		Metadata struct{ ManagedFields []metav1.ManagedFieldsEntry }
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return nil, 0, fmt.Errorf("read the managedFields of %s: %w", describe(raw), err)
	}
	r := &rewriter{table: tableOf(meta.Kind)}
	if r.old, err = inVersion(raw, oldVersion); err == nil {
		r.new, err = inVersion(raw, newVersion)
	}
	if err != nil {
		return nil, 0, err
	}
	for _, entry := range meta.Metadata.ManagedFields {
		if entry.APIVersion == oldVersion {
			rewritten++
			if err := r.rewrite(&entry); err != nil {
				return nil, 0, fmt.Errorf("read what %q owns in %s: %w", entry.Manager, describe(raw), err)
			}
		}
		if entry.FieldsV1 != nil {
			if entries, err = join(entries, entry); err != nil {
				return nil, 0, fmt.Errorf("read what %q owns in %s: %w", entry.Manager, describe(raw), err)
			}
		}
	}
	return entries, rewritten, nil
}

func inVersion(raw []byte, version string) (*object, error) {
	converted, err := Convert(raw, version)
	if err != nil {
		return nil, err
	}
	o, _ := parseObject(converted)
	return o, nil
}

// join adds an entry. A server knows an entry by its manager, operation, version and subresource.
func join(entries []metav1.ManagedFieldsEntry, entry metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	i := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == entry.Manager && e.Operation == entry.Operation && e.APIVersion == entry.APIVersion &&
			e.Subresource == entry.Subresource
	})
	if i < 0 {
		return append(entries, entry), nil
	}
	into := &entries[i]
	var a, b fieldpath.Set
	if err := a.FromJSON(into.FieldsV1.GetRawReader()); err != nil {
		return nil, err
	}
	if err := b.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil, err
	}
	if into.Time.Before(entry.Time) {
		into.Time = entry.Time
	}
	return entries, own(into, a.Union(&b))
}

// own writes what an entry owns; nothing leaves it without fields.
func own(entry *metav1.ManagedFieldsEntry, set *fieldpath.Set) error {
	entry.FieldsV1 = nil
	if set.Empty() {
		return nil
	}
	text, err := set.ToJSON()
	entry.FieldsV1 = &metav1.FieldsV1{}
	entry.FieldsV1.SetRawBytes(bytes.TrimSpace(text))
	return err
}

// rewriter translates what managers own in one object.
type rewriter struct {
	table    *table
	old, new *object
}

func (r *rewriter) rewrite(entry *metav1.ManagedFieldsEntry) error {
	entry.APIVersion = newVersion
	if entry.FieldsV1 == nil {
		return nil
	}
	var set fieldpath.Set
	if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return err
	}
	return own(entry, r.translate(&set))
}

// translate returns the fields of v1 that a set of fields of v1alpha1 converts to. What the object does not
// have in v1 nobody owns.
func (r *rewriter) translate(set *fieldpath.Set) *fieldpath.Set {
	owned := fieldpath.NewSet()
	made := make([]*object, len(r.table.lines))
	for i, l := range r.table.lines {
		made[i] = r.convertAlone(l, set)
	}
	set.Iterate(func(path fieldpath.Path) {
		for i, l := range r.table.lines {
			for _, p := range l.pairs {
				if rest, ok := p.below(path); ok && r.new.has(p.New) && (made[i] == nil || made[i].has(p.New)) {
					owned.Insert(append(pathOf(p.New), rest...))
				}
			}
		}
		if isHolder(path) && r.new.has(*path[0].FieldName) {
			owned.Insert(path.Copy())
		}
	})
	return owned
}

// isHolder says whether a path is spec or status itself.
func isHolder(path fieldpath.Path) bool {
	return len(path) == 1 && path[0].FieldName != nil && (*path[0].FieldName == "spec" || *path[0].FieldName == "status")
}

// convertAlone is what a line makes of the values that a manager owns, without those of others: whoever owns
// only the backupStatus owns the lastResult that follows from it. It is nil for a line that moves nothing.
func (r *rewriter) convertAlone(l line, set *fieldpath.Set) *object {
	if l.old == nil {
		return nil
	}
	var v values
	for i, names := range l.old {
		if owns(set, names) {
			v[i] = r.old.get(names...)
		}
	}
	made := &object{}
	for i, value := range l.toNew(v) {
		if value != nil {
			made.put(value, l.new[i]...)
		}
	}
	return made
}

// owns says whether a set has the field of that path, or anything below it.
func owns(set *fieldpath.Set, names []string) bool {
	for _, name := range names[:len(names)-1] {
		if set = set.WithPrefix(fieldpath.FieldNameElement(name)); set.Empty() {
			return false
		}
	}
	last := fieldpath.FieldNameElement(names[len(names)-1])
	return set.Members.Has(last) || !set.WithPrefix(last).Empty()
}

// below returns what follows in a path after the old field of the pair. Of the pairs of objects only
// credentialKeys counts: the others stand for a field that has a pair of its own.
func (p pair) below(path fieldpath.Path) (rest fieldpath.Path, ok bool) {
	names := pathOf(p.Old)
	if len(path) < len(names) || !path[:len(names)].Equals(names) {
		return nil, false
	}
	rest = path[len(names):]
	return rest, !p.parent || p.Old == "spec.credentialKeys" && len(rest) == 0
}

func pathOf(dotted string) fieldpath.Path {
	var path fieldpath.Path
	for name := range strings.SplitSeq(dotted, ".") {
		path = append(path, fieldpath.FieldNameElement(name))
	}
	return path
}

func (o *object) has(dotted string) bool { return o.get(strings.Split(dotted, ".")...) != nil }
