// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package crd carries the generated CustomResourceDefinitions inside the
// binaries, so that whoever judges a manifest without a cluster uses the very
// schemas that a cluster would.
package crd

import (
	"embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed bases/*.yaml
var bases embed.FS

// CRDs returns the definitions of all our kinds, ordered by file name. Each
// call decodes afresh, so the caller may change what it gets.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := bases.ReadDir("bases")
	if err != nil {
		return nil, fmt.Errorf("list the embedded CRDs: %w", err)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(files))
	for _, file := range files {
		data, err := bases.ReadFile("bases/" + file.Name())
		if err != nil {
			return nil, fmt.Errorf("read the embedded CRD %s: %w", file.Name(), err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, definition); err != nil {
			return nil, fmt.Errorf("decode the embedded CRD %s: %w", file.Name(), err)
		}
		crds = append(crds, definition)
	}
	return crds, nil
}
