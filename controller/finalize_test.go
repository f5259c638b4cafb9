// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

func deleteBackups(b *backupv1.BackupJob) { b.Spec.DeletionPolicy = backupv1.DeletionDelete }

// doomed is a world in which an object with deletionPolicy Delete was seen and
// is deleted two seconds later.
func doomed(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "2027-03-10 12:00:00", fresh(t, deleteBackups))
	w.mustPass()
	w.kill()
	return w
}

// kill deletes the object at the world's time; the fake server has its own.
func (w *world) kill() {
	w.t.Helper()
	w.must(w.api.Delete(w.t.Context(), w.object()))
	w.clock.SetTime(w.object().GetDeletionTimestamp().Time)
}

func (w *world) gone() bool { return w.object().GetName() == "" }

func TestRetainHasNoFinalizer(t *testing.T) {
	w := lived(t)
	w.mustPass()
	if got := w.object().GetFinalizers(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestTheFinalizerFollowsThePolicy(t *testing.T) {
	w := lived(t)
	w.edit(func(b backupv1.Backup) { b.Policy().DeletionPolicy = backupv1.DeletionDelete })
	w.mustPass()
	if got := w.object().GetFinalizers(); !slices.Equal(got, []string{backupv1.FinalizerCleanup}) {
		t.Errorf("got %v", got)
	}
	if got := w.writes(); got[0] != "patch BackupJob" || got[1] != "create Job" {
		t.Errorf("got %v, want the finalizer before the first run", got)
	}
	w.edit(func(b backupv1.Backup) { b.Policy().DeletionPolicy = backupv1.DeletionRetain })
	w.mustPass()
	if got := w.object().GetFinalizers(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestCleanUpEndsRunsThenRemovesTheBackupsThenLetsGo(t *testing.T) {
	w := lived(t, deleteBackups)
	w.mustPass()
	run := w.only().Name
	w.kill()
	w.mustPass()
	if s := w.status(); w.only().DeletionTimestamp == nil || s.Phase != backupv1.PhaseTerminating || s.NextScheduleTime != nil {
		t.Fatalf("got %+v, want the run to be ended first", s)
	}
	w.mustPass()
	if got := w.only().Name; got != run {
		t.Fatalf("got %s, want nothing new while the run's Pods are there", got)
	}
	w.collect()
	if got := w.mustPass(); got.RequeueAfter != cleanupRetry {
		t.Errorf("got %v", got)
	}
	want := "Unknown RunStopped: Job " + run + " was ended because the object is being deleted"
	if got := w.condition(backupv1.ConditionBackupSucceeded); got != want || strings.Contains(strings.Join(w.events, "\n"), "Warning") {
		t.Errorf("got %q and %v, want %q and no warning", got, w.events, want)
	}
	job := w.only()
	if job.Name != cleanupName(w.object()) || job.Spec.Template.Spec.Containers[0].Args[0] != "purge" || len(job.OwnerReferences) != 0 {
		t.Fatalf("got %+v, want the clean-up", job)
	}
	w.mustPass()
	if len(w.writes()) != 0 || w.gone() {
		t.Errorf("got %v, want it to wait", w.writes())
	}
	w.finish(job, batchv1.JobComplete, "{}")
	w.mustPass()
	if last := w.events[len(w.events)-1]; !w.gone() || len(w.jobs()) != 0 || last != "Normal CleanupSucceeded: The object's backups in claim nightly-backups are removed" {
		t.Errorf("got %v and %d Jobs, want it gone and the clean-up with it", w.events, len(w.jobs()))
	}
}

func TestTheObjectGoesInTimeWhateverHappens(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	terminating := apierrors.NewForbidden(jobs, "x", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	refuse := func(err error) func(*world) {
		return func(w *world) {
			w.refuse = func(call string, _ client.Object) error {
				if call == "create Job" {
					return err
				}
				return nil
			}
		}
	}
	cases := map[string]struct {
		change func(*world)
		after  time.Duration // how long after the deletion it is gone
		event  string
	}{
		"the clean-up's Pod never starts": {func(*world) {}, 10 * time.Minute, "Normal CleanupTimedOut"},
		"the clean-up's Job is refused": {
			refuse(apierrors.NewForbidden(jobs, "x", errors.New("quota"))), 10 * time.Minute, "Normal CleanupTimedOut",
		},
		"the namespace is being deleted": {refuse(terminating), 0, ""},
		"an annotation gives it up": {
			skipCleanup, 0, "Normal CleanupSkipped",
		},
		"the policy is Retain meanwhile": {
			func(w *world) {
				w.edit(func(b backupv1.Backup) { b.Policy().DeletionPolicy = backupv1.DeletionRetain })
			}, 0, "Normal CleanupSkipped",
		},
		"the clean-up fails": {
			func(w *world) {
				w.mustPass()
				w.finish(w.only(), batchv1.JobFailed, "{}")
			}, 0, "Normal CleanupFailed",
		},
		"a stranger's Job has the clean-up's name": {
			func(w *world) {
				w.must(w.api.Create(w.t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: cleanupName(w.object())}}))
			}, 10 * time.Minute, "Normal CleanupTimedOut",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := doomed(t)
			start := w.clock.Now()
			tc.change(w)
			for w.clock.Now().Sub(start) <= time.Hour {
				w.mustPass()
				w.collect()
				result := w.mustPass()
				if w.gone() {
					break
				}
				w.clock.SetTime(w.clock.Now().Add(result.RequeueAfter))
			}
			if got := w.clock.Now().Sub(start); got != tc.after || !w.gone() {
				t.Errorf("got %v, gone %v, want %v", got, w.gone(), tc.after)
			}
			last := append([]string{""}, reasons(w.events)...)
			if got := last[len(last)-1]; got != tc.event {
				t.Errorf("got event %q, want %q", got, tc.event)
			}
		})
	}
}

func skipCleanup(w *world) {
	w.edit(func(b backupv1.Backup) { b.SetAnnotations(map[string]string{backupv1.AnnotationSkipCleanup: "true"}) })
}

func TestADeletionThatWaitsSaysForWhatAndUntilWhen(t *testing.T) {
	latest := func(w *world) string { return stamp(w.object().GetDeletionTimestamp().Add(11 * time.Minute)) }
	cases := map[string]struct {
		change func(*world)
		want   string
	}{
		"the clean-up goes on": {
			func(*world) {},
			"The object's backups in claim nightly-backups are removed, then it goes, by LATEST at the latest. To keep what is left of them: kubectl -n shop annotate backupjob nightly backup.example.com/skip-cleanup=true",
		},
		"the claim is missing": {
			func(w *world) {
				w.pod(w.only(), corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: `persistentvolumeclaim "x" not found`,
				}}})
			},
			`The clean-up waits: the PersistentVolumeClaim "x" is missing. Next: echo`,
		},
		"the clean-up is refused": {
			func(w *world) {
				w.must(w.api.Delete(w.t.Context(), w.only()))
				w.refuse = func(call string, o client.Object) error {
					if call == "create Job" {
						return apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, o.GetName(), errors.New("exceeded quota: jobs"))
					}
					return nil
				}
			},
			"is refused: exceeded quota: jobs",
		},
		"the clean-up is given up and its Pod ends": {
			skipCleanup, "The clean-up is ended, then the object goes, by LATEST at the latest; backups that are not removed yet stay",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := doomed(t)
			w.mustPass()
			tc.change(w)
			w.mustPass()
			want := strings.ReplaceAll(tc.want, "LATEST", latest(w))
			if got := w.condition(backupv1.ConditionReady); !strings.HasPrefix(got, "False Terminating: ") || !strings.Contains(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			w.mustPass()
			writes := slices.DeleteFunc(w.writes(), func(c string) bool { return c == "create Job" })
			if len(writes) != 0 {
				t.Errorf("got %v, want it told once", writes)
			}
		})
	}
}

