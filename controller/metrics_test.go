// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"example.com/backupjob-operator/api/agent"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// figures are the metrics of one object, as "name{reason} value".
func figures(t *testing.T, object string) []string {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, family := range families {
		name, ours := strings.CutPrefix(family.GetName(), "backupjob_")
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if ours && labels["name"] == object {
				list = append(list, fmt.Sprintf("%s{%s} %.0f", name, labels["reason"], m.GetGauge().GetValue()+m.GetCounter().GetValue()))
			}
		}
	}
	slices.Sort(list)
	return list
}

func TestMetricsFollowTheObjectAndGoWithIt(t *testing.T) {
	const name = "measured"
	w := lived(t, func(b *backupv1.BackupJob) { b.Name = name })
	w.mustPass()
	w.set("2027-03-11 02:10:00")
	w.finish(w.only(), batchv1.JobComplete, encoded(agent.Result{Location: "x", SizeBytes: 4711}))
	w.mustPass()
	w.set("2027-03-14 12:00:00")
	w.mustPass()
	want := []string{
		"failures_total{} 0",
		"last_duration_seconds{} 0",
		"last_result{} 1",
		"last_size_bytes{} 4711",
		fmt.Sprintf("last_success_timestamp_seconds{} %d", at(t, "2027-03-11 02:10:00").Unix()),
		"missed_runs_total{RunMissed} 3",
		fmt.Sprintf("next_run_timestamp_seconds{} %d", at(t, "2027-03-15 02:00:00").Unix()),
		"ready{Scheduled} 1",
		"schedule_interval_seconds{} 86400",
		fmt.Sprintf("scheduled_since_timestamp_seconds{} %d", at(t, "2027-03-10 12:00:00").Unix()),
	}
	if diff := cmp.Diff(want, figures(t, name)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}

	w.edit(func(b backupv1.Backup) { b.Policy().Suspend = new(true) })
	w.mustPass()
	for _, figure := range figures(t, name) {
		if strings.HasPrefix(figure, "next_run") || strings.HasPrefix(figure, "schedule") {
			t.Errorf("got %s while suspended", figure)
		}
	}
	w.set("2028-03-14 12:00:00")
	w.edit(func(b backupv1.Backup) { b.Policy().Suspend = new(false) })
	w.mustPass()
	if got, want := figures(t, name), fmt.Sprintf("scheduled_since_timestamp_seconds{} %d", w.clock.Now().Unix()); !slices.Contains(got, want) {
		t.Errorf("got %v, want %s in it once resumed", got, want)
	}

	w.must(w.api.Delete(t.Context(), w.object()))
	w.mustPass()
	if got := figures(t, name); len(got) != 0 {
		t.Errorf("got %v once the object is gone", got)
	}
}

func TestMetricsTellWhyAnObjectIsNotReady(t *testing.T) {
	const name = "unready"
	w := lived(t, func(b *backupv1.BackupJob) { b.Name, b.Spec.Schedule = name, "abc" })
	ready := func() []string {
		return slices.DeleteFunc(figures(t, name), func(f string) bool { return !strings.HasPrefix(f, "ready") })
	}
	if diff := cmp.Diff([]string{"ready{InvalidSchedule} 0"}, ready()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	w.edit(func(b backupv1.Backup) { b.Policy().Schedule = "0 2 * * *" })
	w.mustPass()
	if diff := cmp.Diff([]string{"ready{Scheduled} 1"}, ready()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestMetricsCountFailures(t *testing.T) {
	const name = "failing"
	w := lived(t, func(b *backupv1.BackupJob) { b.Name = name })
	for _, now := range []string{"2027-03-11 02:00:00", "2027-03-12 02:00:00"} {
		w.set(now)
		w.mustPass()
		for _, job := range w.jobs() {
			if len(job.Status.Conditions) == 0 {
				w.finish(&job, batchv1.JobFailed, encoded(agent.Result{Error: "x"}))
			}
		}
		w.mustPass()
		w.mustPass()
	}
	got := figures(t, name)
	for _, want := range []string{"failures_total{} 2", "last_result{} 0"} {
		if !slices.Contains(got, want) {
			t.Errorf("got %v, want %s in it", got, want)
		}
	}
}
