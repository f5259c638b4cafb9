// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"math"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// The figures of each object. They go when the object goes.
var (
	objectLabels = []string{"kind", "namespace", "name"}

	lastSuccess = gauge("last_success_timestamp_seconds", "When the last successful run ended.")
	lastResult  = gauge("last_result", "How the last finished run ended: 1 succeeded, 0 failed.")
	nextRun     = gauge("next_run_timestamp_seconds", "When the next run is due; absent while suspended.")
	interval    = gauge("schedule_interval_seconds", "The longest usual time between two runs; absent while suspended.")
	since       = gauge("scheduled_since_timestamp_seconds", "Since when runs start by this schedule: it was seen, or the object resumed; absent while suspended.")
	duration    = gauge("last_duration_seconds", "How long the last successful run took.")
	size        = gauge("last_size_bytes", "The size of the last backup.")

	isReady = gauge("ready", "The condition Ready, by its reason: 1 true, 0 false.", "reason")

	failures = counter("failures_total", "Runs that failed.")
	missed   = counter("missed_runs_total", "Scheduled runs that were left out, by reason.", "reason")
	cleanups = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "backupjob", Name: "cleanups_total", Help: "Deleted objects that were let go, by what became of their backups.",
	}, []string{"kind", "namespace", "reason"})
)

func gauge(name, help string, more ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "backupjob", Name: name, Help: help}, slices.Concat(objectLabels, more))
}

func counter(name, help string, more ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "backupjob", Name: name, Help: help}, slices.Concat(objectLabels, more))
}

func init() {
	ctrlmetrics.Registry.MustRegister(lastSuccess, lastResult, nextRun, interval, since, duration, size, isReady, failures, missed, cleanups)
}

// show sets the figures of one object after a pass; what is unknown is absent.
func show(f facts, p plan, before, s backupv1.BackupStatus) {
	labels := []string{f.backup.Kind(), f.backup.GetNamespace(), f.backup.GetName()}
	last := ptr.Deref(s.LastBackup, backupv1.LastBackup{})
	for vec, value := range map[*prometheus.GaugeVec]float64{
		lastSuccess: unix(s.LastSuccessfulTime),
		lastResult:  map[backupv1.RunResult]float64{backupv1.ResultSucceeded: 1, backupv1.ResultFailed: 0, "": math.NaN()}[s.LastResult],
		nextRun:     unix(s.NextScheduleTime),
		interval:    cmp.Or(p.interval.Seconds(), math.NaN()),
		since:       scheduledSince(p, s),
		duration:    unix(last.CompletionTime) - unix(last.StartTime),
		size:        float(last.SizeBytes),
	} {
		if math.IsNaN(value) {
			vec.DeleteLabelValues(labels...)
		} else {
			vec.WithLabelValues(labels...).Set(value)
		}
	}
	showReady(labels, find(&s, backupv1.ConditionReady))
	ended := failures.WithLabelValues(labels...)
	for _, j := range f.jobs {
		if j.state == failed && news(&before, j) {
			ended.Inc()
		}
	}
	if p.skip != nil {
		missed.WithLabelValues(append(labels, p.skip.reason)...).Add(float64(p.skip.count))
	}
}

// scheduledSince is from when on a backup may be expected.
func scheduledSince(p plan, s backupv1.BackupStatus) float64 {
	if p.next.IsZero() {
		return math.NaN()
	}
	from := p.observed.Since.Time
	if c := meta.FindStatusCondition(s.Conditions, backupv1.ConditionSuspended); c != nil {
		from = later(from, c.LastTransitionTime.Time)
	}
	return float64(from.Unix())
}

// showReady leaves one series, that of the reason that holds. A series that
// stays is never absent meanwhile: that would calm an alert.
func showReady(labels []string, c *metav1.Condition) {
	for _, reason := range readyReasons {
		if reason != c.Reason {
			isReady.DeleteLabelValues(slices.Concat(labels, []string{reason})...)
		}
	}
	value := map[bool]float64{true: 1, false: 0}[c.Status == metav1.ConditionTrue]
	isReady.WithLabelValues(slices.Concat(labels, []string{c.Reason})...).Set(value)
}

func float(n *int64) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n)
}

func unix(t *metav1.Time) float64 {
	if t.IsZero() {
		return math.NaN()
	}
	return float64(t.Unix())
}

func forget(kind string, key types.NamespacedName) {
	labels := prometheus.Labels{"kind": kind, "namespace": key.Namespace, "name": key.Name}
	for _, vec := range []*prometheus.GaugeVec{lastSuccess, lastResult, nextRun, interval, since, duration, size, isReady} {
		vec.DeletePartialMatch(labels)
	}
	failures.DeletePartialMatch(labels)
	missed.DeletePartialMatch(labels)
}
