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
	// origin leads from a path of the answer to the path where its value came
	// from. It is nil where the two are the same.
	origin func(path string) string
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
		err := c.convert(to)
		return c, err
	case known && d.APIVersion == manifest.OldAPIVersion:
		return nil, fmt.Errorf("%s:%d: apiVersion '%s' is that of the operators before this one: change this line to 'apiVersion: %s' first",
			d.File, d.LineOf("apiVersion"), d.APIVersion, backupv1alpha1.GroupVersion)
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

func (c *converted) convert(to string) error {
	d := c.from
	if d.APIVersion == to {
		return nil
	}
	raw, err := conversion.Convert(d.JSON, to)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", d.File, d.Line(), err)
	}
	c.json, c.changed = raw, true
	c.origin = func(path string) string { return conversion.NewPath(d.Kind, path) }
	if to == backupv1.GroupVersion.String() {
		c.origin = conversion.NewTranslator(d.Kind, d.JSON).OldPath
	}
	return nil
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
