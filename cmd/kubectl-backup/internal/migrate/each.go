// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pass is one walk over all objects of a kind in v1, several at a time. It holds
// one page and what stands in the way.
type pass struct {
	m       *migration
	s       *subject
	title   string
	visit   func(ctx context.Context, object *unstructured.Unstructured) error
	perPage func(page []unstructured.Unstructured)

	bar      *bar
	mu       sync.Mutex
	problems []Problem
	since    int64 // objects that were visited since the server last left one unanswered
}

// run walks. An error is one that concerns all objects; what concerns one is a
// problem.
func (p *pass) run(ctx context.Context) error {
	pages := p.m.pager(p.s.kind, newVersion)
	pages.lenient = true
	p.bar = p.m.progress.begin(p.s.Name+": "+p.title, 0)
	defer p.bar.end()
	p.s.Objects = 0
	for {
		page, err := pages.next(ctx)
		if err != nil || page == nil {
			return err
		}
		p.bar.expect(p.s.Objects + total(page))
		p.s.Objects += int64(len(page.Items))
		if p.perPage != nil {
			p.perPage(page.Items)
		}
		if err := p.visitAll(ctx, page.Items); err != nil {
			return err
		}
	}
}

func (p *pass) visitAll(ctx context.Context, objects []unstructured.Unstructured) error {
	group, together := errgroup.WithContext(ctx)
	group.SetLimit(max(1, p.m.Concurrency))
	for i := range objects {
		if together.Err() != nil {
			break
		}
		group.Go(func() error {
			err := p.m.retry(together, p.bar.say, func() error { return p.visit(together, &objects[i]) })
			return p.judge(together, &objects[i], err)
		})
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// judge sorts an error: one object's, or everybody's.
func (p *pass) judge(ctx context.Context, object *unstructured.Unstructured, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.bar.add(1)
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		// Who deleted or changed it meanwhile had it stored anew, or away.
		p.since++
		return nil
	case apierrors.IsUnauthorized(err), isRightMissing(err):
		return explain("write "+describe(object), err)
	case passing(err):
		if p.since == 0 {
			return fmt.Errorf("%s cannot be written, and nothing else could be for %s: %w", describe(object), p.m.patience, err)
		}
		p.since = 0
		p.add(object, ReasonUnanswered, err.Error(), "Look at the webhooks' logs ('kubectl logs -n backupjob-system deploy/backupjob-webhook'), then try again.")
		return nil
	}
	p.since++
	if unreadable, ok := errors.AsType[unreadableError](err); ok {
		p.add(object, ReasonUnreadable, err.Error(), unreadable.advice)
		return nil
	}
	p.add(object, ReasonRefused, err.Error(), adviceOnRefusal(object, err))
	return nil
}

func (p *pass) add(object *unstructured.Unstructured, reason, message, advice string) {
	p.problems = append(p.problems, Problem{
		Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
		Reason: reason, Message: message, Advice: advice,
	})
}
