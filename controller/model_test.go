// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
)

var (
	modelSeed  = flag.Uint64("seed", 0, "seed of the first random life; 0 draws one")
	modelLives = flag.Int("lives", 20, "how many random lives")
)

// Random lives of an object: time, users, the Job controller, crashes at any
// call, a cache that lags and a clock that is a second off. Whatever happens,
// no run is started twice, none is missed inside its deadline, the status says
// what is, and nothing is written when nothing changes.
func TestRandomLives(t *testing.T) {
	seed := *modelSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	for i := range *modelLives {
		life := seed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", life), func(t *testing.T) {
			t.Parallel()
			live(t, rand.New(rand.NewPCG(life, life)))
		})
	}
}

type model struct {
	*world
	random   *rand.Rand
	requests int
	full     bool // a quota refuses Jobs
}

func live(t *testing.T, random *rand.Rand) {
	t.Helper()
	policies := []backupv1.ConcurrencyPolicy{backupv1.ConcurrencyForbid, backupv1.ConcurrencyAllow, backupv1.ConcurrencyReplace}
	w := newWorld(t, "2027-03-27 12:00:00", fresh(t, func(b *backupv1.BackupJob) {
		b.Spec.ConcurrencyPolicy = policies[random.IntN(len(policies))]
		b.Spec.SuccessfulJobsHistoryLimit, b.Spec.FailedJobsHistoryLimit = new(random.Int32N(3)), new(random.Int32N(3))
		b.Spec.StartingDeadlineSeconds = new(int64(10 + random.IntN(3000)))
	}))
	m := &model{world: w, random: random}
	steps := []func(){m.wait, m.wait, m.wait, m.meet, m.meet, m.end, m.end, m.collect, m.user, m.stale, m.stale, m.crash, m.quota, m.overtake}
	w.refuse = func(call string, o client.Object) error {
		if m.full && call == "create Job" {
			return apierrors.NewForbidden(batchv1.Resource("jobs"), o.GetName(), errors.New("exceeded quota: jobs"))
		}
		return nil
	}
	for range 100 {
		steps[random.IntN(len(steps))]()
		m.once()
		if random.IntN(3) == 0 {
			m.rest()
		}
		if t.Failed() {
			t.Fatalf("%s\n%+v", w.calls, *w.status())
		}
	}
}

// wait lets some time go by in which our process may be away.
func (m *model) wait() {
	m.clock.SetTime(m.clock.Now().Add(time.Duration(m.random.IntN(5400)) * time.Second))
}

// meet goes to a scheduled time, give or take a second.
func (m *model) meet() {
	if next := m.status().NextScheduleTime; next != nil && next.After(m.clock.Now()) {
		m.clock.SetTime(next.Add(time.Duration(m.random.IntN(3)-1) * time.Second))
	}
}

// end ends an active Job one way or another.
func (m *model) end() {
	for _, job := range m.jobs() {
		if len(job.Status.Conditions) > 0 || job.DeletionTimestamp != nil || m.random.IntN(2) == 0 {
			continue
		}
		switch m.random.IntN(5) {
		case 0:
			m.finish(&job, batchv1.JobFailed, encoded(agent.Result{Error: "no"}))
		case 1:
			m.world.end(&job, batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)
		case 2: // by hand, once the status knows it
			if slices.Contains(m.status().Active, job.Name) {
				m.must(m.api.Delete(m.t.Context(), &job))
			}
		default:
			m.finish(&job, batchv1.JobComplete, encoded(agent.Result{Location: job.Name}))
		}
	}
}

// user edits the object or deletes a finished Job.
func (m *model) user() {
	schedules := []string{"*/20 * * * *", "30 * * * *", "15 2 * * *", "0 */3 * * *", "abc"}
	zones := []*string{nil, new("Europe/Berlin"), new("Asia/Kathmandu")}
	m.edit(func(b backupv1.Backup) {
		switch p := b.Policy(); m.random.IntN(5) {
		case 0:
			p.Schedule = schedules[m.random.IntN(len(schedules))]
		case 1:
			p.TimeZone = zones[m.random.IntN(len(zones))]
		case 2:
			p.Suspend = new(!p.Suspended())
		default:
			m.requests++
			b.SetAnnotations(map[string]string{backupv1.AnnotationRunRequestedAt: strconv.Itoa(m.requests)})
		}
	})
}

