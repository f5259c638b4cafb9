// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	backupv1 "example.com/backupjob-operator/api/v1"
)

func TestTheCacheHoldsOurJobsAndPodsOnly(t *testing.T) {
	o := CacheOptions([]string{"a", "b"})
	if len(o.DefaultNamespaces) != 2 || CacheOptions(nil).DefaultNamespaces != nil {
		t.Errorf("got %v", o.DefaultNamespaces)
	}
	if len(o.ByObject) != 2 {
		t.Fatalf("got %d kinds with a rule of their own, want Jobs and Pods", len(o.ByObject))
	}
	for kind, rule := range o.ByObject {
		if rule.Label.Matches(labels.Set{"app": "other"}) || !rule.Label.Matches(labels.Set{backupv1.LabelUID: "x"}) {
			t.Errorf("%T: got selector %s", kind, rule.Label)
		}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}},
		Spec:       corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	got, err := slim(pod)
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestErrorsInARowWaitLongerAndLonger(t *testing.T) {
	for name, tc := range map[string]struct {
		o    Options
		want []time.Duration
	}{
		"doubling up to the longest": {
			Options{RetryBaseDelay: 5 * time.Millisecond, RetryMaxDelay: 30 * time.Millisecond},
			[]time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond},
		},
		"always the same": {
			Options{RetryBaseDelay: 5 * time.Millisecond, RetryMaxDelay: 5 * time.Minute, RetryFixedDelay: 30 * time.Second},
			[]time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			limiter, one := tc.o.limiter(), reconcile.Request{}
			var got []time.Duration
			for range tc.want {
				got = append(got, limiter.When(one))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if other := limiter.When(reconcile.Request{NamespacedName: types.NamespacedName{Name: "other"}}); other != tc.want[0] {
				t.Errorf("got %v for another object, want %v", other, tc.want[0])
			}
			limiter.Forget(one)
			if again := limiter.When(one); again != tc.want[0] {
				t.Errorf("got %v after a success, want %v", again, tc.want[0])
			}
		})
	}
}

func TestAJobMapsToExactlyOneObject(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{
		backupv1.LabelKind: backupv1.KindMySQLBackup, backupv1.LabelName: "db.prod.eu",
	}}}
	want := []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "db.prod.eu"}}}
	if diff := cmp.Diff(want, requestsFor(backupv1.KindMySQLBackup)(t.Context(), job)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if got := requestsFor(backupv1.KindBackupJob)(t.Context(), job); got != nil {
		t.Errorf("got %v for the other kind", got)
	}
}
