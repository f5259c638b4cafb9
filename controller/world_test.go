// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/backupjob-operator/api/agent"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// foreground is the finalizer that a Job has until its Pods are gone.
const foreground = "foregroundDeletion"

// world is an API server, its Job controller and our process, small enough to
// stop at any call.
type world struct {
	t       *testing.T
	clock   *clocktesting.FakePassiveClock
	api     client.WithWatch // as everybody else sees it
	r       *reconciler
	kind    func() backupv1.Backup
	key     types.NamespacedName
	cache   *snapshot
	lagging bool // the cache follows only when told

	calls   []string       // of our process, since the last pass began
	broken  map[int]broken // by number of the call
	refuse  func(call string, o client.Object) error
	created map[string]int // Jobs by name, ever
	events  []string
	related []string // the Job of each event, empty for none
	uids    int
	skew    time.Duration // of our process's clock against the others'
}

// broken is a call that fails.
type broken struct {
	err  error
	done bool // it was done all the same, only its answer is lost
}

var errCrash = errors.New("the process ended")

func newWorld(t *testing.T, now string, b backupv1.Backup) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{backupv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{
		t: t, clock: clocktesting.NewFakePassiveClock(at(t, now)), key: client.ObjectKeyFromObject(b),
		created: map[string]int{}, broken: map[int]broken{},
		api: fake.NewClientBuilder().WithScheme(scheme).WithObjects(b).
			WithStatusSubresource(&backupv1.BackupJob{}, &backupv1.MySQLBackup{}, &batchv1.Job{}).
			WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string { return []string{string(o.(*corev1.Event).InvolvedObject.UID)} }).
			WithIndex(&corev1.Event{}, "reason", func(o client.Object) []string { return []string{o.(*corev1.Event).Reason} }).Build(),
		kind: func() backupv1.Backup { return &backupv1.BackupJob{} },
	}
	if b.Kind() == backupv1.KindMySQLBackup {
		w.kind = func() backupv1.Backup { return &backupv1.MySQLBackup{} }
	}
	w.restart()
	return w
}

// restart gives the process a new memory and a fresh cache.
func (w *world) restart() {
	w.sync()
	ours := interceptor.NewClient(w.api, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			w.uids++
			o.SetUID(types.UID(fmt.Sprintf("job-%d", w.uids)))
			return w.call("create", o, func() error {
				err := c.Create(ctx, o, opts...)
				if err == nil {
					w.created[o.GetName()]++
				}
				return err
			})
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return w.call("delete", o, func() error { return w.remove(ctx, c, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return w.call("patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return w.call("patch "+sub, o, func() error {
				before := w.object()
				if err := c.SubResource(sub).Patch(ctx, o, p, opts...); err != nil {
					return err
				}
				w.checkWrite(before, w.object())
				return nil
			})
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return w.call("get", o, func() error { return c.Get(ctx, key, o, opts...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return w.call("list", nil, func() error { return c.List(ctx, list, opts...) })
		},
	})
	options := testOptions
	options.Clock = w.clock
	w.r = &reconciler{
		Options: options,
		client:  readThrough{Client: ours, cache: func() client.Reader { return w.cache }}, reader: ours,
		events: recorder{w}, empty: w.kind,
	}
}

// call counts one call of our process and lets it fail if it is to.
func (w *world) call(what string, o client.Object, do func() error) error {
	if o != nil {
		what += " " + strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1.")
	}
	w.calls = append(w.calls, what)
	if b, is := w.broken[len(w.calls)]; is {
		if b.done {
			_ = do() // its answer is lost
		}
		return b.err
	}
	if w.refuse != nil {
		if err := w.refuse(what, o); err != nil {
			return err
		}
	}
	return do()
}

// pass is one pass; a cache that does not lag is up to date before it.
func (w *world) pass() (ctrl.Result, error) {
	if !w.lagging {
		w.sync()
	}
	w.calls = nil
	return w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: w.key})
}

// mustPass is a pass without an error.
func (w *world) mustPass() ctrl.Result {
	w.t.Helper()
	result, err := w.pass()
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

// writes are the calls of the last pass that changed something.
func (w *world) writes() []string {
	return slices.DeleteFunc(slices.Clone(w.calls), func(c string) bool {
		return strings.HasPrefix(c, "get") || strings.HasPrefix(c, "list")
	})
}

func (w *world) set(now string) { w.clock.SetTime(at(w.t, now)) }

// now is the time that everybody else has.
func (w *world) now() time.Time { return w.clock.Now().Add(-w.skew) }

func (w *world) object() backupv1.Backup {
	w.t.Helper()
	b := w.kind()
	w.must(client.IgnoreNotFound(w.api.Get(w.t.Context(), w.key, b)))
	return b
}

func (w *world) status() *backupv1.BackupStatus { return w.object().RunStatus() }

func (w *world) condition(kind string) string {
	w.t.Helper()
	c := meta.FindStatusCondition(w.status().Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// edit changes the object as a user does.
func (w *world) edit(change func(backupv1.Backup)) {
	w.t.Helper()
	b := w.object()
	change(b)
	b.SetGeneration(b.GetGeneration() + 1)
	w.must(w.api.Update(w.t.Context(), b))
}

func (w *world) jobs() []batchv1.Job {
	w.t.Helper()
	var list batchv1.JobList
	w.must(w.api.List(w.t.Context(), &list))
	return list.Items
}

// only is the one Job that there is.
func (w *world) only() *batchv1.Job {
	w.t.Helper()
	jobs := w.jobs()
	if len(jobs) != 1 {
		w.t.Fatalf("got %d Jobs, want one", len(jobs))
	}
	return &jobs[0]
}

// pod gives the Job a Pod with this status.
func (w *world) pod(job *batchv1.Job, status corev1.PodStatus) *corev1.Pod {
	w.t.Helper()
	w.uids++
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("%s-%05d", job.Name, w.uids), Namespace: job.Namespace, Labels: job.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
	}, Status: status}
	pod.Labels[batchv1.ControllerUidLabel], pod.Labels[batchv1.JobNameLabel] = string(job.UID), job.Name
	w.must(w.api.Create(w.t.Context(), pod))
	return pod
}

// finish ends the Job as the Job controller does; message is the termination
// message of its last Pod.
func (w *world) finish(job *batchv1.Job, how batchv1.JobConditionType, message string) {
	w.t.Helper()
	exit, phase := int32(0), corev1.PodSucceeded
	if how == batchv1.JobFailed {
		exit, phase = 1, corev1.PodFailed
	}
	w.pod(job, corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
		Name: mainContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exit, Message: message, FinishedAt: *second(w.now()),
		}},
	}}})
	w.end(job, how, "BackoffLimitExceeded")
}

