// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utiljson "sigs.k8s.io/json"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/conversion"
)

// document is an object on its way through the judgement.
type document struct {
	version *version       // in which it was written
	object  map[string]any // as written, with the defaults of that version
	hub     map[string]any // as v1, with the defaults of v1
	asHub   *version       // v1
	typed   backupv1.Backup
	dropped []path // of hub: what does not fit the types
	unknown []string
	patch   []Operation
	oldPath func(string) string // from v1 to the version in which it was written
}

// read takes the JSON of an object apart. Status and managedFields are not
// ours to judge: the server takes neither from a write of the spec.
func (j *Judge) read(raw []byte) (*document, error) {
	d := &document{}
	if err := utiljson.UnmarshalCaseSensitivePreserveInts(raw, &d.object); err != nil || d.object == nil {
		return nil, errNoObject
	}
	apiVersion, _ := d.object["apiVersion"].(string)
	kind, _ := d.object["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	d.version = j.versions[gvk]
	d.asHub = j.versions[backupv1.GroupVersion.WithKind(kind)]
	if d.version == nil || d.asHub == nil {
		return nil, fmt.Errorf("%w; found kind %q of %q", errNoObject, cut(kind, maxValue), cut(apiVersion, maxValue))
	}
	delete(d.object, "status")
	if metadata, ok := d.object["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	d.patch = fillNames(gvk, d.object)
	d.unknown = d.version.prepare(d.object)
	if err := d.intoHub(); err != nil {
		return nil, err
	}
	return d, nil
}

// readAs is read for an object that may be in another version than gvk's.
func (j *Judge) readAs(raw []byte, gvk schema.GroupVersionKind) (*document, error) {
	d, err := j.read(raw)
	switch {
	case err != nil:
		return nil, err
	case d.version.gvk == gvk:
		return d, nil
	case d.version.gvk.Kind != gvk.Kind:
		return nil, errNoObject
	}
	if raw, err = conversion.Convert(raw, gvk.GroupVersion().String()); err != nil {
		return nil, err
	}
	return j.read(raw)
}

func (d *document) intoHub() error {
	d.hub = d.object
	if d.version != d.asHub {
		raw, err := json.Marshal(d.object)
		if err != nil {
			return err
		}
		d.oldPath = conversion.NewTranslator(d.version.gvk.Kind, raw).OldPath
		if raw, err = conversion.Convert(raw, backupv1.GroupVersion.String()); err != nil {
			return err
		}
		d.hub = nil
		if err := utiljson.UnmarshalCaseSensitivePreserveInts(raw, &d.hub); err != nil {
			return err
		}
		d.asHub.prepare(d.hub)
	}
	d.typed = &backupv1.BackupJob{}
	if d.version.gvk.Kind == backupv1.KindMySQLBackup {
		d.typed = &backupv1.MySQLBackup{}
	}
	var err error
	d.dropped, err = decodeInto(d.hub, d.typed, d.asHub.shape)
	return err
}

// written translates a path of v1 into the version in which the object was
// written.
func (d *document) written(hub path) path {
	if d.oldPath == nil {
		return hub
	}
	return d.version.shape.parse(d.oldPath(hub.String()))
}

// maxValues is how many values a spec may hold in all. People write a few
// dozen; the time that the schema library takes grows with the square of the
// faults, so it must not be for the sender to choose.
const maxValues = 5000

// faults judges the document: schema and CEL of its version, then the rules.
func (d *document) faults(ctx context.Context) []Fault {
	if n := count(d.object["spec"]); n > maxValues {
		return []Fault{d.fault(finding{at: path{{name: "spec"}}, kind: field.ErrorTypeInvalid,
			message: fmt.Sprintf("must hold at most %d values in all; found %d", maxValues, n)})}
	}
	theirs := d.version.check(ctx, d.object)
	r := &report{shape: d.asHub.shape, alpha: d.version != d.asHub}
	for _, rule := range rules {
		rule(d.typed, r)
	}
	for i := range r.found {
		r.found[i].at = d.written(r.found[i].at)
	}
	refused := func(f finding) bool { return d.fieldRefused(f.at) }
	ours, misfits := slices.DeleteFunc(r.found, refused), slices.DeleteFunc(d.misfits(), refused)
	chosen := choose(theirs, misfits, ours)
	faults := make([]Fault, 0, len(chosen))
	for _, f := range chosen {
		faults = append(faults, d.fault(f))
	}
	slices.SortFunc(faults, func(a, b Fault) int { return d.version.shape.compare(a.at, b.at) })
	return faults
}

func count(value any) int {
	n := 1
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			n += count(inner)
		}
	case []any:
		for _, inner := range v {
			n += count(inner)
		}
	}
	return n
}

// fieldRefused reports whether v1alpha1 refuses the field itself, so that what
// the rules say of its value matters only once it has moved: a zone beside the
// schedule, a claim's name in storage, and databases beside a database, which
// are one list in v1.
func (d *document) fieldRefused(at path) bool {
	if d.version == d.asHub {
		return false
	}
	switch {
	case at.String() == "spec.timeZone", at.String() == "spec.storage.persistentVolumeClaim.claimName":
		return true
	case at.through("databases"):
		_, both := path{{name: "spec"}, {name: "database"}}.find(d.object)
		return both
	}
	return false
}

// misfits are the values that the types cannot hold. The schema knows most of
// them, but for instance not every text that looks like a quantity is one.
func (d *document) misfits() []finding {
	found := make([]finding, 0, len(d.dropped))
	for _, at := range d.dropped {
		node := d.asHub.node(at)
		if node == nil { // in metadata
			node = &structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
		}
		value, _ := at.find(d.hub)
		found = append(found, finding{at: d.written(at), kind: field.ErrorTypeTypeInvalid, message: typeWords(node, value)})
	}
	return found
}

func (d *document) fault(f finding) Fault {
	fault := Fault{Field: f.at.shown(), Message: f.message, Type: f.kind, at: f.at}
	value, there := f.at.find(d.object)
	switch {
	case !there && f.kind == field.ErrorTypeInvalid:
		fault.Type = field.ErrorTypeRequired
	case !f.hidden && f.kind != field.ErrorTypeRequired && !f.at.through("annotations"):
		fault.Value = shown(value) // annotations may hold anything
	}
	return fault
}

// sameMetadata compares what a user may change of an object's metadata.
func sameMetadata(a, b *document) bool {
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		x, _ := path{{name: "metadata"}, {name: name}}.find(a.object)
		y, _ := path{{name: "metadata"}, {name: name}}.find(b.object)
		// Nothing and an empty map or list are the same to everybody.
		if !equality.Semantic.DeepEqual(x, y) && count(x)+count(y) > 2 {
			return false
		}
	}
	return true
}
