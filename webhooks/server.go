// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

const (
	defaultHeaderTimeout = 5 * time.Second
	// defaultReadTimeout and defaultWriteTimeout are longer than the server
	// waits for an admission (10 s) and as long as for a conversion (30 s).
	defaultReadTimeout  = 15 * time.Second
	defaultWriteTimeout = 30 * time.Second
	// defaultIdleTimeout is longer than client-go keeps an idle connection
	// (90 s), so that it is never this side that hangs up on a request.
	defaultIdleTimeout = 2 * time.Minute
	defaultDrain       = 20 * time.Second
	maxHeader          = 32 << 10
	// defaultConnections is several times what API servers open, each of them
	// one for each request that it makes at a time. A connection whose request
	// is on its way holds a quarter of a MiB at most.
	defaultConnections = 1024
	// streams is how many requests a connection of HTTP/2 may have at a time.
	streams = 16
)

// ServerOptions are the settings of the server.
type ServerOptions struct {
	// Address is where it listens, such as ":9443". Not used with a Listener.
	Address string
	// Listener, if set, is what it listens on.
	Listener net.Listener
	// Handler answers the requests.
	Handler http.Handler
	// GetCertificate gives the serving certificate of a connection.
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// AskForCertificate asks every client for a certificate, without demanding
	// one: whether it is needed and right, the route decides.
	AskForCertificate bool
	// HTTP2 offers HTTP/2 too.
	HTTP2 bool
	// Clock is the time. Nil means the machine's.
	Clock clock.PassiveClock
	// Log gets what goes wrong with connections.
	Log logr.Logger

	// HeaderTimeout, ReadTimeout and WriteTimeout bound the parts of a request,
	// IdleTimeout the pause after it. 0 means 5, 15, 30 and 120 seconds.
	HeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout time.Duration
	// MaxConnections is how many connections there may be at a time; with HTTP2,
	// where each takes 16 requests at a time, it is how many of these. 0 means
	// 1024.
	MaxConnections int
	// Registerer gets the metrics. Nil means that they are kept by nobody.
	Registerer prometheus.Registerer
	// ShutdownDelay is how long requests are still taken after the end was
	// asked for, while the Service sends its callers elsewhere and these give
	// up their connections.
	ShutdownDelay time.Duration
	// Drain is how long requests in flight may take after that. 0 means 20
	// seconds.
	Drain time.Duration
}

func (o *ServerOptions) setDefaults() {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	setDefault(&o.HeaderTimeout, defaultHeaderTimeout)
	setDefault(&o.ReadTimeout, defaultReadTimeout)
	setDefault(&o.WriteTimeout, defaultWriteTimeout)
	setDefault(&o.IdleTimeout, defaultIdleTimeout)
	setDefault(&o.Drain, defaultDrain)
	setDefault(&o.MaxConnections, defaultConnections)
	if o.HTTP2 {
		o.MaxConnections /= streams
	}
}

// Server is the TLS server of the webhooks.
type Server struct {
	options ServerOptions
	http    *http.Server
	refused prometheus.Counter
	flooded prometheus.Counter
	// allowances are for HTTP/2.
	allowances allowances
	// ending says that the end was asked for.
	ending atomic.Bool
}

// NewServer prepares a server; Run starts it.
func NewServer(o ServerOptions) (*Server, error) {
	if o.Handler == nil || o.GetCertificate == nil {
		return nil, errors.New("the webhook server needs a Handler and GetCertificate")
	}
	o.setDefaults()
	config := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: o.GetCertificate}
	if o.AskForCertificate {
		config.ClientAuth = tls.RequestClientCert
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(o.HTTP2)
	s := &Server{options: o, allowances: allowances{of: map[string]*allowance{}}, refused: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "backupjob_webhook_connections_refused_total",
		Help: "Connections that were ended because there were too many.",
	}), flooded: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "backupjob_webhook_connections_flooded_total",
		Help: "Connections that were ended because their address sent too many frames of HTTP/2.",
	})}
	if o.Registerer != nil {
		if err := errors.Join(o.Registerer.Register(s.refused), o.Registerer.Register(s.flooded)); err != nil {
			return nil, fmt.Errorf("register the metrics of connections: %w", err)
		}
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), TLSConfig: config, Protocols: protocols, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: o.HeaderTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, IdleTimeout: o.IdleTimeout,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams},
		// Handshakes fail for many reasons that are not ours.
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(o.Log.WithName("http").V(1)), slog.LevelInfo),
	}
	if o.HTTP2 {
		if err := s.offerHTTP2(); err != nil {
			return nil, fmt.Errorf("offer HTTP/2: %w", err)
		}
	}
	return s, nil
}

// serve has each client give up its connection once the end was asked for:
// closed from this side, it may meet a request that is on its way, and an API
// server sends none of these twice.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.ending.Load() {
		w.Header().Set("Connection", "close")
	}
	s.options.Handler.ServeHTTP(w, r)
}

// Run serves until ctx ends, then takes requests for the ShutdownDelay, and
// finishes what is in flight. It returns nil if nothing was cut off.
func (s *Server) Run(ctx context.Context) error {
	listener := s.options.Listener
	if listener == nil {
		var err error
		var config net.ListenConfig
		if listener, err = config.Listen(ctx, "tcp", s.options.Address); err != nil {
			return fmt.Errorf("listen for webhooks: %w", err)
		}
	}
	s.options.Log.Info("Serving webhooks", "address", listener.Addr().String())
	failed := make(chan error, 1)
	go func() {
		failed <- s.http.ServeTLS(newConnections(listener, s.options.MaxConnections, s.refused), "", "")
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve webhooks: %w", err)
	case <-ctx.Done():
	}
	return s.stop(context.WithoutCancel(ctx), failed)
}

func (s *Server) stop(ctx context.Context, failed <-chan error) error {
	s.ending.Store(true)
	delay, cancelDelay := context.WithTimeout(ctx, s.options.ShutdownDelay)
	defer cancelDelay()
	select {
	case err := <-failed:
		return fmt.Errorf("serve webhooks: %w", err)
	case <-delay.Done():
	}
	drain, cancelDrain := context.WithTimeout(ctx, s.options.Drain)
	defer cancelDrain()
	if err := s.http.Shutdown(drain); err != nil {
		return errors.Join(fmt.Errorf("finish the webhook requests in flight: %w", err), s.http.Close())
	}
	s.options.Log.Info("Stopped serving webhooks")
	return nil
}