// quota is set for a while, now and then.
func (m *model) quota() { m.full = !m.full && m.random.IntN(3) == 0 }

// overtake is somebody who writes the object between two calls of a pass.
func (m *model) overtake() {
	call, before := 1+m.random.IntN(4), m.refuse
	m.refuse = func(what string, o client.Object) error {
		if len(m.calls) == call {
			m.edit(func(b backupv1.Backup) { b.SetLabels(map[string]string{"overtaken": strconv.Itoa(m.random.Int())}) })
		}
		return before(what, o)
	}
	_, _ = m.pass()
	m.refuse = before
}

// refused is the Job that the status says is refused, empty if it says none.
func (m *model) refused(b backupv1.Backup) string {
	c := facts{now: m.clock.Now(), backup: b}.standingRefusal()
	if c == nil {
		return ""
	}
	return c.Message
}

// stale makes a pass on whatever the cache had before.
func (m *model) stale() {
	m.lagging = true
	_, _ = m.pass()
	m.lagging = false
}

// crash ends the process at some call; the next one may have another clock.
func (m *model) crash() {
	call := 1 + m.random.IntN(6)
	m.broken[call] = broken{err: errCrash, done: m.random.IntN(2) == 0}
	_, _ = m.pass()
	delete(m.broken, call)
	skew := time.Duration(m.random.IntN(3)-1) * time.Second
	m.clock.SetTime(m.now().Add(skew))
	m.skew = skew
	m.restart()
}

// rest compares what should happen with what does once nothing is in the way.
func (m *model) rest() {
	m.t.Helper()
	before, now := m.object(), m.clock.Now()
	want, skips := m.expected(before, now)
	m.settle()
	s := m.status()
	if want != "" && m.created[want] == 0 {
		m.t.Errorf("at %v Job %s was not started: %+v", now, want, s)
	}
	if skips != nil && (s.LastSkippedTime == nil || s.LastSkippedTime.Time.Before(*skips)) {
		m.t.Errorf("at %v the run of %v was not told as left out: %+v", now, skips, s)
	}
	m.checkStatus()
}

// expected says by counting what has to happen: the Job that starts, or the
// time that is left out.
func (m *model) expected(b backupv1.Backup, now time.Time) (start string, skip *time.Time) {
	p, s := b.Policy(), b.RunStatus()
	parsed, err := schedule.Parse(p.Schedule, p.Zone())
	o := s.ObservedSchedule
	if err != nil || p.Suspended() || o == nil || o.Schedule != p.Schedule || (o.TimeZone == nil) != (p.TimeZone == nil) || o.TimeZone != nil && *o.TimeZone != *p.TimeZone {
		return "", nil
	}
	due := parsed.Between(o.Since.Add(time.Second), now, 10000)
	due = slices.DeleteFunc(due, func(tick time.Time) bool {
		spent := s.LastScheduleTime != nil && !tick.After(s.LastScheduleTime.Time) || s.LastSkippedTime != nil && !tick.After(s.LastSkippedTime.Time)
		return spent || slices.ContainsFunc(m.jobs(), func(j batchv1.Job) bool { return j.Name == jobName(b, run{at: tick}) })
	})
	if len(due) == 0 {
		return "", nil
	}
	newest := due[len(due)-1]
	for _, j := range m.jobs() {
		if r := classify(b, &j).run; r.request == "" && r.at.After(newest) {
			return "", nil
		}
	}
	asked := b.GetAnnotations()[backupv1.AnnotationRunRequestedAt]
	busy := len(m.active()) > 0
	switch {
	case now.Sub(newest) > p.StartingDeadline(), busy && p.ConcurrencyPolicy == backupv1.ConcurrencyForbid:
		return "", &newest
	case p.ConcurrencyPolicy == backupv1.ConcurrencyReplace && (busy || asked != s.LastHandledRunRequest):
		return "", nil
	case m.full, strings.Contains(m.refused(b), jobName(b, run{at: newest})):
		return "", nil // until the next time or an edit
	}
	return jobName(b, run{at: newest}), nil
}

