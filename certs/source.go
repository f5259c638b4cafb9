// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package certs serves the webhook server's certificate. It loads the pair
// that cert-manager writes, follows its renewals without a restart, and says
// whether the port really answers with it. It never writes a file and never
// talks to a cluster.
package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

const (
	// certFile and keyFile are the keys of a kubernetes.io/tls Secret, which
	// the kubelet turns into file names.
	certFile = "tls.crt"
	keyFile  = "tls.key"

	// retryEvery is how soon a missing or broken first pair is looked at again.
	retryEvery = time.Second

	// readEvery bounds how long a change stays unseen where the file system
	// sends no event, as some network volumes do not.
	readEvery = 2 * time.Second

	// dialTimeout is shorter than the timeout of the readiness probe, so that
	// a stuck port is reported in our words.
	dialTimeout = 800 * time.Millisecond
)

const (
	expiryName   = "backupjob_certificate_expiry_seconds"
	unusableName = "backupjob_certificate_unusable"
)

var (
	expiryMetric = prometheus.NewDesc(expiryName,
		"Seconds until the certificate that is served expires, negative once it has. Absent while none is loaded.",
		nil, nil)
	unusableMetric = prometheus.NewDesc(unusableName,
		"1 while the newest serving pair cannot be served, because it is missing, cannot be read, or is out of date by this node's clock; the last good one is served meanwhile.",
		nil, nil)
)

// errNotLoaded is what every reader gets until the first good pair was read.
var errNotLoaded = errors.New("no serving certificate is loaded yet")

// Options are the settings of a Source.
type Options struct {
	// Dir is the folder that holds tls.crt and tls.key.
	Dir string
	// Address is where this process serves TLS with the pair. Ready dials it.
	Address string
	// Clock tells which certificates are in date; the real one if nil.
	Clock clock.PassiveClock
	// Logger gets one line when the pair changes or cannot be read.
	Logger logr.Logger
}

// Source serves the newest good pair of a folder: one that can be read and, if
// there is such a one, is in date.
type Source struct {
	options Options
	watcher atomic.Pointer[certwatcher.CertWatcher]
	good    atomic.Pointer[tls.Certificate] // the last that was served in date
}

var _ prometheus.Collector = &Source{}

// NewSource returns a Source that has read nothing yet; Start reads.
func NewSource(o Options) *Source {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Source{options: o}
}

// Start loads the pair as soon as it is there and follows its changes until
// ctx ends. A pair that cannot be used, because it is half written or the key
// belongs to another certificate, leaves the last good one in place.
func (s *Source) Start(ctx context.Context) error {
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	told := ""
	for {
		err := s.watch(ctx)
		if ctx.Err() != nil {
			return nil
		}
		// The same words once a second would bury the rest of the log.
		if err != nil && err.Error() != told {
			told = err.Error()
			s.options.Logger.Info("Cannot read the serving certificate yet, trying again", "dir", s.options.Dir, "reason", told)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-retry.C:
		}
	}
}

// watch runs one certwatcher, which wants readable files at its start and
// gives up when they stay away for long. The last one is kept until a new one
// has read a good pair.
func (s *Source) watch(ctx context.Context) error {
	watcher, err := certwatcher.New(filepath.Join(s.options.Dir, certFile), filepath.Join(s.options.Dir, keyFile))
	if err != nil {
		return err
	}
	watcher.RegisterCallback(func(pair tls.Certificate) {
		if err := s.inDate(pair.Leaf); err != nil {
			s.options.Logger.Info("The newest serving certificate waits, and the last good one is served if there is one", "reason", err.Error())
		}
	})
	s.watcher.Store(watcher)
	return watcher.WithWatchInterval(readEvery).Start(ctx)
}

