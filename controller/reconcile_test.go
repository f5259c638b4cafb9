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

	"example.com/backupjob-operator/api/agent"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// fresh is a nightly BackupJob that nobody has seen yet.
func fresh(t *testing.T, change ...func(*backupv1.BackupJob)) *backupv1.BackupJob {
	t.Helper()
	return nightly(t, append([]func(*backupv1.BackupJob){func(b *backupv1.BackupJob) { b.Status = backupv1.BackupStatus{} }}, change...)...)
}

// lived is a world in which the object was seen at noon and it is two in the
// night.
func lived(t *testing.T, change ...func(*backupv1.BackupJob)) *world {
	t.Helper()
	w := newWorld(t, "2027-03-10 12:00:00", fresh(t, change...))
	w.mustPass()
	w.set("2027-03-11 02:00:00")
	return w
}

func TestALifeFromCreationToTheSecondRun(t *testing.T) {
	for kind, b := range map[string]backupv1.Backup{"BackupJob": fresh(t), "MySQLBackup": mysqlBackup()} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, "2027-03-10 12:00:00", b)
			if got := w.mustPass(); got.RequeueAfter != 14*time.Hour {
				t.Errorf("got %v, want a pass at two in the night", got)
			}
			s := w.status()
			if len(w.jobs()) != 0 || s.Phase != backupv1.PhaseScheduled || !s.NextScheduleTime.Equal(atPtr(t, "2027-03-11 02:00:00")) {
				t.Errorf("got %+v, want it to wait", s)
			}
			if len(s.Conditions) != 3 || len(w.events) != 0 {
				t.Errorf("got %v and %v, want three conditions and no event", s.Conditions, w.events)
			}
			w.mustPass()
			if len(w.writes()) != 0 {
				t.Errorf("got %v, want nothing written when nothing changes", w.writes())
			}

			w.set("2027-03-11 02:00:00")
			w.mustPass()
			job := w.only()
			if diff := cmp.Diff([]string{"create Job", "patch status " + kind}, w.writes()); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			s = w.status()
			if s.Phase != backupv1.PhaseRunning || !slices.Equal(s.Active, []string{job.Name}) || !s.LastScheduleTime.Equal(atPtr(t, "2027-03-11 02:00:00")) {
				t.Errorf("got %+v, want it to run", s)
			}
			w.mustPass()
			if len(w.writes()) != 0 {
				t.Errorf("got %v, want nothing written while it runs", w.writes())
			}

			w.set("2027-03-11 02:07:00")
			began := at(t, "2027-03-11 02:00:03")
			w.finish(job, batchv1.JobComplete, encoded(agent.Result{
				Location: "shop/x/1.sql.zst", SizeBytes: 7, SHA256: strings.Repeat("a", 64), StartTime: &began, Pruned: 2,
			}))
			w.mustPass()
			s = w.status()
			want := &backupv1.LastBackup{
				JobName: job.Name, Location: "shop/x/1.sql.zst", SizeBytes: new(int64(7)), SHA256: strings.Repeat("a", 64),
				StartTime: second(began), CompletionTime: atPtr(t, "2027-03-11 02:07:00"),
			}
			if diff := cmp.Diff(want, s.LastBackup); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if s.Phase != backupv1.PhaseScheduled || s.LastResult != backupv1.ResultSucceeded || len(s.Active) != 0 || !s.LastSuccessfulTime.Equal(s.LastBackupTime) {
				t.Errorf("got %+v, want a success", s)
			}
			if got := w.condition(backupv1.ConditionPruned); got != "True Pruned: Old backups removed: 2" {
				t.Errorf("got %q", got)
			}
			w.set("2027-03-12 02:00:00")
			w.mustPass()
			if len(w.jobs()) != 2 {
				t.Errorf("got %d Jobs, want the next run", len(w.jobs()))
			}
			wantEvents := []string{"Normal RunStarted", "Normal RunSucceeded", "Normal RunStarted"}
			if diff := cmp.Diff(wantEvents, reasons(w.events)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			// What relates to the same Job may be merged by the recorder.
			second := jobName(w.object(), run{at: at(t, "2027-03-12 02:00:00")})
			if diff := cmp.Diff([]string{job.Name, job.Name, second}, w.related); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// reasons are events without their notes.
func reasons(events []string) []string {
	var list []string
	for _, e := range events {
		list = append(list, strings.SplitN(e, ":", 2)[0])
	}
	return list
}

func TestTheOutcomeIsInTheAgentsWords(t *testing.T) {
	cases := map[string]struct {
		how     batchv1.JobConditionType
		message string
		want    string
		pruned  string
	}{
		"a backup": {
			batchv1.JobComplete, encoded(agent.Result{Location: "shop/nightly/1.sql"}),
			"True RunSucceeded: Job JOB stored shop/nightly/1.sql", "True Pruned: Old backups removed: 0",
		},
		"a backup whose pruning failed": {
			batchv1.JobComplete, encoded(agent.Result{Location: "a", PruneError: "2 of 3: read-only file system"}),
			"True RunSucceeded: Job JOB stored a", "False PruneFailed: Old backups could not be removed: 2 of 3: read-only file system",
		},
		"a success without a report": {
			batchv1.JobComplete, "", "True RunSucceeded: Job JOB stored a backup",
			"Unknown ResultUnknown: The run's Pod was gone before its report was read",
		},
		"a report that the status cannot hold": {
			batchv1.JobComplete, encoded(agent.Result{Location: strings.Repeat("x", 2000), SizeBytes: -5, SHA256: strings.Repeat("b", 99)}),
			"True RunSucceeded: Job JOB stored a backup", "True Pruned: Old backups removed: 0",
		},
		"a failure": {
			batchv1.JobFailed, encoded(agent.Result{Error: "Access denied for user 'backup'"}),
			"False RunFailed: Job JOB failed: Access denied for user 'backup'", "Unknown NoRunYet: No run has ended yet",
		},
		"a failure that left only a log": {
			batchv1.JobFailed, "starting\nexec format error\n",
			"False RunFailed: Job JOB failed: exec format error", "Unknown NoRunYet: No run has ended yet",
		},
		"a failure without a word": {
			batchv1.JobFailed, "", "False RunFailed: Job JOB failed: exit code 1", "Unknown NoRunYet: No run has ended yet",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := lived(t)
			w.mustPass()
			job := w.only()
			w.finish(job, tc.how, tc.message)
			w.mustPass()
			if got := strings.ReplaceAll(w.condition(backupv1.ConditionBackupSucceeded), job.Name, "JOB"); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if got := w.condition(backupv1.ConditionPruned); got != tc.pruned {
				t.Errorf("got  %q\nwant %q", got, tc.pruned)
			}
			w.mustPass()
			if len(w.writes()) != 0 {
				t.Errorf("got %v, want the outcome written once", w.writes())
			}
		})
	}
}

