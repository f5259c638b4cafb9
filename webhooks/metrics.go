// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters of the front door. Every label has few values,
// whatever is sent.
type metrics struct {
	decisions  *prometheus.CounterVec
	duration   *prometheus.HistogramVec
	references *prometheus.CounterVec
	panics     *prometheus.CounterVec
	refused    *prometheus.CounterVec
}

// newMetrics registers the metrics; no registerer keeps them to itself.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "backupjob_admission_decisions_total",
			Help: "Decisions about writes of our kinds, one per request.",
		}, []string{"kind", "version", "operation", "result", "reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "backupjob_admission_duration_seconds",
			Help: "Time that a call of an admission webhook took.",
			// From a quarter of what a judgement takes to the webhook's time-out.
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 10},
		}, []string{"webhook", "kind"}),
		references: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "backupjob_admission_reference_checks_total",
			Help: "Questions to the API server whether a user may use what an object names.",
		}, []string{"result"}),
		panics: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "backupjob_webhook_panics_total",
			Help: "Requests that a fault of the program ended. Always 0.",
		}, []string{"route"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "backupjob_webhook_refused_total",
			Help: "HTTP requests that were turned away before anybody read them.",
		}, []string{"route", "reason"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.decisions, m.duration, m.references, m.panics, m.refused} {
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	for _, route := range routes {
		m.panics.WithLabelValues(route) // shows that it is 0
	}
	return m, nil
}

func (m *metrics) decided(d *decision) {
	result := "denied"
	if d.allowed {
		result = "allowed"
	}
	m.decisions.WithLabelValues(d.kind, d.version, d.operation, result, d.reason).Inc()
}

func (m *metrics) took(webhook, kind string, d time.Duration) {
	m.duration.WithLabelValues(webhook, kind).Observe(d.Seconds())
}

func (m *metrics) reviewed(allowed bool, err error) {
	result := "denied"
	switch {
	case err != nil:
		result = "error"
	case allowed:
		result = "allowed"
	}
	m.references.WithLabelValues(result).Inc()
}
