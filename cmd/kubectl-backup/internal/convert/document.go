// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/manifest"
	"example.com/backupjob-operator/conversion"
)

// converted is a document in the wanted version.
type converted struct {
	from *manifest.Document
	json []byte
	// changed says that it had to be converted.
	changed bool
	// foreign counts the objects of other kinds that it is, or holds.
	foreign int
	// notes are what there is to say of it.
	notes []string
	// origin leads from a path of the answer to the path where its value came
	// from. It is nil where the two are the same.
	origin func(path string) string
}

func (c *converted) note(line int, text string) {
	c.notes = append(c.notes, fmt.Sprintf("%s:%d: %s", c.from.File, line, text))
}

func convertDocument(d *manifest.Document, to string) (*converted, error) {
	members, err := d.Members()
	if err != nil {
		return nil, err
	}
	if members != nil {
		return convertList(d, members, to)
	}
	c := &converted{from: d, json: d.JSON}
	_, known := cluster.KindOf(d.Kind)
	ours := groupOf(d) == backupv1.GroupName
	switch {
	case known && isServed(d.APIVersion):
		err := c.convert(d.JSON, d.APIVersion, to)
		return c, err
	case known && d.APIVersion == manifest.OldAPIVersion:
		err := c.convertOlder(to)
		return c, err
	case known && (ours || d.APIVersion == ""):
		return nil, fmt.Errorf("%s:%d: apiVersion is %q, but must be '%s' or '%s'",
			d.File, d.LineOf("apiVersion"), d.APIVersion, backupv1.GroupVersion, backupv1alpha1.GroupVersion)
	case ours:
		return nil, fmt.Errorf("%s:%d: kind is %q, but must be '%s' or '%s'",
			d.File, d.LineOf("kind"), d.Kind, backupv1.KindBackupJob, backupv1.KindMySQLBackup)
	}
	c.foreign = 1
	return c, nil
}

func groupOf(d *manifest.Document) string {
	gv, err := schema.ParseGroupVersion(d.APIVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}

func isServed(apiVersion string) bool { return apiVersion != "" && versions[apiVersion] == apiVersion }

// convertOlder converts an object of the operators before this one.
func (c *converted) convertOlder(to string) error {
	d := c.from
	raw, left, err := adopt(d.JSON)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", d.File, d.Line(), err)
	}
	c.json, c.changed = raw, true
	c.origin = func(path string) string { return path } // v1alpha1 has the old names
	c.note(d.LineOf("apiVersion"), fmt.Sprintf("%s was of %s, from the operators before this one", title(d), d.APIVersion))
	if len(left) > 0 {
		c.note(d.Line(), "left out, because it belongs to the old object alone: "+strings.Join(left, ", "))
	}
	return c.convert(raw, backupv1alpha1.GroupVersion.String(), to)
}

func (c *converted) convert(raw []byte, from, to string) error {
	d := c.from
	if err := checkNothingIsTwice(d); err != nil {
		return err
	}
	if from == to {
		return nil
	}
	converted, err := conversion.Convert(raw, to)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", d.File, d.Line(), err)
	}
	if err := c.checkNothingIsLost(raw, converted, from); err != nil {
		return err
	}
	c.json, c.changed = converted, true
	c.origin = func(path string) string { return conversion.NewPath(d.Kind, path) }
	if to == backupv1.GroupVersion.String() {
		c.origin = conversion.NewTranslator(d.Kind, raw).OldPath
	}
	return nil
}

// title names an object to a person.
func title(d *manifest.Document) string {
	return strings.TrimSpace(d.Kind + " " + strings.TrimPrefix(d.Namespace+"/"+d.Name, "/"))
}

// convertList converts the members of a list where they stand.
func convertList(d *manifest.Document, members []*manifest.Document, to string) (*converted, error) {
	c := &converted{from: d, json: d.JSON}
	items := make([]json.RawMessage, len(members))
	origins := make([]func(string) string, len(members))
	for i, member := range members {
		one, err := convertDocument(member, to)
		if err != nil {
			return nil, err
		}
		items[i], origins[i] = one.json, one.origin
		c.changed, c.foreign = c.changed || one.changed, c.foreign+one.foreign
		c.notes = append(c.notes, one.notes...)
	}
	if !c.changed {
		return c, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(d.JSON, &fields); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", d.File, d.Line(), err)
	}
	fields["items"] = items
	if groupOf(d) == backupv1.GroupName { // BackupJobList and its like
		fields["apiVersion"] = to
	}
	var err error
	c.json, err = json.Marshal(fields)
	c.origin = func(path string) string { return originInList(path, origins) }
	return c, err
}

// originInList follows a path such as items[3].spec.source into its item.
func originInList(path string, origins []func(string) string) string {
	rest, ok := strings.CutPrefix(path, "items[")
	if !ok {
		return path
	}
	number, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(number)
	inner, below := strings.CutPrefix(rest, ".")
	if err != nil || i >= len(origins) || !below || origins[i] == nil {
		return path
	}
	return "items[" + number + "]." + origins[i](inner)
}