func TestAnEndWithoutAPodIsReadFromTheJob(t *testing.T) {
	cases := map[string]struct{ reason, want string }{
		"the deadline": {"DeadlineExceeded", "False DeadlineExceeded: Job JOB took longer than 21600 seconds, spec.activeDeadlineSeconds"},
		"something":    {"BackoffLimitExceeded", "False RunFailed: Job JOB failed, and its Pod is gone: BackoffLimitExceeded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := lived(t)
			w.mustPass()
			job := w.only()
			w.end(job, batchv1.JobFailed, tc.reason)
			w.mustPass()
			if got := strings.ReplaceAll(w.condition(backupv1.ConditionBackupSucceeded), job.Name, "JOB"); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// The Pod's end may reach the cache after the Job's.
func TestAReportThatTheCacheLacksIsReadFromTheServer(t *testing.T) {
	w := lived(t)
	w.mustPass()
	job := w.only()
	w.finish(job, batchv1.JobComplete, encoded(agent.Result{Location: "there"}))
	w.sync()
	w.cache.pods.Items, w.lagging = nil, true
	w.mustPass()
	if got := w.status().LastBackup.Location; got != "there" {
		t.Errorf("got %q", got)
	}
}

func TestTroubleIsShownWithWhatToDoAndGoesByItself(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: mainContainer, Image: "mysql:8.4.6", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	unscheduled := func(message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
		}}}
	}
	cases := map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"the Secret is missing": {
			waiting("CreateContainerConfigError", `secret "nightly-credentials" not found`),
			`SecretNotFound: The run waits: the Secret "nightly-credentials" is missing. Next: kubectl -n shop create secret generic nightly-credentials --from-literal=username=USER --from-literal=password=PASSWORD`,
		},
		"the Secret lacks a key": {
			waiting("CreateContainerConfigError", `couldn't find key username in Secret shop/nightly-credentials`),
			`SecretKeyNotFound: The run waits: the Secret "nightly-credentials" has no key "username". Next: kubectl -n shop patch secret nightly-credentials -p '{"stringData":{"username":"VALUE"}}'`,
		},
		"the claim is missing": {
			unscheduled(`persistentvolumeclaim "nightly-backups" not found. preemption: not helpful`),
			`ClaimNotFound: The run waits: the PersistentVolumeClaim "nightly-backups" is missing. Next: echo '{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"nightly-backups"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"10Gi"}}}}' | kubectl -n shop create -f -`,
		},
		"no node": {
			unscheduled("0/3 nodes are available: 3 Insufficient memory."),
			`Unschedulable: The run waits: no node takes its Pod: 0/3 nodes are available: 3 Insufficient memory. Next: kubectl -n shop describe pod POD`,
		},
		"an image that cannot be pulled": {
			waiting("ImagePullBackOff", "Back-off pulling image"),
			`ImagePullFailed: The run waits: the image "mysql:8.4.6" cannot be pulled (kubectl -n shop describe pod POD says why); put it there, or correct spec.podTemplate and end this run. Next: kubectl -n shop delete job JOB`,
		},
		"a container that cannot start": {
			waiting("CreateContainerError", "failed to prepare subPath"),
			`ContainerNotStarted: The run waits: the node cannot start the run's container: failed to prepare subPath. Next: kubectl -n shop describe pod POD`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := lived(t)
			w.mustPass()
			job := w.only()
			pod := w.pod(job, tc.status)
			w.mustPass()
			got := strings.NewReplacer(pod.Name, "POD", job.Name, "JOB").Replace(w.condition(backupv1.ConditionBackupSucceeded))
			if want := "False " + tc.want; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			w.mustPass()
			if len(w.writes()) != 0 || len(w.events) != 2 {
				t.Errorf("got %v and %v, want it told once", w.writes(), w.events)
			}
			pod.Status = corev1.PodStatus{Phase: corev1.PodRunning}
			w.must(w.api.Status().Update(t.Context(), pod))
			w.mustPass()
			if got := w.condition(backupv1.ConditionBackupSucceeded); got != "Unknown Running: A run goes on" {
				t.Errorf("got %q once it is mended", got)
			}
		})
	}
}