// end ends the Job and leaves its Pods alone.
func (w *world) end(job *batchv1.Job, how batchv1.JobConditionType, reason string) {
	w.t.Helper()
	now := *second(w.now())
	if job.Status.StartTime == nil {
		job.Status.StartTime = &now
	}
	job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
		Type: how, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: now,
	})
	w.must(w.api.Status().Update(w.t.Context(), job))
}

// remove deletes as a server does: in the foreground a Job that is active
// stays until its Pods are gone, in the background its Pods go with it.
func (w *world) remove(ctx context.Context, c client.Client, o client.Object, opts ...client.DeleteOption) error {
	asked := (&client.DeleteOptions{}).ApplyOptions(opts)
	if asked.PropagationPolicy == nil || asked.Preconditions == nil {
		w.t.Error("a Job was deleted without a propagation policy or its UID")
		return nil
	}
	job := &batchv1.Job{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), job); err != nil {
		return err
	}
	if *asked.Preconditions.UID != job.UID {
		return apierrors.NewConflict(batchv1.Resource("jobs"), job.Name, errors.New("the UID differs"))
	}
	if *asked.PropagationPolicy == metav1.DeletePropagationForeground && job.DeletionTimestamp == nil {
		controllerutil.AddFinalizer(job, foreground)
		if err := c.Update(ctx, job); err != nil {
			return err
		}
	}
	isRun := metav1.GetControllerOf(job) != nil
	if j := classify(w.object(), job); isRun && *asked.PropagationPolicy == metav1.DeletePropagationBackground && news(w.status(), j) {
		w.t.Errorf("Job %s was deleted before its outcome was in the status", job.Name)
	}
	return c.Delete(ctx, job)
}

