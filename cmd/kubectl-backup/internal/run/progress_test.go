// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/runs"
)

var asked = time.Date(2027, 3, 28, 2, 0, 0, 0, time.UTC)

func after(seconds int) *metav1.Time {
	return &metav1.Time{Time: asked.Add(time.Duration(seconds) * time.Second)}
}

// sight is what one look shows.
type sight struct {
	seconds int
	status  backupv1.BackupStatus
	leaving bool
	runs    []runs.Run
}

func going(message string) runs.Run {
	return runs.Run{Job: "j", Request: "r", Result: runs.Running, StartTime: after(1), Message: message}
}

func over(result, message string) runs.Run {
	return runs.Run{Job: "j", Request: "r", Result: result, StartTime: after(1), EndTime: after(10), Message: message}
}

func ready(reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: backupv1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
}

func outcome(result backupv1.RunResult, seconds int, message string) backupv1.BackupStatus {
	return backupv1.BackupStatus{
		LastHandledRunRequest: "r", LastResult: result, LastBackupTime: after(seconds),
		Conditions: []metav1.Condition{{Type: backupv1.ConditionBackupSucceeded, Message: message}},
	}
}

func TestProgressTellsEachThingOnce(t *testing.T) {
	known := backupv1.BackupStatus{LastBackupTime: after(10)}
	busy := backupv1.BackupStatus{Active: []string{"j"}}
	cases := map[string]struct {
		sights []sight
		want   []string
		done   bool
		err    string
	}{
		"a run that succeeds": {
			sights: []sight{
				{seconds: 0}, {seconds: 1}, {seconds: 2, runs: []runs.Run{going("")}}, {seconds: 3, runs: []runs.Run{going("")}},
				{seconds: 11, status: known, runs: []runs.Run{over("Succeeded", "1 B in a")}},
			},
			want: []string{"Waiting for the run to start", "Job j started", "bj/a succeeded in 9s: 1 B in a"}, done: true,
		},
		"a run that fails": {
			sights: []sight{
				{seconds: 2, runs: []runs.Run{going("")}},
				{seconds: 3, runs: []runs.Run{going("attempt 1 of 2 failed: no space")}},
				{seconds: 4, runs: []runs.Run{going("attempt 1 of 2 failed: no space")}},
				{seconds: 11, status: known, runs: []runs.Run{over("Failed", "no space")}},
			},
			want: []string{"Job j started", "attempt 1 of 2 failed: no space"}, done: true, err: "bj/a failed: no space",
		},
		"a run that waits for what the user must mend": {
			sights: []sight{{runs: []runs.Run{going("The Secret is missing")}}, {runs: []runs.Run{going("")}}},
			want:   []string{"Job j started", "The Secret is missing"},
		},
		"an end that the status does not know yet": {
			sights: []sight{{seconds: 11, status: busy, runs: []runs.Run{over("Succeeded", "1 B in a")}}},
			want:   []string{"Job j started"},
		},
		"an end that the status never learns": {
			sights: []sight{
				{seconds: 11, status: busy, runs: []runs.Run{over("Succeeded", "1 B in a")}},
				{seconds: 22, status: busy, runs: []runs.Run{over("Succeeded", "1 B in a")}},
			},
			want: []string{"Job j started", "bj/a succeeded in 9s: 1 B in a"}, done: true,
		},
		"another run is active": {
			sights: []sight{{runs: []runs.Run{{Job: "other", Result: runs.Running}}}},
			want:   []string{"Waiting for Job other to end first"},
		},
		"an old run is over": {
			sights: []sight{{runs: []runs.Run{{Job: "other", Request: "old", Result: "Failed"}}}},
			want:   []string{"Waiting for the run to start"},
		},
		"no controller": {
			sights: []sight{{seconds: 0}, {seconds: 20}, {seconds: 40}},
			want: []string{"Waiting for the run to start", "Waiting for the run to start: nobody has taken the request up yet. " +
				"Is the controller running? kubectl -n backupjob-system get deployment backupjob-controller"},
		},
		"an object that cannot run": {
			sights: []sight{{status: backupv1.BackupStatus{Conditions: ready(backupv1.ReasonRunForbidden, "The quota is used up")}}},
			want:   []string{"The quota is used up"},
		},
		"an object that is being deleted": {
			sights: []sight{{leaving: true}}, done: true, err: "bj/a is being deleted",
		},
		"a Job that is gone at once after a success": {
			sights: []sight{{status: outcome(backupv1.ResultSucceeded, 10, "")}},
			want:   []string{"bj/a succeeded"}, done: true,
		},
		"a Job that is gone at once after a failure": {
			sights: []sight{{status: outcome(backupv1.ResultFailed, 10, "no space")}}, done: true, err: "bj/a failed: no space",
		},
		"a Job that somebody deleted": {
			sights: []sight{{runs: []runs.Run{going("")}}, {status: outcome(backupv1.ResultSucceeded, -60, "")}},
			want:   []string{"Job j started"}, done: true, err: "gone before its outcome was seen",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, done, err := follow(tc.sights)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if done != tc.done || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got done %v and error %v, want %v and %q", done, err, tc.done, tc.err)
			}
		})
	}
}

// follow shows the sights one after another.
func follow(sights []sight) (all []string, done bool, err error) {
	p := &progress{name: "bj/a", request: "r", since: asked, before: after(-60)}
	for _, s := range sights {
		object := &backupv1.BackupJob{Status: s.status}
		if s.leaving {
			object.DeletionTimestamp = after(0)
		}
		var lines []string
		lines, done, err = p.next(asked.Add(time.Duration(s.seconds)*time.Second), object, s.runs)
		all = append(all, lines...)
	}
	return all, done, err
}

func TestARequestIsNeverTheSameTwice(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		request := newRequest(asked)
		if !strings.HasPrefix(request, "2027-03-28T02:00:00Z-") || seen[request] || len(request) > 256 {
			t.Fatalf("got %q", request)
		}
		seen[request] = true
	}
}