// An image's words change with every try to pull it; ours do not.
func TestAPullThatIsTriedAgainWritesNothing(t *testing.T) {
	w := lived(t)
	w.mustPass()
	pod := w.pod(w.only(), corev1.PodStatus{Phase: corev1.PodPending})
	for i, reason := range []string{"ErrImagePull", "ImagePullBackOff", "ErrImagePull", "ImagePullBackOff"} {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: mainContainer, Image: "x", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: strings.Repeat("again ", i)},
		}}}
		w.must(w.api.Status().Update(t.Context(), pod))
		w.mustPass()
		if i > 0 && len(w.writes()) != 0 {
			t.Errorf("got %v", w.writes())
		}
	}
}

func TestAJobWithoutAPodIsTroubleAfterAWhile(t *testing.T) {
	w := lived(t)
	w.mustPass()
	job := w.only()
	job.Status.StartTime = atPtr(t, "2027-03-11 02:00:00")
	w.must(w.api.Status().Update(t.Context(), job))
	if got := w.mustPass(); got.RequeueAfter != podPatience {
		t.Errorf("got %v, want another look", got)
	}
	w.set("2027-03-11 02:00:30")
	w.mustPass()
	want := "False PodNotCreated: The run waits: its Job has no Pod. Next: kubectl -n shop describe job " + job.Name
	if got := w.condition(backupv1.ConditionBackupSucceeded); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The words are those of the API server, the Job controller's in front.
func TestAJobThatCanCreateNoPodSaysWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct{ event, want, next string }{
		"a ServiceAccount": {
			`Error creating: pods "nightly-x-4kd2p" is forbidden: error looking up service account shop/backup: serviceaccount "backup" not found`,
			`the ServiceAccount "backup" is missing`, "kubectl -n shop create serviceaccount backup",
		},
		"a PriorityClass": {
			`Error creating: pods "nightly-x-4kd2p" is forbidden: no PriorityClass with name high was found`,
			`the PriorityClass "high" is missing; create it, or correct spec.podTemplate and end this run`, "kubectl -n shop delete job JOB",
		},
		"room in a quota": {
			`Error creating: pods "nightly-x-4kd2p" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`,
			`exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`, "kubectl -n shop describe resourcequota",
		},
		"a policy's consent": {
			`Error creating: admission webhook "no.example.com" denied the request: no`,
			`admission webhook "no.example.com" denied the request: no`, "kubectl -n shop describe job JOB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := lived(t)
			w.mustPass()
			job := w.only()
			job.Status.StartTime = atPtr(t, "2027-03-11 02:00:00")
			w.must(w.api.Status().Update(t.Context(), job))
			w.clock.SetTime(w.clock.Now().Add(podPatience))
			tell := func(name, reason, message string, ago time.Duration) {
				w.must(w.api.Create(t.Context(), &corev1.Event{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, InvolvedObject: corev1.ObjectReference{UID: job.UID},
					Reason: reason, Message: message, LastTimestamp: metav1.NewTime(w.clock.Now().Add(-ago)),
				}))
			}
			tell("older", "FailedCreate", "Error creating: something else", 2*time.Second)
			tell("newer", "FailedCreate", tc.event, time.Second)
			tell("other", "SuccessfulCreate", "Created pod", 0)
			if got := w.mustPass(); got.RequeueAfter != podRetry {
				t.Errorf("got %v, want another look", got)
			}
			got := strings.ReplaceAll(w.condition(backupv1.ConditionBackupSucceeded), job.Name, "JOB")
			if want := "False PodNotCreated: The run waits: its Job can create no Pod: " + tc.want + ". Next: " + tc.next; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			tell("again", "FailedCreate", strings.ReplaceAll(tc.event, "4kd2p", "zzzzz"), 0)
			w.mustPass()
			if len(w.writes()) != 0 {
				t.Errorf("got %v, want it told once", w.writes())
			}
		})
	}
}

func TestAnAttemptThatFailedIsTold(t *testing.T) {
	w := lived(t, func(b *backupv1.BackupJob) { b.Spec.MaxRetries = new(int32(2)) })
	w.mustPass()
	job := w.only()
	attempt := func(message, finished string) {
		w.pod(job, corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: mainContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 1, Message: encoded(agent.Result{Error: message}), FinishedAt: *atPtr(t, finished),
			}},
		}}})
		w.mustPass()
	}
	attempt("Access denied", "2027-03-11 02:00:05")
	if got, want := w.condition(backupv1.ConditionBackupSucceeded), "False AttemptFailed: Of the run's 3 attempts 1 failed, the last one with: Access denied"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	w.mustPass()
	if len(w.writes()) != 0 {
		t.Errorf("got %v, want it told once", w.writes())
	}
	attempt("Unknown host", "2027-03-11 02:00:25")
	told := w.condition(backupv1.ConditionBackupSucceeded)
	if want := "False AttemptFailed: Of the run's 3 attempts 2 failed, the last one with: Unknown host"; told != want {
		t.Errorf("got  %q\nwant %q", told, want)
	}
	attempt("Unknown host", "2027-03-11 02:01:05")
	if got := w.condition(backupv1.ConditionBackupSucceeded); !strings.HasPrefix(got, "False AttemptFailed") && !strings.HasPrefix(got, "Unknown Running") {
		t.Errorf("got %q, want no verdict before the Job's", got)
	}
	w.end(job, batchv1.JobFailed, "BackoffLimitExceeded")
	w.mustPass()
	if got := w.condition(backupv1.ConditionBackupSucceeded); !strings.HasPrefix(got, "False RunFailed") || !strings.HasSuffix(got, "Unknown host") {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff([]string{"Normal RunStarted", "Warning AttemptFailed", "Warning RunFailed"}, reasons(w.events)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestTheDeadlineTellsWhatTheRunWaitedFor(t *testing.T) {
	w := lived(t)
	w.mustPass()
	job := w.only()
	pod := w.pod(job, corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: `secret "x" not found`}},
	}}})
	w.mustPass()
	w.must(w.api.Delete(t.Context(), pod))
	w.end(job, batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)
	w.mustPass()
	if got := w.condition(backupv1.ConditionBackupSucceeded); !strings.Contains(got, "took longer") || !strings.Contains(got, `the Secret "x" is missing`) {
		t.Errorf("got %q", got)
	}
}

