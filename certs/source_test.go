// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// serve starts a Source on the folder and a TLS server with it.
func serve(t *testing.T, dir string, c clock.PassiveClock, logger ...logr.Logger) *Source {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	options := Options{Dir: dir, Address: listener.Addr().String(), Clock: c}
	if len(logger) > 0 {
		options.Logger = logger[0]
	}
	source := NewSource(options)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	must(t, server.Listener.Close())
	server.Listener = tls.NewListener(listener, &tls.Config{GetCertificate: source.GetCertificate, MinVersion: tls.VersionTLS12})
	server.Start()
	t.Cleanup(server.Close)
	start(t, source)
	return source
}

func start(t *testing.T, source *Source) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- source.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start returned %v; a stopped source is no error", err)
		}
	})
}

func ready(t *testing.T, source *Source) error {
	t.Helper()
	return source.Ready(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
}

// waitReady waits until the port answers with the wanted certificate.
func waitReady(t *testing.T, source *Source, want pair) {
	t.Helper()
	waitFor(t, func(ctx context.Context) error {
		if err := ready(t, source); err != nil {
			return err
		}
		served, err := source.served(ctx)
		if err != nil {
			return err
		}
		if !served.Equal(want.certificate) {
			return fmt.Errorf("serial %s is served, want %s", served.SerialNumber, want.certificate.SerialNumber)
		}
		return nil
	})
}

func waitFor(t *testing.T, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("gave up waiting: %v", last)
	}
}

func wantNotReady(t *testing.T, source *Source, words string) {
	t.Helper()
	err := ready(t, source)
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Fatalf("Ready = %v, want an error with %q", err, words)
	}
}

func TestSourceStartsWithoutFilesAndIsReadyOnceTheyAppear(t *testing.T) {
	files, ca := newVolume(t), newAuthority(t, "ca")
	source := serve(t, files.dir, clock.RealClock{})
	wantNotReady(t, source, "no serving certificate is loaded yet")
	if _, err := source.GetCertificate(nil); err == nil {
		t.Error("GetCertificate gave a certificate before there was one")
	}

	first := ca.serveNow(t)
	files.write(t, first.cert, first.key)
	waitReady(t, source, first)
}

func TestSourceServesARenewedPairWithoutARestart(t *testing.T) {
	files, ca := newVolume(t), newAuthority(t, "ca")
	first := ca.serveNow(t)
	files.write(t, first.cert, first.key)
	source := serve(t, files.dir, clock.RealClock{})
	waitReady(t, source, first)

	for range 3 {
		next := ca.serveNow(t)
		files.write(t, next.cert, next.key)
		waitReady(t, source, next)
	}
}

func TestSourceKeepsTheLastGoodPair(t *testing.T) {
	ca := newAuthority(t, "ca")
	good, other := ca.serveNow(t), ca.serveNow(t)
	cases := map[string]struct{ cert, key []byte }{
		"when the certificate is half written":               {good.cert[:len(good.cert)/2], good.key},
		"when the key is half written":                       {good.cert, good.key[:len(good.key)/2]},
		"when the files are empty":                           {nil, nil},
		"when the key belongs to another certificate":        {other.cert, good.key},
		"when something else than PEM stands in the files":   {[]byte("moved"), []byte("moved")},
		"when the certificate file holds the key by mistake": {good.key, good.key},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := newVolume(t)
			files.write(t, good.cert, good.key)
			source := serve(t, files.dir, clock.RealClock{})
			waitReady(t, source, good)

			files.write(t, tc.cert, tc.key)
			if err := source.watcher.Load().ReadCertificate(); err == nil {
				t.Fatal("the broken pair was read without an error")
			}
			waitReady(t, source, good)

			healed := ca.serveNow(t)
			files.write(t, healed.cert, healed.key)
			waitReady(t, source, healed)
		})
	}
}

