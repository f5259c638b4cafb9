// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/conversion"
)

// The paths that are served. Each of the first four takes both versions of its
// kind.
const (
	PathMutateBackupJob     = "/mutate-backupjob"
	PathMutateMySQLBackup   = "/mutate-mysqlbackup"
	PathValidateBackupJob   = "/validate-backupjob"
	PathValidateMySQLBackup = "/validate-mysqlbackup"
	PathConvert             = "/convert"
)

var routes = []string{PathMutateBackupJob, PathMutateMySQLBackup, PathValidateBackupJob, PathValidateMySQLBackup, PathConvert}

const (
	// maxReview is room for two objects as large as etcd stores them (1.5 MiB)
	// and the rest of a review.
	maxReview = 4 << 20
	// maxConversion is room for 50,000 objects of 2.5 KiB; servers send one.
	// Its memory is that of its text.
	maxConversion = conversion.DefaultMaxBodyBytes
	// maxUntold is for bodies whose length is not told: a buffer that grows
	// takes three times its content. API servers tell it.
	maxUntold = maxReview
	// maxOrdinary is how large the reviews are of which many are worked on at a
	// time: several times what a review of a real object has. What a sender
	// makes up can take forty times its size in memory, so of larger ones each
	// share works on one at a time.
	maxOrdinary = 64 << 10

	defaultAdmissions  = 32
	defaultConversions = 16
	defaultWait        = 2 * time.Second
)

// Options are the settings of the routes.
type Options struct {
	// Clock is the time. Nil means the machine's.
	Clock clock.PassiveClock
	// Log gets a line per decision.
	Log logr.Logger
	// Registerer gets the metrics. Nil means that they are kept by nobody.
	Registerer prometheus.Registerer

	// References is the mode of reference authorization. Empty means enforce.
	References ReferenceMode
	// Reviewer asks for the rights of users. It must be set unless References
	// is off.
	Reviewer Reviewer
	// ReviewTimeout is the time for all questions of one request. 0 means five
	// seconds; it must be shorter than the time-out of the webhooks.
	ReviewTimeout time.Duration

	// Clients, if set, are the only ones that may call the admission routes.
	Clients *Clients

	// MaxAdmissions and MaxConversions are how many requests of each kind are
	// worked on at a time; neither takes the other's share. 0 means 32 and 16.
	// Large ones are one more each, at most.
	MaxAdmissions, MaxConversions int
	// MaxWait is how long a request waits for its turn before it is told to
	// come again. 0 means two seconds.
	MaxWait time.Duration
}

func (o *Options) setDefaults() error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.References == "" {
		o.References = ReferencesEnforce
	}
	switch o.References {
	case ReferencesOff:
	case ReferencesEnforce, ReferencesWarn:
		if o.Reviewer == nil {
			return fmt.Errorf("reference authorization %q needs a Reviewer", o.References)
		}
	default:
		return fmt.Errorf("reference authorization must be enforce, warn or off, but is %q", o.References)
	}
	if o.Clients != nil && (o.Clients.CAs == nil || len(o.Clients.Names) == 0) {
		return errors.New("client authentication needs a CA and the names that it allows")
	}
	setDefault(&o.ReviewTimeout, defaultReviewTimeout)
	setDefault(&o.MaxAdmissions, defaultAdmissions)
	setDefault(&o.MaxConversions, defaultConversions)
	setDefault(&o.MaxWait, defaultWait)
	return nil
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Routes returns the handler of everything that the API server calls.
func Routes(o Options) (http.Handler, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	judge, err := NewJudge(o.Clock)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, fmt.Errorf("register the metrics: %w", err)
	}
	gates := gate{
		judge: judge, metrics: m, log: o.Log.WithName("admission"), clock: o.Clock,
		references: &references{mode: o.References, reviewer: o.Reviewer, timeout: o.ReviewTimeout, metrics: m},
	}
	mux := http.NewServeMux()
	admissions, largeAdmissions := newShare(o.MaxAdmissions, o.MaxWait), newShare(1, o.MaxWait)
	for _, path := range routes {
		if path == PathConvert {
			continue
		}
		g := gates
		g.route, g.mutating = path, strings.HasPrefix(path, "/mutate-")
		g.kind = backupv1.KindBackupJob
		if strings.HasSuffix(path, "-mysqlbackup") {
			g.kind = backupv1.KindMySQLBackup
		}
		handler, err := admission.StandaloneWebhook(&admission.Webhook{Handler: &g}, admission.StandaloneOptions{Logger: g.log})
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", path, err)
		}
		guard := &guard{
			route: path, share: admissions, large: largeAdmissions, limit: maxReview,
			clients: o.Clients, metrics: m, log: o.Log, clock: o.Clock,
		}
		mux.Handle(path, guard.around(handler))
	}
	guard := &guard{
		route: PathConvert, share: newShare(o.MaxConversions, o.MaxWait), large: newShare(1, o.MaxWait), limit: maxConversion,
		metrics: m, log: o.Log, clock: o.Clock,
	}
	mux.Handle(PathConvert, guard.around(conversion.Handler(conversion.HandlerOptions{
		MaxBodyBytes: maxConversion, Log: o.Log.WithName("conversion"), Registerer: o.Registerer,
	})))
	return mux, nil
}