func TestPermanentTroubleIsAConditionAndNotRetried(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	terminating := apierrors.NewForbidden(jobs, "x", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	cases := map[string]struct {
		err  error
		want string
	}{
		"a quota":                 {apierrors.NewForbidden(jobs, "x", errors.New("exceeded quota: jobs")), "RunForbidden"},
		"an invalid Job":          {apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), "x", nil), "RunInvalid"},
		"a policy":                {apierrors.NewBadRequest("admission webhook denied the request"), "RunInvalid"},
		"a terminating namespace": {terminating, "NamespaceTerminating"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := lived(t)
			w.refuse = func(call string, _ client.Object) error {
				if call == "create Job" {
					return tc.err
				}
				return nil
			}
			result := w.mustPass()
			if result.RequeueAfter != 24*time.Hour {
				t.Errorf("got %v, want the next try at the next run", result)
			}
			s := w.status()
			if s.Phase != backupv1.PhaseFailed || s.LastScheduleTime != nil || !strings.Contains(w.condition(backupv1.ConditionReady), "False "+tc.want) {
				t.Errorf("got %s and %+v", w.condition(backupv1.ConditionReady), s)
			}
			w.mustPass()
			told := 1
			if tc.want == backupv1.ReasonNamespaceTerminating {
				told = 0 // such a namespace takes no events
			}
			if writes := w.writes(); len(writes) != 0 || len(w.events) != told {
				t.Errorf("got %v and %v, want it not tried again and told %d times", writes, w.events, told)
			}

			w.set("2027-03-11 12:00:00")
			w.mustPass()
			if got := w.condition(backupv1.ConditionReady); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want the last try to stay visible", got)
			}
			w.refuse = nil
			w.set("2027-03-12 02:00:00")
			w.mustPass()
			if got := w.condition(backupv1.ConditionReady); got != "True Scheduled: Runs start by the schedule" || len(w.jobs()) != 1 {
				t.Errorf("got %q and %d Jobs, want it healed", got, len(w.jobs()))
			}
		})
	}
}

// What is refused for good is tried once per scheduled time, request and edit,
// however often the object, its Jobs or a restart make a pass.
func TestWhatIsRefusedIsTriedAgainOnlyWhenSomethingIsNew(t *testing.T) {
	quota := apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, "x", errors.New("exceeded quota: jobs"))
	edit := func(now, key string, change func(*backupv1.BackupPolicy)) func(*world) {
		return func(w *world) {
			w.set(now)
			w.edit(func(b backupv1.Backup) {
				if key != "" {
					b.SetAnnotations(map[string]string{backupv1.AnnotationRunRequestedAt: key})
				}
				change(b.Policy())
			})
			if key != "" { // an annotation is no edit of the spec
				b := w.object()
				b.SetGeneration(b.GetGeneration() - 1)
				w.must(w.api.Update(w.t.Context(), b))
			}
		}
	}
	nothing := func(*backupv1.BackupPolicy) {}
	later := func(now string) func(*world) { return func(w *world) { w.set(now) } }
	for name, tc := range map[string]struct {
		change []func(*backupv1.BackupJob)
		steps  []func(*world)
		tries  []int // after each step
	}{
		"a scheduled run": {
			steps: []func(*world){later("2027-03-11 02:00:01"), later("2027-03-11 02:40:00"), later("2027-03-12 02:00:00")},
			tries: []int{1, 1, 2},
		},
		"an edit inside the deadline": {
			steps: []func(*world){
				later("2027-03-11 02:00:01"),
				edit("2027-03-11 02:20:00", "", func(p *backupv1.BackupPolicy) { p.MaxRetries = new(int32(1)) }),
				later("2027-03-11 02:30:00"),
			},
			tries: []int{1, 2, 2},
		},
		"requests under Forbid": {
			steps: []func(*world){edit("2027-03-11 01:00:00", "a", nothing), later("2027-03-11 01:10:00"), edit("2027-03-11 01:20:00", "b", nothing)},
			tries: []int{1, 1, 2},
		},
		"a request and the schedule, under Forbid": {
			steps: []func(*world){edit("2027-03-11 02:00:00", "a", nothing), later("2027-03-11 02:10:00"), later("2027-03-12 02:00:00")},
			tries: []int{2, 2, 4}, // the next time tries both
		},
		"a request and the schedule, under Allow": {
			change: []func(*backupv1.BackupJob){policy(backupv1.ConcurrencyAllow)},
			steps:  []func(*world){edit("2027-03-11 02:00:00", "a", nothing), later("2027-03-11 02:10:00"), later("2027-03-12 02:00:00")},
			tries:  []int{2, 2, 3},
		},
		"a request under Replace does not hold the schedule up": {
			change: []func(*backupv1.BackupJob){policy(backupv1.ConcurrencyReplace)},
			steps:  []func(*world){edit("2027-03-11 01:00:00", "a", nothing), later("2027-03-11 02:00:00"), later("2027-03-11 02:00:30")},
			tries:  []int{1, 3, 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "2027-03-10 12:00:00", fresh(t, tc.change...))
			w.mustPass()
			tries := 0
			w.refuse = func(call string, _ client.Object) error {
				if call != "create Job" {
					return nil
				}
				tries++
				return quota
			}
			for i, step := range tc.steps {
				step(w)
				for range 3 {
					w.mustPass()
				}
				w.restart()
				w.mustPass()
				if tries != tc.tries[i] {
					t.Errorf("step %d: got %d tries, want %d: %s", i, tries, tc.tries[i], w.condition(backupv1.ConditionReady))
				}
			}
			w.refuse = nil
			w.edit(func(backupv1.Backup) {})
			w.mustPass()
			if len(w.created) == 0 || !strings.HasPrefix(w.condition(backupv1.ConditionReady), "True") {
				t.Errorf("got %v and %s, want an edit to heal it", w.created, w.condition(backupv1.ConditionReady))
			}
		})
	}
}

