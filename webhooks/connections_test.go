// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// connect opens a connection from one of the addresses of the loopback.
func (d *door) connect(t *testing.T, from net.IP) net.Conn {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	conn, err := dialer.DialContext(t.Context(), "tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// hungUp waits until the server has ended a connection that says nothing.
func hungUp(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the connection is still there: %v", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // Read does not wrap it
	return ok && timeout.Timeout()
}

func TestACrowdFromOneAddressKeepsNobodyElseOut(t *testing.T) {
	const most = 6
	crowd, further := net.IPv4(127, 0, 0, 2), net.IPv4(127, 0, 0, 3)
	// Nobody's time runs out here.
	d := open(t, Options{}, ServerOptions{MaxConnections: most, HeaderTimeout: time.Hour, ReadTimeout: time.Hour, WriteTimeout: time.Hour})
	ask := func(client *http.Client) {
		t.Helper()
		response, err := client.Get(d.url + PathConvert) //nolint:noctx // the client has a time-out
		if err != nil {
			t.Fatalf("an honest client was kept out: %v", err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	ask(d.client) // keeps its connection
	held := make([]net.Conn, most-1)
	for i := range held {
		held[i] = d.connect(t, crowd)
	}
	for range 10 {
		hungUp(t, d.connect(t, crowd))
	}
	ask(d.client)
	newcomer := d.caller(nil)
	defer newcomer.CloseIdleConnections()
	ask(newcomer)
	hungUp(t, held[most-2]) // the newest of the crowd
	d.connect(t, further)
	hungUp(t, held[most-3])
	ask(d.client)
	ask(newcomer)
	if n := d.metric(t, "backupjob_webhook_connections_refused_total", nil); n != 12 {
		t.Errorf("got %v connections counted that had to go, want 12", n)
	}
}

func TestThePlaceOfAConnectionIsFreeAgain(t *testing.T) {
	d := open(t, Options{}, ServerOptions{MaxConnections: 1})
	for range 5 {
		waitFor(t, func() bool { // the server notices the end of the one before
			client := d.caller(nil)
			defer client.CloseIdleConnections()
			response, err := client.Get(d.url + PathConvert) //nolint:noctx // the client has a time-out
			if err == nil {
				_ = response.Body.Close()
			}
			return err == nil
		})
	}
}

// TestHTTP2HasAsManyRequestsAtATimeAsHTTP1 because each may hold as much.
func TestHTTP2HasAsManyRequestsAtATimeAsHTTP1(t *testing.T) {
	d := open(t, Options{}, ServerOptions{HTTP2: true, MaxConnections: 2 * streams})
	for range 2 {
		config := &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost", NextProtos: []string{http2.NextProtoTLS}}
		conn := tls.Client(d.connect(t, net.IPv4(127, 0, 0, 1)), config)
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			t.Fatal(err)
		}
		frame, err := http2.NewFramer(conn, conn).ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		settings, ok := frame.(*http2.SettingsFrame)
		if !ok {
			t.Fatalf("got %v, want the server's settings", frame)
		}
		if n, ok := settings.Value(http2.SettingMaxConcurrentStreams); !ok || n != streams {
			t.Errorf("a connection may have %d requests at a time, want %d", n, streams)
		}
	}
	hungUp(t, d.connect(t, net.IPv4(127, 0, 0, 1)))
}
