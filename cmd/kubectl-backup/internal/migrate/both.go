// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// mostReadings is how often a reading begins again that took longer than the
// server remembers an instant.
const mostReadings = 3

// compareAll reads every object in both versions and compares them.
func (m *migration) compareAll(ctx context.Context, s *subject, report *Report) error {
	for reading := 1; ; reading++ {
		r := &reader{m: m, s: s, sum: sha256.New()}
		var err error
		if r.defaults, err = s.defaults(); err != nil {
			return err
		}
		err = r.read(ctx)
		if apierrors.IsResourceExpired(err) && reading < mostReadings {
			continue
		}
		if err != nil {
			return err
		}
		s.Objects, s.Different = r.objects, int64(len(r.problems))
		s.Checksum = hex.EncodeToString(r.sum.Sum(nil))
		report.Problems = append(report.Problems, r.problems...)
		return nil
	}
}

// reader reads a kind in both versions, page by page, as of one instant.
type reader struct {
	m        *migration
	s        *subject
	sum      hash.Hash
	defaults *structuralschema.Structural
	objects  int64
	problems []Problem
}

func (r *reader) read(ctx context.Context) error {
	bar := r.m.progress.begin(r.s.Name+": compare both versions", 0)
	defer bar.end()
	pages, olds := r.m.pager(r.s.kind, newVersion), r.m.pager(r.s.kind, oldVersion)
	for {
		page, err := pages.next(ctx)
		if err != nil || page == nil {
			return err
		}
		bar.expect(r.objects + total(page))
		old, err := r.sameInOld(ctx, olds, page)
		if err != nil {
			return err
		}
		for i := range page.Items {
			if err := r.compare(&page.Items[i], old(i)); err != nil {
				return err
			}
			bar.add(1)
		}
	}
}

// sameInOld reads the objects of a page in v1alpha1. The server answers for the
// same instant, so the pages are the same.
func (r *reader) sameInOld(ctx context.Context, olds *pager, page *unstructured.UnstructuredList) (func(int) *unstructured.Unstructured, error) {
	if !r.s.serves(oldVersion.Version) {
		return func(int) *unstructured.Unstructured { return nil }, nil
	}
	if r.objects == 0 {
		olds.at(page.GetResourceVersion())
	}
	old, err := olds.next(ctx)
	if err != nil {
		return nil, err
	}
	if old == nil || len(old.Items) != len(page.Items) {
		return nil, fmt.Errorf("list the %s: the server sent another number of objects in v1alpha1 than in v1, for the same instant", r.s.Name)
	}
	return func(i int) *unstructured.Unstructured { return &old.Items[i] }, nil
}

func (r *reader) compare(read, old *unstructured.Unstructured) error {
	r.objects++
	if old == nil {
		made, err := convertObject(read, oldVersion.String())
		if err != nil {
			return err
		}
		old = &unstructured.Unstructured{Object: made}
	}
	said, back, err := compare(read, old)
	if err != nil {
		return err
	}
	if said != "" {
		r.problems = append(r.problems, Problem{
			Kind: read.GetKind(), Namespace: read.GetNamespace(), Name: read.GetName(), Reason: ReasonDifferent, Message: said,
			Advice: fmt.Sprintf("Write that field in v1 with a value that the schema allows ('kubectl edit -n %s %s.v1.%s %s'), then try again.",
				read.GetNamespace(), r.s.Name, newVersion.Group, read.GetName()),
		})
	}
	return r.add(read, back)
}

// add puts an object into the checksum: what it says in v1, and what it says in
// v1alpha1, both as v1 and with v1's defaults. The server fills these in when it
// stores an object as v1, so without them a migration would change the sum.
func (r *reader) add(read *unstructured.Unstructured, back map[string]any) error {
	encoder := json.NewEncoder(r.sum)
	err := encoder.Encode([]string{read.GetNamespace(), read.GetName(), string(read.GetUID())})
	for _, object := range []map[string]any{read.Object, back} {
		defaulting.Default(object, r.defaults)
		err = errors.Join(err, encoder.Encode(object["spec"]))
	}
	return err
}
