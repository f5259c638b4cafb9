// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package attack does to the webhook server what somebody does who wants to
// keep others from it, an attack a file. The integration suite and the
// benchmark attack with it.
package attack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Target is the server that is attacked.
type Target struct {
	// Address is its host and port.
	Address string
	// Roots are what its certificate is signed by.
	Roots *x509.CertPool
	// From is the address that the attack comes from: in a cluster each Pod
	// has one of its own. Nil leaves it to the system.
	From net.IP
}

// Attack is one way of keeping others from the server.
type Attack struct {
	Name string
	// HTTP2 says that the server is attacked where it speaks HTTP/2.
	HTTP2 bool
	// Attackers is how many strike at once, each one strike after the other.
	Attackers int
	// Enough is how many strikes show that the server holds.
	Enough int64
	// strike returns nil once the server has dealt with it as it should.
	strike func(context.Context, Target) error
}

// All are the attacks.
var All = []Attack{
	{Name: "slow headers", Attackers: 500, Enough: 500, strike: slowHeaders},
	{Name: "slow bodies", Attackers: 500, Enough: 500, strike: slowBody},
	{Name: "huge bodies", Attackers: 8, Enough: 60, strike: hugeBody},
	{Name: "deep JSON", Attackers: 8, Enough: 100, strike: deepJSON},
	{Name: "many connections", Attackers: 2000, Enough: 5000, strike: connection},
	{Name: "garbage instead of TLS", Attackers: 50, Enough: 10000, strike: garbage},
	{Name: "HTTP/2 rapid reset", HTTP2: true, Attackers: 20, Enough: 200, strike: rapidReset},
	{Name: "reviews of 50,000 objects", Attackers: 8, Enough: 5, strike: manyObjects},
}

// Progress is what an attack has come to.
type Progress struct {
	dealt atomic.Int64
	wrong atomic.Value
}

// Dealt is how many strikes the server has dealt with as it should.
func (p *Progress) Dealt() int64 { return p.dealt.Load() }

// Wrong says how the last strike went that did not go so.
func (p *Progress) Wrong() string {
	text, _ := p.wrong.Load().(string)
	return text
}

// Run attacks until ctx ends.
func (a Attack) Run(ctx context.Context, t Target, p *Progress) {
	var attackers sync.WaitGroup
	for range a.Attackers {
		attackers.Go(func() {
			for ctx.Err() == nil {
				strike, end := context.WithCancel(ctx)
				err := a.strike(strike, t)
				end()
				switch {
				case ctx.Err() != nil: // it was cut short
				case err != nil:
					p.wrong.Store(err.Error())
				default:
					p.dealt.Add(1)
				}
			}
		})
	}
	attackers.Wait()
}

// patience is longer than any of the server's limits.
const patience = time.Minute

// connect opens a connection that ends with ctx, which is that of the strike.
func (t Target) connect(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: patience}
	if t.From != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: t.From}
	}
	conn, err := dialer.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, conn.SetDeadline(time.Now().Add(patience))
}

// handshake makes a connection one of TLS.
func (t Target) handshake(ctx context.Context, conn net.Conn, protocols ...string) (*tls.Conn, error) {
	host, _, _ := net.SplitHostPort(t.Address)
	secure := tls.Client(conn, &tls.Config{RootCAs: t.Roots, ServerName: host, NextProtos: protocols, MinVersion: tls.VersionTLS12})
	err := secure.HandshakeContext(ctx)
	return secure, err
}

// post sends one request over a connection of its own and returns the status
// of the answer. size is the length that is told; -1 tells none.
func (t Target) post(ctx context.Context, path string, body io.Reader, size int64) (int, error) {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: t.Roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return t.connect(ctx) },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+t.Address+path, body)
	if err != nil {
		return 0, err
	}
	request.ContentLength = size
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