// active are the names of the Jobs that go on.
func (m *model) active() []string {
	var names []string
	for _, job := range m.jobs() {
		if len(job.Status.Conditions) == 0 {
			names = append(names, job.Name)
		}
	}
	slices.Sort(names)
	return names
}

// checkStatus compares the status with what is there.
func (m *model) checkStatus() {
	m.t.Helper()
	b := m.object()
	s, going := b.RunStatus(), m.active()
	if !slices.Equal(s.Active, going) {
		m.t.Errorf("got active %v, want %v", s.Active, going)
	}
	if len(going) > 1 && b.Policy().ConcurrencyPolicy != backupv1.ConcurrencyAllow {
		m.t.Errorf("got %v at once under %s", going, b.Policy().ConcurrencyPolicy)
	}
	kept := map[state]int32{}
	for _, from := range m.jobs() {
		j := classify(b, &from)
		if j.state == active {
			continue
		}
		if !j.leaving && m.clock.Now().Sub(j.ended).Abs() >= historyGrace {
			kept[j.state]++
		}
		if s.LastBackupTime == nil || j.ended.After(s.LastBackupTime.Time) {
			m.t.Errorf("the end of %s is not told", j.name)
		}
		if j.state == succeeded && (s.LastSuccessfulTime == nil || j.ended.After(s.LastSuccessfulTime.Time)) {
			m.t.Errorf("the success of %s is not told", j.name)
		}
	}
	if p := b.Policy(); kept[succeeded] > *p.SuccessfulJobsHistoryLimit || kept[failed] > *p.FailedJobsHistoryLimit {
		m.t.Errorf("got %v finished Jobs, want the limits kept", kept)
	}
	m.checkPhase(b, s)
}

func (m *model) checkPhase(b backupv1.Backup, s *backupv1.BackupStatus) {
	m.t.Helper()
	_, err := schedule.Parse(b.Policy().Schedule, b.Policy().Zone())
	want := backupv1.PhaseScheduled
	switch {
	case len(s.Active) > 0:
		want = backupv1.PhaseRunning
	case b.Policy().Suspended():
		want = backupv1.PhaseSuspended
	case err != nil, m.refused(b) != "":
		want = backupv1.PhaseFailed
	}
	if s.Phase != want || (s.NextScheduleTime != nil) != (err == nil && !b.Policy().Suspended()) {
		m.t.Errorf("got phase %s and next time %v, want %s", s.Phase, s.NextScheduleTime, want)
	}
	if next := s.NextScheduleTime; next != nil && !next.After(m.clock.Now()) {
		m.t.Errorf("got next time %v, and it is %v", next, m.clock.Now())
	}
	asked := b.GetAnnotations()[backupv1.AnnotationRunRequestedAt]
	if asked != s.LastHandledRunRequest && len(s.Active) == 0 && err == nil && !strings.Contains(m.refused(b), jobName(b, run{request: asked})) {
		m.t.Errorf("request %q was not handled: %+v", asked, s)
	}
	if s.LastHandledRunRequest != "" && m.created[jobName(b, run{request: s.LastHandledRunRequest})] == 0 {
		m.t.Errorf("request %q is said to be handled and was not", s.LastHandledRunRequest)
	}
}

// once holds at every moment, whatever the cache shows.
func (m *model) once() {
	m.t.Helper()
	for name, times := range m.created {
		if times > 1 {
			m.t.Errorf("Job %s was started %d times", name, times)
		}
	}
	if n := len(m.active()); n > 1 && m.object().Policy().ConcurrencyPolicy == backupv1.ConcurrencyForbid {
		m.t.Errorf("got %d runs at once under Forbid", n)
	}
}
