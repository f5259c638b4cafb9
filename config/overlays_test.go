// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const v1Only = "overlays/v1-only"

// TestV1OnlyIsTheDefaultWithoutTheOldVersion is exact: whatever a test of
// config/default proves holds for the overlay too.
func TestV1OnlyIsTheDefaultWithoutTheOldVersion(t *testing.T) {
	want := render(t, "default")
	for _, definition := range all[*apiextensionsv1.CustomResourceDefinition](want) {
		definition.Spec.Versions = slices.DeleteFunc(definition.Spec.Versions,
			func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == "v1alpha1" })
	}
	if diff := cmp.Diff(want, render(t, v1Only)); diff != "" {
		t.Errorf("config/default without v1alpha1 is -, the overlay is +:\n%s", diff)
	}
}

func TestV1OnlyHasV1AndNothingElse(t *testing.T) {
	definitions := all[*apiextensionsv1.CustomResourceDefinition](render(t, v1Only))
	if len(definitions) != 2 {
		t.Fatalf("%d CRDs, want one per kind", len(definitions))
	}
	for _, definition := range definitions {
		versions := definition.Spec.Versions
		if len(versions) != 1 || versions[0].Name != "v1" || !versions[0].Served || !versions[0].Storage || versions[0].Deprecated {
			t.Errorf("%s: the only version must be v1, served and stored, but there are %d, the first is %q", definition.Name, len(versions), versions[0].Name)
		}
	}
}

func TestV1OnlyFollowsTheNamespaceAndThePrefix(t *testing.T) {
	m := render(t, filepath.Join(changedCopy(t, "namespace: elsewhere\nnamePrefix: team-a-"), v1Only))
	checkReferences(t, m, "elsewhere", "team-a-")
}

// TestEveryOverlayIsGuarded: whatever version an overlay serves, the webhooks
// see its writes.
func TestEveryOverlayIsGuarded(t *testing.T) {
	for _, folder := range []string{"default", v1Only} {
		m := render(t, folder)
		for verb, list := range hooks(t, m) {
			var covered []string
			for _, h := range list {
				for _, rule := range h.rules {
					covered = append(covered, expand(t, h.name, rule)...)
				}
			}
			for _, served := range servedBy(all[*apiextensionsv1.CustomResourceDefinition](m)) {
				if !slices.Contains(covered, served) {
					t.Errorf("%s: no webhook that %ss sees %s", folder, verb, served)
				}
			}
		}
	}
}