// TestSourceServesTheNewestPairThatIsInDate: a clock that is wrong, here or
// where certificates are issued, and an old Secret that somebody restores, are
// no reason to stop serving a pair that everybody trusts.
func TestSourceServesTheNewestPairThatIsInDate(t *testing.T) {
	ca := newAuthority(t, "ca")
	now := time.Now().Truncate(time.Second)
	cases := map[string]struct {
		next pair
		when time.Time
		told string
	}{
		"when the next one is not valid yet": {ca.serve(t, now.Add(time.Hour), now.Add(2*time.Hour)), now.Add(time.Hour), "not valid before"},
		"when the next one has expired":      {ca.serve(t, now.Add(-2*time.Hour), now.Add(-time.Hour)), now.Add(-time.Hour), "expired at"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, good := newVolume(t), ca.serve(t, now.Add(-3*time.Hour), now.Add(3*time.Hour))
			files.write(t, good.cert, good.key)
			fake := clocktesting.NewFakePassiveClock(now)
			told := &lines{}
			source := serve(t, files.dir, fake, funcr.New(told.add, funcr.Options{}))
			waitReady(t, source, good)

			files.write(t, tc.next.cert, tc.next.key)
			waitFor(t, func(context.Context) error {
				if n := told.count(tc.told); n != 1 {
					return fmt.Errorf("%q was told %d times, want once:\n%v", tc.told, n, told)
				}
				return nil
			})
			waitReady(t, source, good)
			fake.SetTime(tc.when)
			waitReady(t, source, tc.next)
		})
	}
}

// lines keeps what is logged.
type lines struct {
	sync.Mutex
	all []string
}

func (l *lines) add(_, args string) {
	l.Lock()
	defer l.Unlock()
	l.all = append(l.all, args)
}

func (l *lines) count(words string) (n int) {
	l.Lock()
	defer l.Unlock()
	for _, line := range l.all {
		n += strings.Count(line, words)
	}
	return n
}

func (l *lines) String() string {
	l.Lock()
	defer l.Unlock()
	return strings.Join(l.all, "\n")
}

func TestSourceSurvivesThatTheFilesAreTakenAway(t *testing.T) {
	dir, ca := t.TempDir(), newAuthority(t, "ca")
	writePlain := func(p pair) {
		must(t, os.WriteFile(filepath.Join(dir, keyFile), p.key, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, certFile), p.cert, 0o600))
	}
	first, second := ca.serveNow(t), ca.serveNow(t)
	writePlain(first)
	source := serve(t, dir, clock.RealClock{})
	waitReady(t, source, first)

	must(t, os.Remove(filepath.Join(dir, certFile)))
	must(t, os.Remove(filepath.Join(dir, keyFile)))
	waitReady(t, source, first)
	writePlain(second)
	waitReady(t, source, second)
}

func TestReadyFollowsTheClockAndNotTheFiles(t *testing.T) {
	files, ca := newVolume(t), newAuthority(t, "ca")
	now := time.Now().Truncate(time.Second)
	served := ca.serve(t, now, now.Add(90*24*time.Hour))
	files.write(t, served.cert, served.key)
	fake := clocktesting.NewFakePassiveClock(now)
	source := serve(t, files.dir, fake)
	waitReady(t, source, served)

	fake.SetTime(now.Add(-time.Minute))
	wantNotReady(t, source, "not valid before "+now.UTC().Format(time.RFC3339))
	fake.SetTime(now.Add(90*24*time.Hour + time.Second))
	wantNotReady(t, source, "expired at "+served.certificate.NotAfter.UTC().Format(time.RFC3339))
	fake.SetTime(now.Add(time.Hour))
	waitReady(t, source, served)
}

func TestAnExpiredPairIsNotReadyAndHealsWithTheNextOne(t *testing.T) {
	files, ca := newVolume(t), newAuthority(t, "ca")
	expired := ca.serve(t, time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour))
	files.write(t, expired.cert, expired.key)
	source := serve(t, files.dir, clock.RealClock{})
	waitFor(t, func(context.Context) error {
		if err := ready(t, source); err == nil || !strings.Contains(err.Error(), "expired at") {
			return fmt.Errorf("ready says %w, want that it is expired", err)
		}
		return nil
	})

	next := ca.serveNow(t)
	files.write(t, next.cert, next.key)
	waitReady(t, source, next)
}

