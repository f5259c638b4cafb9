// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byWrites sends a write that changes nothing for each object. The server stores
// it anew if it is stored as v1alpha1, and else leaves it alone.
func (m *migration) byWrites(ctx context.Context, s *subject) ([]Problem, error) {
	var written atomic.Int64
	p := &pass{m: m, s: s, title: "store as v1", visit: func(ctx context.Context, object *unstructured.Unstructured) error {
		answer := named(object)
		err := m.client.Patch(ctx, answer, client.RawPatch(types.MergePatchType, nothing(object, object.GetResourceVersion())),
			client.FieldOwner(fieldManager))
		if err == nil && answer.GetResourceVersion() != object.GetResourceVersion() {
			written.Add(1)
		}
		return err
	}}
	err := p.run(ctx)
	s.Written, s.Refused = written.Load(), int64(len(p.problems))
	if err != nil || len(p.problems) > 0 {
		return p.problems, err
	}
	return nil, m.tell(ctx, s)
}

// tell has the server know that only v1 is stored. Someone may have changed the
// CRD meanwhile, such as an injector of bundles; only another stored version
// matters.
func (m *migration) tell(ctx context.Context, s *subject) error {
	before := s.StoredVersions
	for {
		if err := m.read(ctx, s); err != nil {
			return err
		}
		if err := s.storesNew(); err != nil {
			return err
		}
		if s.migrated() {
			return nil
		}
		if len(s.StoredVersions) > len(before) {
			return fmt.Errorf("the CRD %s came to store another version meanwhile (%v): find out who changes it, then run again", s.crd.Name, s.StoredVersions)
		}
		err := m.retry(ctx, quiet, func() error { return m.trim(ctx, s) })
		if err != nil && !apierrors.IsConflict(err) {
			return explain("take v1alpha1 off the stored versions of "+s.crd.Name, err)
		}
	}
}
