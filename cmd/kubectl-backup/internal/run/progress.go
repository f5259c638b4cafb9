// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/runs"
)

const (
	// startPatience is how long a controller may take before it is doubted.
	startPatience = 15 * time.Second
	// statusPatience is how long a status may lag behind the end of a Job. A
	// script that goes on after us should find it up to date.
	statusPatience = 10 * time.Second
)

// progress follows one requested run. It knows nothing but what it is shown.
type progress struct {
	name, request string
	since         time.Time
	// before is the end of the last run when this one was asked for, by the
	// server's clock: ours may be another one.
	before *metav1.Time

	job   string    // empty before it was seen
	ended time.Time // when the end was seen
	last  string    // what was said last
}

// next returns what is new, and whether the run is over. The error is how it
// failed.
func (p *progress) next(now time.Time, object backupv1.Backup, found []runs.Run) (lines []string, done bool, err error) {
	i := slices.IndexFunc(found, func(r runs.Run) bool { return r.Request == p.request })
	switch {
	case i >= 0:
		return p.watch(now, object, found[i])
	case object.GetDeletionTimestamp() != nil:
		return nil, true, fmt.Errorf("%s is being deleted: the run does not start any more", p.name)
	case p.job != "" || object.RunStatus().LastHandledRunRequest == p.request:
		return p.gone(object)
	}
	return p.say(p.waitingFor(now, object, found)), false, nil
}

// watch follows a run whose Job is there.
func (p *progress) watch(now time.Time, object backupv1.Backup, run runs.Run) (lines []string, done bool, err error) {
	if p.job == "" {
		p.job = run.Job
		lines = p.say(fmt.Sprintf("Job %s started", run.Job))
	}
	if !run.Ended() {
		if run.Message != "" {
			lines = append(lines, p.say(run.Message)...)
		}
		return lines, false, nil
	}
	if p.ended.IsZero() {
		p.ended = now
	}
	if !reported(object, run) && now.Before(p.ended.Add(statusPatience)) {
		return lines, false, nil
	}
	if run.Result == string(backupv1.ResultSucceeded) {
		line := fmt.Sprintf("%s succeeded in %s", p.name, duration.HumanDuration(run.Duration(now)))
		if run.Message != "" {
			line += ": " + run.Message
		}
		return append(lines, line), true, nil
	}
	return lines, true, fmt.Errorf("%s failed: %s", p.name, run.Message)
}

// reported says whether the status knows that the run has ended.
func reported(object backupv1.Backup, run runs.Run) bool {
	status := object.RunStatus()
	return !slices.Contains(status.Active, run.Job) && status.LastBackupTime != nil &&
		(run.EndTime == nil || !status.LastBackupTime.Before(run.EndTime))
}

// gone tells the end of a run whose Job is there no more: history limits of 0
// remove it as soon as the status has its outcome.
func (p *progress) gone(object backupv1.Backup) (lines []string, done bool, err error) {
	status := object.RunStatus()
	condition := meta.FindStatusCondition(status.Conditions, backupv1.ConditionBackupSucceeded)
	ours := status.LastBackupTime != nil && !status.LastBackupTime.Equal(p.before)
	switch {
	case ours && status.LastResult == backupv1.ResultSucceeded:
		return []string{p.name + " succeeded"}, true, nil
	case ours && status.LastResult == backupv1.ResultFailed && condition != nil:
		return nil, true, fmt.Errorf("%s failed: %s", p.name, condition.Message)
	}
	return nil, true, fmt.Errorf("the Job of the run is gone before its outcome was seen: see 'kubectl backup history %s'", p.name)
}

// waitingFor says what keeps the run from starting.
func (p *progress) waitingFor(now time.Time, object backupv1.Backup, found []runs.Run) string {
	ready := meta.FindStatusCondition(object.RunStatus().Conditions, backupv1.ConditionReady)
	if ready != nil && ready.Status == metav1.ConditionFalse {
		return ready.Message
	}
	if i := slices.IndexFunc(found, func(r runs.Run) bool { return !r.Ended() }); i >= 0 {
		return fmt.Sprintf("Waiting for Job %s to end first", found[i].Job)
	}
	if now.Before(p.since.Add(startPatience)) {
		return "Waiting for the run to start"
	}
	return "Waiting for the run to start: nobody has taken the request up yet. " +
		"Is the controller running? kubectl -n backupjob-system get deployment backupjob-controller"
}

// say returns a line unless it was the last one.
func (p *progress) say(line string) []string {
	if line == p.last {
		return nil
	}
	p.last = line
	return []string{line}
}