func TestAnObjectThatSomebodyElseHoldsPromisesNoEnd(t *testing.T) {
	w := newWorld(t, "2027-03-10 12:00:00", fresh(t, deleteBackups, func(b *backupv1.BackupJob) { b.Finalizers = []string{foreground} }))
	w.mustPass()
	w.kill()
	w.mustPass()
	w.finish(w.only(), batchv1.JobComplete, "{}")
	w.settle()
	if got := w.condition(backupv1.ConditionReady); got != "False Terminating: No clean-up is left to do; other finalizers hold the object" {
		t.Errorf("got %q", got)
	}
}

// Whoever reads that backups stay may rely on it: by then neither the clean-up
// nor a Pod of it is there.
func TestNothingIsRemovedOnceTheBackupsAreSaidToStay(t *testing.T) {
	for name, tc := range map[string]struct {
		giveUp func(*world)
		reason string
	}{
		"an annotation": {skipCleanup, backupv1.ReasonCleanupSkipped},
		"the policy Retain": {func(w *world) {
			w.edit(func(b backupv1.Backup) { b.Policy().DeletionPolicy = backupv1.DeletionRetain })
		}, backupv1.ReasonCleanupSkipped},
		"the time is up": {func(w *world) { w.clock.SetTime(w.clock.Now().Add(10 * time.Minute)) }, backupv1.ReasonCleanupTimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			w := doomed(t)
			w.mustPass()
			job := w.only()
			pod := w.pod(job, corev1.PodStatus{Phase: corev1.PodRunning})
			tc.giveUp(w)
			w.restart()
			w.cache.jobs.Items, w.lagging = nil, true // as a new leader may see it
			w.mustPass()
			w.lagging = false
			if w.gone() || w.only().DeletionTimestamp == nil {
				t.Fatalf("got gone %v and %+v, want the clean-up to be ended first", w.gone(), w.jobs())
			}
			w.mustPass()
			w.collect()
			if got := w.mustPass(); w.gone() || got.RequeueAfter != cleanupRetry {
				t.Fatalf("got gone %v, next pass in %v, want it to wait for the Pod", w.gone(), got.RequeueAfter)
			}
			if diff := cmp.Diff([]string{"Normal " + tc.reason + ": Ended Job " + job.Name}, w.events); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			w.must(w.api.Delete(t.Context(), pod))
			w.mustPass()
			if last := w.events[len(w.events)-1]; !w.gone() || len(w.jobs()) != 0 || !strings.HasSuffix(last, "backups that it had not removed yet stay") {
				t.Errorf("got gone %v, %d Jobs and %q", w.gone(), len(w.jobs()), last)
			}
		})
	}
}

