// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// look is what happens before the server answers one look.
type look func(ctx context.Context, c client.Client) error

func waitFor(ctx context.Context, t *testing.T, o *Options, looks ...look) (string, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{backupv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	object := &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop", UID: "u"}}
	clock := clocktesting.NewFakeClock(asked)
	number := 0
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).
		WithStatusSubresource(object, &batchv1.Job{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
				if number == len(looks) {
					return errors.New("nobody expected another look")
				}
				now := looks[number]
				number++
				clock.Step(lookEvery) // the next look may follow at once
				if err := now(ctx, inner); err != nil {
					return err
				}
				return inner.Get(ctx, key, into, opts...)
			},
		}).Build()
	var out bytes.Buffer
	o.Clock, o.Out = clock, &out
	err := o.wait(ctx, c, object.DeepCopy(), "r")
	if number != len(looks) {
		t.Errorf("it looked %d times, want %d", number, len(looks))
	}
	return out.String(), err
}

func nothing(context.Context, client.Client) error { return nil }

func jobAppears(ctx context.Context, c client.Client) error {
	yes := true
	return c.Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: "a-1", Namespace: "shop", Labels: map[string]string{backupv1.LabelUID: "u"},
		Annotations:     map[string]string{backupv1.AnnotationScheduledTime: "2027-03-28T02:00:01Z", backupv1.AnnotationRunRequestedAt: "r"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "backup.example.com/v1", Kind: "BackupJob", Name: "a", UID: "u", Controller: &yes}},
	}})
}

// jobEnds ends the Job and writes the status, as the two controllers do.
func jobEnds(how batchv1.JobConditionType, message string) look {
	return func(ctx context.Context, c client.Client) error {
		job, object := &batchv1.Job{}, &backupv1.BackupJob{}
		if err := errors.Join(c.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "a-1"}, job),
			c.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "a"}, object)); err != nil {
			return err
		}
		job.Status.StartTime = after(1)
		job.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, LastTransitionTime: *after(9), Message: message}}
		object.Status.LastBackupTime = after(9)
		return errors.Join(c.Status().Update(ctx, job), c.Status().Update(ctx, object))
	}
}

func refuse(err error) look { return func(context.Context, client.Client) error { return err } }

func TestWait(t *testing.T) {
	resource := schema.GroupResource{Group: backupv1.GroupName, Resource: "backupjobs"}
	deleted := func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop"}})
	}
	replaced := func(ctx context.Context, c client.Client) error {
		again := &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop", UID: "another"}}
		return errors.Join(deleted(ctx, c), c.Create(ctx, again))
	}
	cases := map[string]struct {
		looks []look
		want  string
		err   string
	}{
		"a run that succeeds": {
			looks: []look{nothing, jobAppears, nothing, jobEnds(batchv1.JobComplete, "")},
			want:  "Waiting for the run to start\nJob a-1 started\nbj/a succeeded in 8s\n",
		},
		"a run that fails": {
			looks: []look{jobAppears, jobEnds(batchv1.JobFailed, "no space")}, want: "Job a-1 started\n", err: "bj/a failed: no space",
		},
		"a server that is away for a while": {
			looks: []look{
				jobAppears, refuse(apierrors.NewServiceUnavailable("restarting")), refuse(apierrors.NewServiceUnavailable("restarting")),
				jobEnds(batchv1.JobComplete, ""),
			},
			want: "Job a-1 started\nCannot reach the API server, trying again: restarting\nbj/a succeeded in 8s\n",
		},
		"an object that is deleted":  {looks: []look{jobAppears, deleted}, want: "Job a-1 started\n", err: "bj/a was deleted, and its run with it"},
		"an object that is replaced": {looks: []look{replaced}, err: "bj/a was deleted, and its run with it"},
		"a right that is taken away": {looks: []look{refuse(apierrors.NewForbidden(resource, "a", errors.New("no")))}, err: "is forbidden"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := waitFor(t.Context(), t, &Options{}, tc.looks...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestWaitSaysThatTheRunGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cases := map[string]struct {
		options Options
		look    look
		want    string
	}{
		"the time is up": {
			options: Options{Timeout: time.Nanosecond}, look: jobAppears,
			want: "timed out after 1ns while waiting for Job a-1; it goes on: see 'kubectl backup history bj/a'",
		},
		"the user interrupts": {
			look: func(context.Context, client.Client) error { cancel(); return context.Canceled },
			want: "interrupted while waiting for the run to start; the request stands: see 'kubectl backup history bj/a'",
		},
	}
	for _, name := range []string{"the time is up", "the user interrupts"} {
		tc := cases[name]
		t.Run(name, func(t *testing.T) {
			_, err := waitFor(ctx, t, &tc.options, tc.look)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