func TestARefusalIsForgottenWhenTheSpecChanges(t *testing.T) {
	w := lived(t)
	w.refuse = func(call string, _ client.Object) error {
		if call == "create Job" {
			return apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), "x", nil)
		}
		return nil
	}
	w.mustPass()
	w.set("2027-03-11 12:00:00")
	w.edit(func(b backupv1.Backup) { b.Policy().PodTemplate = &backupv1.PodTemplate{Image: new("mysql:9")} })
	w.mustPass()
	if got := w.condition(backupv1.ConditionReady); !strings.HasPrefix(got, "True Scheduled") {
		t.Errorf("got %q", got)
	}
}

func TestTemporaryTroubleIsAnErrorAndRetried(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	for name, failure := range map[string]error{
		"a time-out":         apierrors.NewTimeoutError("slow", 1),
		"too many requests":  apierrors.NewTooManyRequests("busy", 1),
		"an internal error":  apierrors.NewInternalError(errors.New("etcd")),
		"unavailable":        apierrors.NewServiceUnavailable("restart"),
		"not logged in":      apierrors.NewUnauthorized("token"),
		"a broken line":      errors.New("connection refused"),
		"a server's timeout": apierrors.NewServerTimeout(jobs, "create", 1),
	} {
		t.Run(name, func(t *testing.T) {
			w := lived(t)
			before := w.status()
			w.broken[1] = broken{err: failure}
			if _, err := w.pass(); !errors.Is(err, failure) {
				t.Errorf("got %v, want the error", err)
			}
			if diff := cmp.Diff(before, w.status()); diff != "" || len(w.events) != 0 {
				t.Errorf("the status or events changed: %v\n%s", w.events, diff)
			}
			delete(w.broken, 1)
			w.mustPass()
			if len(w.jobs()) != 1 {
				t.Errorf("got %d Jobs, want one after the retry", len(w.jobs()))
			}
		})
	}
}

func TestAConflictIsRetriedQuietly(t *testing.T) {
	w := lived(t)
	conflict := apierrors.NewConflict(backupv1.GroupVersion.WithResource("backupjobs").GroupResource(), "nightly", errors.New("changed"))
	w.broken[2] = broken{err: conflict}
	if got := w.mustPass(); got.RequeueAfter != quietRetry {
		t.Errorf("got %v", got)
	}
	delete(w.broken, 2)
	w.mustPass()
	if s := w.status(); len(w.jobs()) != 1 || len(s.Active) != 1 || len(w.events) != 1 {
		t.Errorf("got %+v, want one run, told once: %v", s, w.events)
	}
}

func TestAStrangersJobUnderOurNameIsACondition(t *testing.T) {
	w := lived(t)
	stranger := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: jobName(w.object(), run{at: at(t, "2027-03-11 02:00:00")}), Labels: map[string]string{backupv1.LabelUID: string(w.object().GetUID())},
	}}
	w.must(w.api.Create(t.Context(), stranger))
	w.mustPass()
	s := w.status()
	if got := w.condition(backupv1.ConditionReady); !strings.HasPrefix(got, "False NameTaken") || !strings.Contains(got, "kubectl -n shop delete job "+stranger.Name) {
		t.Errorf("got %q", got)
	}
	if s.LastScheduleTime != nil || len(s.Active) != 0 {
		t.Errorf("got %+v, want the stranger's Job not to count", s)
	}
	w.must(w.api.Delete(t.Context(), stranger))
	w.edit(func(backupv1.Backup) {})
	w.mustPass()
	if !strings.HasPrefix(w.condition(backupv1.ConditionReady), "True") || len(w.status().Active) != 1 {
		t.Errorf("got %q, want it healed", w.condition(backupv1.ConditionReady))
	}
}