// A Pod on a node that is lost is never seen to end.
func TestAPodThatCannotBeEndedHoldsTheObjectForAMinute(t *testing.T) {
	w := doomed(t)
	w.mustPass()
	w.pod(w.only(), corev1.PodStatus{Phase: corev1.PodRunning})
	w.clock.SetTime(w.clock.Now().Add(10*time.Minute + endPatience - time.Second))
	w.mustPass()
	w.collect()
	w.mustPass()
	if w.gone() {
		t.Fatal("the object went while a Pod of its clean-up was there")
	}
	w.clock.SetTime(w.clock.Now().Add(time.Second))
	w.mustPass()
	if !w.gone() || !strings.Contains(strings.Join(w.events, "\n"), "Warning CleanupTimedOut: A Pod of the clean-up could not be ended") {
		t.Errorf("got gone %v and %v", w.gone(), w.events)
	}
}

func TestACleanUpThatIsDoneIsNotSaidToBeSkipped(t *testing.T) {
	w := doomed(t)
	w.mustPass()
	w.finish(w.only(), batchv1.JobComplete, "{}")
	skipCleanup(w)
	w.mustPass()
	if diff := cmp.Diff([]string{"Normal CleanupSucceeded"}, reasons(w.events)); diff != "" || !w.gone() {
		t.Errorf("gone %v, want -, got +:\n%s", w.gone(), diff)
	}
}

// A finalizer of somebody else, or a deletion of dependents first, keeps the
// object for a while. Nothing starts meanwhile.
func TestAnObjectThatIsBeingDeletedStartsNothing(t *testing.T) {
	w := newWorld(t, "2027-03-10 12:00:00", fresh(t, func(b *backupv1.BackupJob) { b.Finalizers = []string{foreground} }))
	w.mustPass()
	w.kill()
	w.clock.SetTime(w.clock.Now().Add(48 * time.Hour))
	if got := w.mustPass(); got.RequeueAfter != 0 || len(w.jobs()) != 0 || w.status().Phase != backupv1.PhaseTerminating {
		t.Errorf("got %v, %d Jobs and %s", got, len(w.jobs()), w.status().Phase)
	}
	w.mustPass()
	if len(w.writes()) != 0 {
		t.Errorf("got %v", w.writes())
	}
}
