// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
)

// subject is one of our kinds with its CRD as it was last read.
type subject struct {
	*Resource
	kind cluster.Kind
	crd  *apiextensionsv1.CustomResourceDefinition
}

func crdName(kind cluster.Kind) string { return kind.Plural + "." + backupv1.GroupName }

// subjects reads both CRDs into the report.
func (m *migration) subjects(ctx context.Context, report *Report) ([]*subject, error) {
	var found []*subject
	for _, kind := range cluster.Kinds {
		s := &subject{kind: kind, Resource: &Resource{Name: kind.Plural, Kind: kind.Name}}
		if err := m.read(ctx, s); err != nil {
			return nil, err
		}
		found = append(found, s)
		report.Resources = append(report.Resources, s.Resource)
	}
	return found, nil
}

// read reads the CRD anew.
func (m *migration) read(ctx context.Context, s *subject) error {
	s.crd = &apiextensionsv1.CustomResourceDefinition{}
	err := m.retry(ctx, quiet, func() error { return m.client.Get(ctx, client.ObjectKey{Name: crdName(s.kind)}, s.crd) })
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no CRD %s: is the operator installed there, and is it the right context?", crdName(s.kind))
	}
	if err != nil {
		return explain("read the CRD "+crdName(s.kind), err)
	}
	s.StoredVersions, s.ServedVersions = s.crd.Status.StoredVersions, nil
	for _, v := range s.crd.Spec.Versions {
		if v.Served {
			s.ServedVersions = append(s.ServedVersions, v.Name)
		}
	}
	return nil
}

// version is the entry of a version in the CRD, -1 if there is none.
func (s *subject) version(name string) int {
	return slices.IndexFunc(s.crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name })
}

func (s *subject) serves(name string) bool { return slices.Contains(s.ServedVersions, name) }

// migrated says whether the server knows that only v1 is stored.
func (s *subject) migrated() bool { return s.trimmed() && !s.failed() }

func (s *subject) trimmed() bool { return slices.Equal(s.StoredVersions, []string{newVersion.Version}) }

// failed says whether the cluster's last migration failed. Kubernetes 1.37 takes
// the other versions off the stored ones all the same, so that only this
// condition tells that objects are left.
func (s *subject) failed() bool {
	return slices.ContainsFunc(s.crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.StorageMigrating && c.Reason == reasonFailed
	})
}

// The reasons that Kubernetes gives the condition StorageMigrating.
const (
	reasonFailed    = "MigrationFailed"
	reasonSucceeded = "MigrationSucceeded"
)

// storesNew checks that what is written is stored as v1: without that nothing
// can be migrated.
func (s *subject) storesNew() error {
	i := s.version(newVersion.Version)
	if i < 0 || !s.crd.Spec.Versions[i].Storage || !s.crd.Spec.Versions[i].Served {
		return fmt.Errorf("the CRD %s does not store v1 yet: install this release first (kubectl apply --server-side -k config/default)", s.crd.Name)
	}
	return nil
}

// defaults is the schema of v1, by whose defaults the server fills objects in.
func (s *subject) defaults() (*structuralschema.Structural, error) {
	i := s.version(newVersion.Version)
	if i < 0 || s.crd.Spec.Versions[i].Schema == nil || s.crd.Spec.Versions[i].Schema.OpenAPIV3Schema == nil {
		return &structuralschema.Structural{}, nil
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s.crd.Spec.Versions[i].Schema.OpenAPIV3Schema, props, nil); err != nil {
		return nil, fmt.Errorf("read the schema of v1 in the CRD %s: %w", s.crd.Name, err)
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("read the schema of v1 in the CRD %s: %w", s.crd.Name, err)
	}
	return structural, nil
}

// trim takes v1alpha1 off the stored versions, unless the CRD was changed since
// it was read. A migration that failed before is made good by it.
func (m *migration) trim(ctx context.Context, s *subject) error {
	status := map[string]any{}
	if s.failed() {
		conditions := slices.Clone(s.crd.Status.Conditions)
		for i := range conditions {
			if conditions[i].Type == apiextensionsv1.StorageMigrating {
				conditions[i].Reason, conditions[i].Message = reasonSucceeded, "kubectl backup migrate run has written every object"
			}
		}
		status["conditions"] = conditions
	}
	return m.setStored(ctx, s, status, newVersion.Version)
}

// untrim puts v1alpha1 back where a migration failed, so that the server does
// not let it be dropped while objects are stored in it.
func (m *migration) untrim(ctx context.Context, s *subject) error {
	for {
		if err := m.read(ctx, s); err != nil {
			return err
		}
		if !s.trimmed() || s.version(oldVersion.Version) < 0 {
			return nil
		}
		err := m.retry(ctx, quiet, func() error {
			return m.setStored(ctx, s, map[string]any{}, oldVersion.Version, newVersion.Version)
		})
		if err != nil && !apierrors.IsConflict(err) {
			return explain("put v1alpha1 back among the stored versions of "+s.crd.Name, err)
		}
	}
}

func (m *migration) setStored(ctx context.Context, s *subject, status map[string]any, versions ...string) error {
	status["storedVersions"] = versions
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": s.crd.ResourceVersion},
		"status":   status,
	})
	if err != nil {
		return err
	}
	return m.client.Status().Patch(ctx, s.crd, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldManager))
}

// serve sets whether v1alpha1 is served. Somebody may have moved the entry since
// the CRD was read; then the server refuses.
func (m *migration) serve(ctx context.Context, s *subject, served bool) error {
	at := fmt.Sprintf("/spec/versions/%d", s.version(oldVersion.Version))
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": s.crd.ResourceVersion},
		{"op": "test", "path": at + "/name", "value": oldVersion.Version},
		{"op": "replace", "path": at + "/served", "value": served},
	})
	if err != nil {
		return err
	}
	return m.client.Patch(ctx, s.crd, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(fieldManager))
}

// appliers are who applies the versions of the CRD, so that they would bring
// v1alpha1 back: by server-side apply, or by client-side apply, which leaves an
// annotation.
func (s *subject) appliers() []string {
	versions := fieldpath.MakePathOrDie("spec", "versions")
	lastApplied := fieldpath.MakePathOrDie("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	var names []string
	for _, entry := range s.crd.ManagedFields {
		var set fieldpath.Set
		if entry.FieldsV1 == nil || entry.Manager == fieldManager || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		applies := entry.Operation == metav1.ManagedFieldsOperationApply && set.Has(versions)
		if (applies || set.Has(lastApplied)) && !slices.Contains(names, entry.Manager) {
			names = append(names, entry.Manager)
		}
	}
	return names
}