// collect ends the Pods of Jobs that are being deleted.
func (w *world) collect() {
	w.t.Helper()
	for _, job := range w.jobs() {
		if job.DeletionTimestamp != nil && controllerutil.RemoveFinalizer(&job, foreground) {
			w.must(w.api.Update(w.t.Context(), &job))
		}
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// checkWrite holds what is true of every write of a status.
func (w *world) checkWrite(before, after backupv1.Backup) {
	w.t.Helper()
	old, s := before.RunStatus(), after.RunStatus()
	if cmp.Equal(old, s) {
		w.t.Error("a status was written that changes nothing")
	}
	for name, times := range map[string][2]*metav1.Time{
		"lastScheduleTime": {old.LastScheduleTime, s.LastScheduleTime}, "lastSkippedTime": {old.LastSkippedTime, s.LastSkippedTime},
		"lastBackupTime": {old.LastBackupTime, s.LastBackupTime}, "lastSuccessfulTime": {old.LastSuccessfulTime, s.LastSuccessfulTime},
	} {
		believed := times[0] != nil && times[0].Sub(w.clock.Now()) <= clockTrust
		if believed && (times[1] == nil || times[1].Before(times[0])) {
			w.t.Errorf("%s went from %v back to %v", name, times[0], times[1])
		}
	}
	for _, c := range s.Conditions {
		was := meta.FindStatusCondition(old.Conditions, c.Type)
		if was != nil && (was.Status == c.Status) != was.LastTransitionTime.Equal(&c.LastTransitionTime) && was.Status == c.Status {
			w.t.Errorf("the transition time of %s moved without a flip", c.Type)
		}
		if !reasonFormat.MatchString(c.Reason) || c.Message == "" || c.ObservedGeneration == 0 {
			w.t.Errorf("got condition %+v", c)
		}
	}
	if s.ObservedGeneration != after.GetGeneration() && s.ObservedGeneration != before.GetGeneration() {
		w.t.Errorf("got observedGeneration %d, want %d", s.ObservedGeneration, after.GetGeneration())
	}
}

var reasonFormat = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)

// recorder keeps events in words.
type recorder struct{ w *world }

func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	ref, ok := regarding.(*corev1.ObjectReference)
	if !ok || ref.ResourceVersion != "" || ref.UID == "" || action == "" {
		r.w.t.Errorf("got an event about %+v", regarding)
	}
	about := &corev1.ObjectReference{}
	if related != nil {
		about = related.(*corev1.ObjectReference)
		if about.Name == "" || about.Kind != "Job" || about.APIVersion != "batch/v1" || about.Namespace != ref.Namespace {
			r.w.t.Errorf("got an event related to %+v", about)
		}
	}
	r.w.related = append(r.w.related, about.Name)
	r.w.events = append(r.w.events, kind+" "+reason+": "+fmt.Sprintf(note, args...))
}

// readThrough reads from the cache and writes to the server.
type readThrough struct {
	client.Client
	cache func() client.Reader
}

func (c readThrough) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.cache().Get(ctx, key, o, opts...)
}

func (c readThrough) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.cache().List(ctx, list, opts...)
}

// snapshot is a cache as of one moment.
type snapshot struct {
	object backupv1.Backup // nil if it is gone
	jobs   batchv1.JobList
	pods   corev1.PodList
}

// sync brings the cache up to date.
func (w *world) sync() {
	w.t.Helper()
	s := &snapshot{object: w.object()}
	if s.object.GetName() == "" {
		s.object = nil
	}
	w.must(w.api.List(w.t.Context(), &s.jobs))
	w.must(w.api.List(w.t.Context(), &s.pods))
	w.cache = s
}

func (s *snapshot) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	switch o := o.(type) {
	case *backupv1.BackupJob:
		if from, ok := s.object.(*backupv1.BackupJob); ok {
			from.DeepCopyInto(o)
			return nil
		}
	case *backupv1.MySQLBackup:
		if from, ok := s.object.(*backupv1.MySQLBackup); ok {
			from.DeepCopyInto(o)
			return nil
		}
	}
	return apierrors.NewNotFound(backupv1.GroupVersion.WithResource("backupjobs").GroupResource(), key.Name)
}

func (s *snapshot) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(opts)
	indexed := func(o client.Object, values []string) bool {
		return o.GetNamespace() == asked.Namespace && slices.Contains(values, asked.FieldSelector.Requirements()[0].Value)
	}
	switch list := list.(type) {
	case *batchv1.JobList:
		for i := range s.jobs.Items {
			if indexed(&s.jobs.Items[i], byObject(&s.jobs.Items[i])) {
				job, err := slim(s.jobs.Items[i].DeepCopy())
				list.Items = append(list.Items, *job.(*batchv1.Job))
				if err != nil {
					return err
				}
			}
		}
	case *corev1.PodList:
		for i := range s.pods.Items {
			if indexed(&s.pods.Items[i], byJob(&s.pods.Items[i])) {
				list.Items = append(list.Items, *s.pods.Items[i].DeepCopy())
			}
		}
	default:
		return fmt.Errorf("the cache holds no %T", list)
	}
	return nil
}

// encoded is a termination message of the agent.
func encoded(r agent.Result) string { return string(r.Encode()) }
