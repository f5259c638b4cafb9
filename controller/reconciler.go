// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller runs backups by their schedule. One pass over an object
// observes it, its Jobs and their Pods, decides what is due as a pure function
// of that, acts by creating and deleting Jobs, and reports in the status.
// Every decision comes from stored facts, never from what the process
// remembers, so a restart, a crash between two calls or a second replica
// changes nothing. The object may hold whatever its schema lets in: the
// webhook is not relied on.
package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// quietRetry is how soon a pass is made anew because somebody else was faster
// or the cache was behind.
const quietRetry = 100 * time.Millisecond

var errBehind = errors.New("the cache is behind the last write")

// reconciler keeps the objects of one kind.
type reconciler struct {
	Options
	client client.Client // reads from the cache
	reader client.Reader // reads from the API server
	events events.EventRecorder
	empty  func() backupv1.Backup
	// recent holds the last write of each object. A pass waits or reads anew
	// where the cache is behind it; no decision comes from it, and the cache
	// of a new process is not behind.
	recent sync.Map
}

type write struct {
	version string   // of the object
	jobs    []string // created, and not in the object's status yet
}

// Reconcile is one pass over one object.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	next, err := r.pass(ctx, req)
	switch {
	case apierrors.IsConflict(err), errors.Is(err, errBehind):
		ctrl.LoggerFrom(ctx).V(1).Info("Made anew", "why", err.Error())
		return ctrl.Result{RequeueAfter: quietRetry}, nil
	case err != nil || next.IsZero():
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: max(next.Sub(r.Clock.Now()), time.Millisecond)}, nil
}

// pass returns when the next one is due though nothing changes, zero for never.
func (r *reconciler) pass(ctx context.Context, req ctrl.Request) (time.Time, error) {
	backup := r.empty()
	if err := r.client.Get(ctx, req.NamespacedName, backup); err != nil {
		if apierrors.IsNotFound(err) {
			forget(backup.Kind(), req.NamespacedName)
			r.recent.Delete(req.NamespacedName)
		}
		return time.Time{}, client.IgnoreNotFound(err)
	}
	step := func(name string) {
		ctrl.LoggerFrom(ctx).V(1).Info("Step", "step", name, "phase", backup.RunStatus().Phase)
	}
	step("observe")
	seen, err := r.observe(ctx, backup)
	if err != nil {
		return time.Time{}, err
	}
	if backup.GetDeletionTimestamp() != nil {
		step("finalize")
		return r.finalize(ctx, seen)
	}
	if err := r.hold(ctx, backup); err != nil {
		return time.Time{}, err
	}
	step("act")
	plan := decide(seen)
	done, err := r.act(ctx, seen, plan)
	if err != nil {
		return time.Time{}, err
	}
	step("report")
	if err := r.report(ctx, seen, plan, done); err != nil {
		return time.Time{}, err
	}
	step("tidy")
	return soonest(soonest(plan.next, plan.look), seen.look), r.tidy(ctx, backup, plan.remove)
}

// report writes the status if it differs, and tells what is new in it: the
// status first, so that nothing is told twice.
func (r *reconciler) report(ctx context.Context, f facts, p plan, a acted) error {
	before, after := *f.status().DeepCopy(), statusOf(f, p, a)
	if !equality.Semantic.DeepEqual(*f.backup.RunStatus(), after) {
		err := r.patch(f.backup, func() { *f.backup.RunStatus() = after }, func(p client.Patch) error { return r.client.Status().Patch(ctx, f.backup, p) })
		if err != nil {
			return fmt.Errorf("write the status: %w", err)
		}
	}
	r.announce(f, p, a, before, after)
	show(f, p, before, after)
	return nil
}

// patch writes what change changes. Who was overtaken gets a conflict.
func (r *reconciler) patch(b backupv1.Backup, change func(), send func(client.Patch) error) error {
	before, ok := b.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("copy %T: the copy is no object", b)
	}
	change()
	if err := send(client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recent.Store(client.ObjectKeyFromObject(b), write{version: b.GetResourceVersion()})
	return nil
}

func (r *reconciler) lastWrite(b backupv1.Backup) write {
	last, _ := r.recent.Load(client.ObjectKeyFromObject(b))
	w, _ := last.(write)
	return w
}

// behind says whether the object is older than our last write of it.
func (w write) behind(b backupv1.Backup) bool {
	order, err := resourceversion.CompareResourceVersion(b.GetResourceVersion(), w.version)
	return err == nil && order < 0
}

// soonest is the earlier of two times, of which zero is never.
func soonest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
