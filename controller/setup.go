// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
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
	// RetryBaseDelay is the wait after a first error; it doubles with each
	// further one.
	RetryBaseDelay time.Duration
	// RetryMaxDelay is the longest wait.
	RetryMaxDelay time.Duration
	// RetryFixedDelay, if not zero, is the wait after every error instead.
	RetryFixedDelay time.Duration
	// AgentImage is the image with the agent at /agent.
	AgentImage string
	// MySQLImage and MariaDBImage are the images with the databases' clients.
	MySQLImage, MariaDBImage string
	// CleanupTimeout is how long a deleted object waits for its backups to be
	// removed.
	CleanupTimeout time.Duration
}

// Setup adds a controller for each kind to the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	if err := index(mgr.GetFieldIndexer()); err != nil {
		return err
	}
	kinds := []func() backupv1.Backup{
		func() backupv1.Backup { return &backupv1.BackupJob{} },
		func() backupv1.Backup { return &backupv1.MySQLBackup{} },
	}
	for _, kind := range kinds {
		r := &reconciler{
			Options: o, empty: kind, client: mgr.GetClient(), reader: mgr.GetAPIReader(), events: mgr.GetEventRecorder(recorderName),
			images: images{agent: o.AgentImage, mysql: o.MySQLImage, mariadb: o.MariaDBImage},
		}
		name := kind().Kind()
		jobsAndPods := handler.EnqueueRequestsFromMapFunc(requestsFor(name))
		err := ctrl.NewControllerManagedBy(mgr).
			Named(strings.ToLower(name)).
			For(kind(), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
			Watches(&batchv1.Job{}, jobsAndPods).
			Watches(&corev1.Pod{}, jobsAndPods, builder.WithPredicates(predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }})).
			WithOptions(ctrlcontroller.Options{
				MaxConcurrentReconciles: o.MaxConcurrentReconciles,
				ReconciliationTimeout:   passTimeout,
				RateLimiter:             o.rateLimiter(),
			}).
			Complete(r)
		if err != nil {
			return fmt.Errorf("set up the controller of %s: %w", name, err)
		}
	}
	return nil
}

func (o Options) rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	base, limit := o.RetryBaseDelay, o.RetryMaxDelay
	if o.RetryFixedDelay > 0 {
		base, limit = o.RetryFixedDelay, o.RetryFixedDelay
	}
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](base, limit)
}

// requestsFor maps a Job or a Pod to exactly one object of the kind, by label.
func requestsFor(kind string) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		if o.GetLabels()[backupv1.LabelKind] != kind {
			return nil
		}
		key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[backupv1.LabelName]}
		return []reconcile.Request{{NamespacedName: key}}
	}
}

func index(indexer client.FieldIndexer) error {
	ctx := context.Background() //nolint:forbidigo // The indexer makes no call and there is no caller's context yet.
	return errors.Join(
		indexer.IndexField(ctx, &batchv1.Job{}, indexObject, byObject),
		indexer.IndexField(ctx, &corev1.Pod{}, indexJob, byJob),
	)
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
	labelled, err := labels.NewRequirement(backupv1.LabelUID, selection.Exists, nil)
	if err != nil {
		panic(err) // a constant
	}
	onlyOurs := cache.ByObject{Label: labels.NewSelector().Add(*labelled), Transform: slim}
	o := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject:         map[client.Object]cache.ByObject{&batchv1.Job{}: onlyOurs, &corev1.Pod{}: onlyOurs},
	}
	for _, namespace := range namespaces {
		if o.DefaultNamespaces == nil {
			o.DefaultNamespaces = map[string]cache.Config{}
		}
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
