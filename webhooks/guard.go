// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// Clients says who may call the admission routes. /convert asks nobody: the
// API server has no certificate for it, and a conversion is a function of its
// input alone.
type Clients struct {
	// CAs returns those that sign the certificates of the clients. It is asked
	// for each request, so they may change.
	CAs func() *x509.CertPool
	// Names are the allowed names: the common name or a DNS name of the
	// client's certificate.
	Names []string
}

// allow reports whether the request comes with a certificate of an allowed
// client.
func (c *Clients) allow(r *http.Request, now time.Time) error {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return errors.New("a client certificate is needed here")
	}
	certificate, intermediates := r.TLS.PeerCertificates[0], x509.NewCertPool()
	for _, further := range r.TLS.PeerCertificates[1:] {
		intermediates.AddCert(further)
	}
	if _, err := certificate.Verify(x509.VerifyOptions{
		Roots: c.CAs(), Intermediates: intermediates, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return fmt.Errorf("the client certificate is not trusted: %w", err)
	}
	if !slices.ContainsFunc(append([]string{certificate.Subject.CommonName}, certificate.DNSNames...), func(name string) bool {
		return name != "" && slices.Contains(c.Names, name)
	}) {
		return fmt.Errorf("the client certificate of %q is not allowed here", certificate.Subject.CommonName)
	}
	return nil
}

// share is how many requests may be worked on at a time.
type share struct {
	places chan struct{}
	wait   time.Duration
}

func newShare(size int, wait time.Duration) *share {
	return &share{places: make(chan struct{}, size), wait: wait}
}

// enter takes a place, waiting a little for one.
func (s *share) enter(ctx context.Context) bool {
	select {
	case s.places <- struct{}{}:
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	select {
	case s.places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *share) leave() { <-s.places }

// guard keeps from a route what would harm it or others.
type guard struct {
	route   string
	share   *share
	large   *share // for what is larger than maxOrdinary
	limit   int64
	clients *Clients
	metrics *metrics
	log     logr.Logger
	clock   clock.PassiveClock
}

// around puts the guard in front of a handler. Who the client is comes first,
// so that a stranger takes no place and no memory.
func (g *guard) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer g.recover(w)
		if !g.maySend(w, r) {
			return
		}
		head := heads.Get().(*bytes.Buffer)
		defer giveBack(head)
		share := g.shareOf(w, r, head)
		if share == nil {
			return
		}
		defer answered(r)
		if !share.enter(r.Context()) {
			w.Header().Set("Retry-After", "1")
			g.refuse(w, http.StatusServiceUnavailable, "Busy", "too many reviews at a time; try again")
			return
		}
		defer share.leave()
		next.ServeHTTP(w, r)
	})
}

// maySend judges a request before anything of its body is read.
func (g *guard) maySend(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		g.refuse(w, http.StatusMethodNotAllowed, "Method", "reviews are posted")
		return false
	}
	if g.clients != nil {
		if err := g.clients.allow(r, g.clock.Now()); err != nil {
			g.log.Info("Turned a client away", "route", g.route, "remote", r.RemoteAddr, "cause", err.Error())
			g.refuse(w, http.StatusForbidden, "Client", err.Error())
			return false
		}
	}
	if r.ContentLength > g.limit {
		g.refuse(w, http.StatusRequestEntityTooLarge, "Size", fmt.Sprintf("a review may have at most %d bytes", g.limit))
		return false
	}
	if r.ContentLength < 0 { // else the server itself reads no more
		r.Body = http.MaxBytesReader(w, r.Body, min(g.limit, maxUntold))
	}
	return true
}

// heads are buffers of what was read of a body before it was let in.
var heads = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func giveBack(head *bytes.Buffer) {
	head.Reset()
	heads.Put(head)
}

// shareOf reads an ordinary review to its end, and of a larger one enough to
// know: whoever sends slowly holds no place meanwhile, and one of the few large
// ones at most. What goes wrong with a body that has begun, the handler meets
// again. It returns nil for what no handler shall see.
func (g *guard) shareOf(w http.ResponseWriter, r *http.Request, head *bytes.Buffer) *share {
	n, err := io.CopyN(head, r.Body, maxOrdinary+1)
	switch {
	case takenBack(r):
		return nil
	case n == 0 && !errors.Is(err, io.EOF):
		g.refuse(w, http.StatusRequestTimeout, "Body", "the review did not come in time")
		return nil
	case !beginsObject(head.Bytes()):
		g.refuse(w, http.StatusBadRequest, "Text", "a review is an object in JSON")
		return nil
	case tooDeep(head.Bytes()):
		g.refuse(w, http.StatusBadRequest, "Depth", fmt.Sprintf("lists and objects may stand at most %d deep in each other", mostDepth))
		return nil
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(head, r.Body), r.Body}
	if n > maxOrdinary {
		return g.large
	}
	return g.share
}

func (g *guard) refuse(w http.ResponseWriter, code int, reason, message string) {
	g.metrics.refused.WithLabelValues(g.route, reason).Inc()
	http.Error(w, message, code)
}

// recover ends a request, and nothing else, after a fault of the program.
func (g *guard) recover(w http.ResponseWriter) {
	cause := recover()
	switch cause {
	case nil:
		return
	case http.ErrAbortHandler: // means to hang up
		panic(cause)
	}
	g.metrics.panics.WithLabelValues(g.route).Inc()
	g.log.Error(fmt.Errorf("panic: %v", cause), "Met a fault of the program", "route", g.route, "stack", string(debug.Stack()))
	http.Error(w, "the webhook met a fault of its own; its log says more", http.StatusInternalServerError)
}