func TestReadyLooksAtThePortAndNotOnlyAtTheFiles(t *testing.T) {
	files, ca := newVolume(t), newAuthority(t, "ca")
	mine := ca.serveNow(t)
	files.write(t, mine.cert, mine.key)

	t.Run("nothing listens", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		source := NewSource(Options{Dir: files.dir, Address: listener.Addr().String()})
		must(t, listener.Close())
		start(t, source)
		waitFor(t, func(context.Context) error { _, err := source.leaf(); return err })
		wantNotReady(t, source, "does not answer")
	})
	t.Run("another certificate answers", func(t *testing.T) {
		stranger := httptest.NewTLSServer(http.NotFoundHandler())
		t.Cleanup(stranger.Close)
		source := NewSource(Options{Dir: files.dir, Address: stranger.Listener.Addr().String()})
		start(t, source)
		waitFor(t, func(context.Context) error { _, err := source.leaf(); return err })
		wantNotReady(t, source, "another certificate than the one loaded")
	})
}

func TestTheMetricCountsDownToTheExpiry(t *testing.T) {
	files, ca := newVolume(t), newAuthority(t, "ca")
	now := time.Now().Truncate(time.Second)
	fake := clocktesting.NewFakePassiveClock(now)
	source, registry := metered(t, files.dir, fake)
	if n := testutil.CollectAndCount(source, expiryName); n != 0 {
		t.Errorf("%d series before a certificate is loaded, want none", n)
	}

	served := ca.serve(t, now, now.Add(time.Hour))
	files.write(t, served.cert, served.key)
	waitReady(t, source, served)
	for after, want := range map[time.Duration]float64{0: 3600, 59 * time.Minute: 60, 2 * time.Hour: -3600} {
		fake.SetTime(now.Add(after))
		if got := value(t, registry, expiryName); got != want {
			t.Errorf("%s after the start the metric says %v, want %v", after, got, want)
		}
	}
}

// metered starts a Source on the folder, with its metrics.
func metered(t *testing.T, dir string, c clock.PassiveClock) (*Source, *prometheus.Registry) {
	t.Helper()
	source, registry := serve(t, dir, c), prometheus.NewPedanticRegistry()
	must(t, registry.Register(source))
	return source, registry
}

// value is that of the one series of a metric.
func value(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	must(t, err)
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// TestAMetricSaysThatTheNewestPairCannotBeServed, whatever is served meanwhile.
func TestAMetricSaysThatTheNewestPairCannotBeServed(t *testing.T) {
	files, ca := newVolume(t), newAuthority(t, "ca")
	now := time.Now().Truncate(time.Second)
	fake := clocktesting.NewFakePassiveClock(now)
	_, registry := metered(t, files.dir, fake)
	good, other := ca.serveNow(t), ca.serveNow(t)
	future := ca.serve(t, now.Add(time.Hour), now.Add(2*time.Hour))
	for _, step := range []struct {
		name      string
		cert, key []byte
		clock     time.Time
		want      float64
	}{
		{"nothing is there", nil, nil, now, 1},
		{"a good pair", good.cert, good.key, now, 0},
		{"a key of another", good.cert, other.key, now, 1},
		{"good again", other.cert, other.key, now, 0},
		{"not valid yet", future.cert, future.key, now, 1},
		{"valid by now", future.cert, future.key, now.Add(time.Hour), 0},
		{"expired", future.cert, future.key, now.Add(3 * time.Hour), 1},
	} {
		if step.cert != nil {
			files.write(t, step.cert, step.key)
		}
		fake.SetTime(step.clock)
		waitFor(t, func(context.Context) error {
			if got := value(t, registry, unusableName); got != step.want {
				return fmt.Errorf("%s: the metric says %v, want %v", step.name, got, step.want)
			}
			return nil
		})
	}
}