func TestOurJobUnderThatNameIsThatRun(t *testing.T) {
	w := lived(t)
	job, err := testOptions.runJob(w.object(), run{at: at(t, "2027-03-11 02:00:00")})
	w.must(err)
	w.sync()
	w.lagging = true
	job.UID = "made-by-another-replica"
	w.must(w.api.Create(t.Context(), job))
	w.mustPass()
	if s := w.status(); len(w.jobs()) != 1 || !slices.Equal(s.Active, []string{job.Name}) || !s.LastScheduleTime.Equal(atPtr(t, "2027-03-11 02:00:00")) {
		t.Errorf("got %+v", s)
	}
}

func TestForbidSkipsAndTellsOnce(t *testing.T) {
	w := lived(t)
	w.mustPass()
	w.set("2027-03-12 02:00:00")
	w.mustPass()
	w.mustPass()
	if s := w.status(); len(w.jobs()) != 1 || !s.LastSkippedTime.Equal(atPtr(t, "2027-03-12 02:00:00")) {
		t.Errorf("got %+v", s)
	}
	want := []string{"Normal RunStarted", "Warning RunSkipped"}
	if diff := cmp.Diff(want, reasons(w.events)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestReplaceWaitsForThePodsToBeGone(t *testing.T) {
	w := lived(t, policy(backupv1.ConcurrencyReplace))
	w.mustPass()
	old := w.only().Name
	w.set("2027-03-12 02:00:00")
	w.mustPass()
	w.mustPass()
	if len(w.jobs()) != 1 || w.only().DeletionTimestamp == nil {
		t.Fatal("the old Job does not go, or the new one does not wait")
	}
	w.collect()
	w.set("2027-03-12 02:00:20")
	w.mustPass()
	if s := w.status(); w.only().Name == old || !s.LastScheduleTime.Equal(atPtr(t, "2027-03-12 02:00:00")) || s.Phase != backupv1.PhaseRunning {
		t.Errorf("got %+v", s)
	}
	if got := w.condition(backupv1.ConditionBackupSucceeded); got != "Unknown Running: A run goes on" {
		t.Errorf("got %q", got)
	}
	if n := strings.Count(strings.Join(w.events, "\n"), "RunReplaced"); n != 1 {
		t.Errorf("got %v, want the replacement told once", w.events)
	}
}

// The Pods of the old run take so long to end that the next one is too late.
func TestARunThatWasEndedForTheNextOneIsNotCalledDeletedByHand(t *testing.T) {
	w := lived(t, policy(backupv1.ConcurrencyReplace))
	w.mustPass()
	old := w.only().Name
	for _, now := range []string{"2027-03-12 02:00:00", "2027-03-12 02:30:00", "2027-03-12 03:00:01", "2027-03-12 03:00:02"} {
		w.set(now)
		w.mustPass()
	}
	w.collect()
	w.mustPass()
	want := "Unknown RunReplaced: Job " + old + " was ended for the next run"
	if got := w.condition(backupv1.ConditionBackupSucceeded); got != want || len(w.jobs()) != 0 {
		t.Errorf("got %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"Normal RunStarted", "Normal RunReplaced", "Warning RunMissed"}, reasons(w.events)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestAJobDeletedByHandIsNotRunAgain(t *testing.T) {
	w := lived(t)
	w.mustPass()
	w.must(w.api.Delete(t.Context(), w.only()))
	w.mustPass()
	if got := w.condition(backupv1.ConditionBackupSucceeded); !strings.HasPrefix(got, "Unknown JobDeleted") {
		t.Errorf("got %q", got)
	}
	if s := w.status(); len(w.jobs()) != 0 || len(s.Active) != 0 || s.LastResult != "" || s.Phase != backupv1.PhaseScheduled {
		t.Errorf("got %+v", s)
	}
	w.mustPass()
	if len(w.writes()) != 0 {
		t.Errorf("got %v", w.writes())
	}
}

func TestAJobDeletedByHandIsToldAlsoIfAnotherRunStartsAtOnce(t *testing.T) {
	w := lived(t)
	w.mustPass()
	old := w.only().Name
	w.edit(func(b backupv1.Backup) { b.SetAnnotations(map[string]string{backupv1.AnnotationRunRequestedAt: "now"}) })
	w.mustPass()
	w.must(w.api.Delete(t.Context(), w.only()))
	w.mustPass()
	w.mustPass()
	if diff := cmp.Diff([]string{"Normal RunStarted", "Normal RunStarted", "Warning JobDeleted"}, reasons(w.events)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if w.related[2] != old {
		t.Errorf("got an event related to %q, want %q", w.related[2], old)
	}
}

// Events that relate to the same Job are merged, and all but the first time
// would be lost.
func TestTimesThatAreLeftOutAreToldOneByOne(t *testing.T) {
	w := lived(t)
	w.mustPass()
	for _, now := range []string{"2027-03-12 02:00:00", "2027-03-13 02:00:00"} {
		w.set(now)
		w.mustPass()
	}
	for i, when := range []string{"2027-03-12 02:00:00", "2027-03-13 02:00:00"} {
		if got, want := w.related[i+1], jobName(w.object(), run{at: at(t, when)}); got != want || !strings.Contains(w.events[i+1], stamp(at(t, when))) {
			t.Errorf("got %q related to %q, want it about %s, %s", w.events[i+1], got, when, want)
		}
	}
}

func TestHistoryGoesAfterItsOutcomeIsTold(t *testing.T) {
	w := lived(t, func(b *backupv1.BackupJob) { b.Spec.SuccessfulJobsHistoryLimit = new(int32(0)) })
	w.mustPass()
	w.finish(w.only(), batchv1.JobComplete, encoded(agent.Result{Location: "there"}))
	w.clock.SetTime(w.clock.Now().Add(historyGrace))
	w.broken[1] = broken{err: errCrash}
	if _, err := w.pass(); err == nil || len(w.jobs()) != 1 {
		t.Fatalf("got %v and %d Jobs, want the Job to stay while its outcome is not written", err, len(w.jobs()))
	}
	delete(w.broken, 1)
	w.mustPass()
	if s := w.status(); len(w.jobs()) != 0 || s.LastBackup.Location != "there" {
		t.Errorf("got %+v and %d Jobs", s, len(w.jobs()))
	}
	w.mustPass()
	if len(w.writes()) != 0 || strings.HasPrefix(w.condition(backupv1.ConditionBackupSucceeded), "Unknown") {
		t.Errorf("got %v and %s", w.writes(), w.condition(backupv1.ConditionBackupSucceeded))
	}
}

// A leader is frozen right before it creates a Job. Meanwhile the next one
// creates it, sees it to its end and keeps no history.
func TestALeaderThatWasFrozenRepeatsNoRun(t *testing.T) {
	w := lived(t, func(b *backupv1.BackupJob) { b.Spec.SuccessfulJobsHistoryLimit = new(int32(0)) })
	w.refuse = func(call string, _ client.Object) error {
		if call != "create Job" {
			return nil
		}
		w.refuse = nil
		w.restart()
		w.mustPass()
		w.clock.SetTime(w.clock.Now().Add(passTimeout / 2))
		w.finish(w.only(), batchv1.JobComplete, encoded(agent.Result{Location: "there"}))
		if got := w.mustPass(); got.RequeueAfter != historyGrace {
			t.Errorf("got %v, want a pass when the Job may go", got)
		}
		w.clock.SetTime(w.clock.Now().Add(passTimeout / 2)) // a pass lasts no longer
		return nil
	}
	_, _ = w.pass()
	w.settle()
	if len(w.created) != 1 || w.created[w.only().Name] != 1 {
		t.Errorf("got %v, want one run", w.created)
	}
	w.clock.SetTime(w.clock.Now().Add(historyGrace))
	w.settle()
	if s := w.status(); len(w.jobs()) != 0 || s.LastBackup.Location != "there" || len(w.created) != 1 {
		t.Errorf("got %d Jobs and %+v, want the history to go", len(w.jobs()), s)
	}
}

func TestABadScheduleIsAConditionAndHealsByAnEdit(t *testing.T) {
	w := newWorld(t, "2027-03-10 12:00:00", fresh(t, func(b *backupv1.BackupJob) { b.Spec.Schedule = "abc" }))
	if got := w.mustPass(); got.RequeueAfter != 0 {
		t.Errorf("got %v, want it to wait for an edit", got)
	}
	if s := w.status(); s.Phase != backupv1.PhaseFailed || s.NextScheduleTime != nil || !strings.HasPrefix(w.condition(backupv1.ConditionReady), "False InvalidSchedule: Cannot schedule backups: spec.schedule \"abc\" must") {
		t.Errorf("got %s and %+v", w.condition(backupv1.ConditionReady), s)
	}
	w.edit(func(b backupv1.Backup) { b.Policy().Schedule = "0 2 * * *" })
	w.mustPass()
	if s := w.status(); s.Phase != backupv1.PhaseScheduled || !s.NextScheduleTime.Equal(atPtr(t, "2027-03-11 02:00:00")) {
		t.Errorf("got %+v", s)
	}
}

func TestTimesFromTheFutureStopNothing(t *testing.T) {
	w := newWorld(t, "2027-03-10 12:00:00", nightly(t, func(b *backupv1.BackupJob) {
		then := atPtr(t, "2099-01-01 02:00:00")
		b.Status.LastScheduleTime, b.Status.LastSkippedTime, b.Status.ObservedSchedule.Since = then, then, then
		b.Status.LastBackupTime, b.Status.LastSuccessfulTime = then, then
	}))
	w.mustPass()
	if s := w.status(); s.LastScheduleTime != nil || s.LastSkippedTime != nil || !s.ObservedSchedule.Since.Equal(atPtr(t, "2027-03-10 12:00:00")) {
		t.Errorf("got %+v, want the schedule to count from now", s)
	}
	w.mustPass()
	if len(w.writes()) != 0 {
		t.Errorf("got %v, want it mended once", w.writes())
	}
	w.set("2027-03-11 02:00:00")
	w.mustPass()
	w.finish(w.only(), batchv1.JobComplete, "{}")
	w.mustPass()
	s, now := w.status(), atPtr(t, "2027-03-11 02:00:00")
	if s.LastResult != backupv1.ResultSucceeded || !s.LastScheduleTime.Equal(now) || !s.LastBackupTime.Equal(now) || !s.LastSuccessfulTime.Equal(now) {
		t.Errorf("got %+v, want the run and its end", s)
	}
}

func TestAClockThatIsSetBackAnHourRepeatsNoRun(t *testing.T) {
	w := lived(t)
	w.mustPass()
	w.finish(w.only(), batchv1.JobComplete, "{}")
	w.mustPass()
	for _, now := range []string{"2027-03-11 01:00:00", "2027-03-11 01:59:59", "2027-03-11 02:00:00", "2027-03-11 02:00:01"} {
		w.set(now)
		w.settle()
	}
	if s := w.status(); len(w.created) != 1 || !s.LastScheduleTime.Equal(atPtr(t, "2027-03-11 02:00:00")) {
		t.Errorf("got %v and %+v", w.created, s)
	}
}

func TestAStatusThatSomebodyOverwroteIsMendedByTheNextPass(t *testing.T) {
	w := lived(t)
	w.mustPass()
	want := summary(w)
	b := w.object()
	s := b.RunStatus()
	s.Phase, s.Active, s.NextScheduleTime, s.LastScheduleTime = backupv1.PhaseFailed, nil, nil, nil
	s.Conditions[0].Status, s.Conditions[0].Reason = metav1.ConditionFalse, backupv1.ReasonInvalidSchedule
	w.must(w.api.Status().Update(t.Context(), b))
	w.mustPass()
	if got := summary(w); got != want || len(w.created) != 1 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSuspendLeavesTheActiveRunAndShowsNoNextTime(t *testing.T) {
	w := lived(t)
	w.mustPass()
	job := w.only()
	w.edit(func(b backupv1.Backup) { b.Policy().Suspend = new(true) })
	w.mustPass()
	if s := w.status(); s.Phase != backupv1.PhaseRunning || s.NextScheduleTime != nil {
		t.Errorf("got %+v", s)
	}
	w.finish(job, batchv1.JobComplete, encoded(agent.Result{}))
	w.mustPass()
	if s := w.status(); s.Phase != backupv1.PhaseSuspended || s.LastResult != backupv1.ResultSucceeded {
		t.Errorf("got %+v", s)
	}
}

// Two runs that end in one second, the second seen later.
func TestRunsThatEndTogetherAreBothTold(t *testing.T) {
	w := lived(t, policy(backupv1.ConcurrencyAllow), ask("now"))
	w.mustPass()
	jobs := w.jobs()
	if len(jobs) != 2 {
		t.Fatalf("got %d Jobs, want the schedule's and the requested one", len(jobs))
	}
	w.finish(&jobs[0], batchv1.JobComplete, encoded(agent.Result{Location: "first"}))
	w.mustPass()
	w.finish(&jobs[1], batchv1.JobFailed, encoded(agent.Result{Error: "second"}))
	w.mustPass()
	s := w.status()
	if s.LastResult != backupv1.ResultFailed || s.LastBackup.Location != "first" || !s.LastSuccessfulTime.Equal(s.LastBackupTime) {
		t.Errorf("got %+v", s)
	}
	if s.LastHandledRunRequest != "now" {
		t.Errorf("got %q", s.LastHandledRunRequest)
	}
}

func TestAnObjectThatIsGoneIsForgotten(t *testing.T) {
	w := lived(t)
	w.mustPass()
	w.must(w.api.Delete(t.Context(), w.object()))
	if got := w.mustPass(); got.RequeueAfter != 0 || len(w.calls) != 0 {
		t.Errorf("got %v and %v", got, w.calls)
	}
}

// The cache shows neither the Job nor the status that were just written.
func TestACacheThatIsBehindRepeatsNothing(t *testing.T) {
	w := lived(t)
	w.sync()
	w.lagging = true
	w.mustPass()
	w.must(w.api.Delete(t.Context(), w.only()))
	if got := w.mustPass(); got.RequeueAfter != quietRetry || len(w.calls) != 0 {
		t.Errorf("got %v and %v, want it to wait for the cache", got, w.calls)
	}
	w.sync()
	w.mustPass()
	if len(w.jobs()) != 0 || len(w.created) != 1 {
		t.Errorf("got %v, want the Job that was deleted by hand not to run again", w.created)
	}
}

// A requested run is created, the status cannot be written, and the scheduled
// time comes before the cache shows the Job.
func TestAJobThatTheCacheLacksIsARunThatGoesOn(t *testing.T) {
	w := lived(t, ask("now"))
	w.set("2027-03-10 12:00:01")
	w.finish(w.only(), batchv1.JobComplete, "{}")
	w.mustPass()
	w.edit(func(b backupv1.Backup) {
		b.SetAnnotations(map[string]string{backupv1.AnnotationRunRequestedAt: "again"})
	})
	w.set("2027-03-11 01:59:59")
	w.sync()
	w.lagging = true
	w.broken[2] = broken{err: apierrors.NewTimeoutError("slow", 1)}
	if _, err := w.pass(); err == nil || len(w.created) != 2 {
		t.Fatalf("got %v and %v, want a Job and no status", err, w.created)
	}
	delete(w.broken, 2)
	w.set("2027-03-11 02:00:00")
	w.mustPass()
	if s := w.status(); len(w.created) != 2 || !s.LastSkippedTime.Equal(atPtr(t, "2027-03-11 02:00:00")) || s.LastHandledRunRequest != "again" {
		t.Errorf("got %v and %+v, want the time to be spent", w.created, s)
	}
}

// A new process whose cache lacks a Job that the status names.
func TestAJobThatTheCacheLacksIsNotLost(t *testing.T) {
	w := lived(t)
	w.mustPass()
	w.restart()
	w.cache.jobs.Items, w.lagging = nil, true
	w.mustPass()
	if len(w.writes()) != 0 || len(w.status().Active) != 1 {
		t.Errorf("got %v and %+v", w.writes(), w.status())
	}
}
