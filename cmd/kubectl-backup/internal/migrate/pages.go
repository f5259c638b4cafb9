// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
)

// pager reads the objects of a kind in one version, a page at a time.
type pager struct {
	m       *migration
	kind    cluster.Kind
	version schema.GroupVersion
	// lenient goes on after the server has forgotten the instant of the first
	// page; what changed since may then be left out or read twice.
	lenient bool

	options metav1.ListOptions
	done    bool
}

func (m *migration) pager(kind cluster.Kind, version schema.GroupVersion) *pager {
	return &pager{m: m, kind: kind, version: version, options: metav1.ListOptions{Limit: m.ChunkSize}}
}

// next returns the next page, nil after the last.
func (p *pager) next(ctx context.Context) (*unstructured.UnstructuredList, error) {
	if p.done {
		return nil, nil
	}
	page := &unstructured.UnstructuredList{}
	page.SetGroupVersionKind(p.version.WithKind(p.kind.Name + "List"))
	err := p.m.retry(ctx, quiet, func() error {
		return p.m.client.List(ctx, page, &client.ListOptions{Raw: &p.options})
	})
	if again, ok := inconsistent(err); ok && p.lenient {
		p.options.Continue = again
		return p.next(ctx)
	}
	if err != nil {
		return nil, explain(fmt.Sprintf("list the %s of %s", p.kind.Plural, p.version.Version), cluster.Explain(err))
	}
	// The instant is that of the first page; the token knows it.
	p.options.ResourceVersion, p.options.ResourceVersionMatch = "", ""
	p.options.Continue = page.GetContinue()
	p.done = p.options.Continue == ""
	return page, nil
}

// at has the first page read as of an instant.
func (p *pager) at(resourceVersion string) {
	p.options.ResourceVersion, p.options.ResourceVersionMatch = resourceVersion, metav1.ResourceVersionMatchExact
}

// inconsistent is the token with which the server lets a list go on whose
// instant it has forgotten.
func inconsistent(err error) (token string, ok bool) {
	status, isStatus := errors.AsType[*apierrors.StatusError](err)
	if !isStatus || !apierrors.IsResourceExpired(err) {
		return "", false
	}
	return status.ErrStatus.Continue, status.ErrStatus.Continue != ""
}

// total is how many objects a first page and what follows it hold.
func total(page *unstructured.UnstructuredList) int64 {
	sum := int64(len(page.Items))
	if more := page.GetRemainingItemCount(); more != nil {
		sum += *more
	}
	return sum
}
