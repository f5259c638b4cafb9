// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// passTimeout ends a pass whose calls hang.
	passTimeout = time.Minute
	// recorderName is who reports the events.
	recorderName = "backupjob-controller"

	indexObject = "object" // Jobs by the UID of the object they carry
	indexJob    = "job"    // Pods by the UID of their Job
)

// Options are the settings of the controller.
type Options struct {
	// Clock is what the time is taken from.
	Clock clock.PassiveClock
	// MaxConcurrentReconciles is how many objects of a kind are worked on at
	// once.
	MaxConcurrentReconciles int
	// RetryBaseDelay and RetryMaxDelay are the first and the longest wait
	// after an error; each further one doubles it. RetryFixedDelay, if not
	// zero, is the wait after every error instead.
	RetryBaseDelay, RetryMaxDelay, RetryFixedDelay time.Duration
	// AgentImage has the agent at /agent; MySQLImage and MariaDBImage have the
	// databases' clients, for objects that name no image.
	AgentImage, MySQLImage, MariaDBImage string
	// CleanupTimeout is how long a deleted object waits for its backups to be
	// removed.
	CleanupTimeout time.Duration
}

// Setup adds a controller for each kind to the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	ctx := context.Background() //nolint:forbidigo // Indexing makes no call, and there is no caller's context yet.
	indexer := mgr.GetFieldIndexer()
	if err := errors.Join(
		indexer.IndexField(ctx, &batchv1.Job{}, indexObject, byObject),
		indexer.IndexField(ctx, &corev1.Pod{}, indexJob, byJob),
	); err != nil {
		return fmt.Errorf("index Jobs and Pods: %w", err)
	}
	for _, empty := range []func() backupv1.Backup{
		func() backupv1.Backup { return &backupv1.BackupJob{} },
		func() backupv1.Backup { return &backupv1.MySQLBackup{} },
	} {
		kind := empty().Kind()
		jobsAndPods := handler.EnqueueRequestsFromMapFunc(requestsFor(kind))
		err := ctrl.NewControllerManagedBy(mgr).
			Named(strings.ToLower(kind)).
			For(empty(), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
			Watches(&batchv1.Job{}, jobsAndPods).
			Watches(&corev1.Pod{}, jobsAndPods, builder.WithPredicates(predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }})).
			WithOptions(ctrlcontroller.Options{
				MaxConcurrentReconciles: o.MaxConcurrentReconciles,
				ReconciliationTimeout:   passTimeout,
				RateLimiter:             o.limiter(),
			}).
			Complete(&reconciler{
				Options: o, empty: empty, client: mgr.GetClient(), reader: mgr.GetAPIReader(), events: mgr.GetEventRecorder(recorderName),
			})
		if err != nil {
			return fmt.Errorf("set up the controller of %s: %w", kind, err)
		}
	}
	return nil
}

// limiter says how long each error in a row of one object waits.
func (o Options) limiter() workqueue.TypedRateLimiter[reconcile.Request] {
	first, longest := cmp.Or(o.RetryFixedDelay, o.RetryBaseDelay), cmp.Or(o.RetryFixedDelay, o.RetryMaxDelay)
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, longest)
}

// requestsFor maps a Job or a Pod to exactly one object of the kind, by label.
func requestsFor(kind string) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		if o.GetLabels()[backupv1.LabelKind] != kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[backupv1.LabelName]}}}
	}
}

func byObject(o client.Object) []string { return []string{o.GetLabels()[backupv1.LabelUID]} }

func byJob(o client.Object) []string {
	if owner := metav1.GetControllerOf(o); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// CacheOptions keep Jobs and Pods out of the cache that are not ours, and of
// ours what no pass reads. No namespaces means all. There is no Secret in it,
// and no right to read one.
func CacheOptions(namespaces []string) cache.Options {
	labelled, err := labels.Parse(backupv1.LabelUID)
	if err != nil {
		panic(err) // it is a constant
	}
	ours := cache.ByObject{Label: labelled, Transform: slim}
	o := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject:         map[client.Object]cache.ByObject{&batchv1.Job{}: ours, &corev1.Pod{}: ours},
	}
	if len(namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
	}
	for _, namespace := range namespaces {
		o.DefaultNamespaces[namespace] = cache.Config{}
	}
	return o
}

// slim drops what no pass reads: most of a Job and a Pod is their spec.
func slim(o any) (any, error) {
	switch o := o.(type) {
	case *batchv1.Job:
		o.ManagedFields, o.Spec = nil, batchv1.JobSpec{}
	case *corev1.Pod:
		o.ManagedFields, o.Spec = nil, corev1.PodSpec{}
	}
	return o, nil
}