// GetCertificate returns the newest pair, or the last one that was in date if
// the newest is not. It has the signature that tls.Config wants.
func (s *Source) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	watcher := s.watcher.Load()
	if watcher == nil {
		return nil, errNotLoaded
	}
	newest, err := watcher.GetCertificate(hello)
	if err != nil {
		return nil, err
	}
	if s.inDate(newest.Leaf) == nil {
		s.good.Store(newest)
		return newest, nil
	}
	if good := s.good.Load(); good != nil && s.inDate(good.Leaf) == nil {
		return good, nil
	}
	return newest, nil
}

// inDate judges by the clock of this node, which may be the one that is wrong.
func (s *Source) inDate(leaf *x509.Certificate) error {
	now := s.options.Clock.Now()
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the serving certificate is not valid before %s, and here it is %s; check the clock of this node, and that of cert-manager's",
			at(leaf.NotBefore), at(now))
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the serving certificate expired at %s, and here it is %s; check the Certificate and its Issuer in cert-manager, and the clock of this node",
			at(leaf.NotAfter), at(now))
	}
	return nil
}

// usable says what is wrong with what the folder holds now.
func (s *Source) usable() error {
	watcher := s.watcher.Load()
	if watcher == nil {
		return errNotLoaded
	}
	if err := watcher.ReadCertificate(); err != nil {
		return err
	}
	newest, err := watcher.GetCertificate(nil)
	if err != nil {
		return err
	}
	return s.inDate(newest.Leaf)
}

// Ready returns nil if the loaded certificate is in date and the TLS port
// answers with it. It has the signature of a health check.
func (s *Source) Ready(request *http.Request) error {
	before, err := s.leaf()
	if err != nil {
		return err
	}
	if err := s.inDate(before); err != nil {
		return err
	}
	served, err := s.served(request.Context())
	if err != nil {
		return err
	}
	after, err := s.leaf()
	if err != nil {
		return err
	}
	// A renewal between the two looks may be served already, or not yet.
	if !served.Equal(before) && !served.Equal(after) {
		return fmt.Errorf("port %s answers with another certificate than the one loaded, serial %s instead of %s",
			s.options.Address, served.SerialNumber, after.SerialNumber)
	}
	return nil
}

// Describe is part of prometheus.Collector.
func (s *Source) Describe(descs chan<- *prometheus.Desc) {
	descs <- expiryMetric
	descs <- unusableMetric
}

// Collect is part of prometheus.Collector. The remaining time is counted at
// the moment of the scrape.
func (s *Source) Collect(metrics chan<- prometheus.Metric) {
	unusable := 0.0
	if s.usable() != nil {
		unusable = 1
	}
	metrics <- prometheus.MustNewConstMetric(unusableMetric, prometheus.GaugeValue, unusable)
	leaf, err := s.leaf()
	if err != nil {
		return
	}
	left := leaf.NotAfter.Sub(s.options.Clock.Now())
	metrics <- prometheus.MustNewConstMetric(expiryMetric, prometheus.GaugeValue, left.Seconds())
}

func (s *Source) leaf() (*x509.Certificate, error) {
	pair, err := s.GetCertificate(nil)
	if err != nil {
		return nil, fmt.Errorf("%w; waiting for %s and %s in %s", err, certFile, keyFile, s.options.Dir)
	}
	return pair.Leaf, nil
}

// served asks our own port for its certificate. Who signed it does not
// matter here, because the answer is compared with the pair that we hold.
func (s *Source) served(ctx context.Context) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // compared byte by byte
	conn, err := dialer.DialContext(ctx, "tcp", s.options.Address)
	if err != nil {
		return nil, fmt.Errorf("the TLS port %s does not answer: %w", s.options.Address, err)
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	tlsConn, ok := conn.(*tls.Conn)
	if !ok || len(tlsConn.ConnectionState().PeerCertificates) == 0 {
		return nil, fmt.Errorf("the TLS port %s shows no certificate", s.options.Address)
	}
	return tlsConn.ConnectionState().PeerCertificates[0], nil
}
