// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"

	"golang.org/x/net/http2"
)

// Most frames of HTTP/2 cost the server work and the client next to nothing:
// requests that are taken back at once (CVE-2023-44487) or that the server has
// to take back, PING, SETTINGS, WINDOW_UPDATE, bodies in tiny pieces. The library
// bounds how many of them wait, and not how many come, and those of a few
// connections keep all others from the processor. So all are counted but DATA of
// some size; whether its stream is open is not known here.
const (
	// pieceBytes is the smallest DATA that is not counted: for less, the library
	// sends no WINDOW_UPDATE.
	pieceBytes = 4 << 10
	// perAnswer is how many frames each answered request brings: HEADERS, the
	// last DATA, and one of what concerns the connection.
	perAnswer = 4
	// windowBytes is how many bytes of an answer bring a WINDOW_UPDATE: of each
	// 4 KiB that it reads, a client in Go sends two.
	windowBytes = 1 << 10
)

type countedKey struct{}

// takenBack reports whether nobody waits for the answer any more. With HTTP/1
// who takes a request back has to give up the connection too, and a request that
// came too slowly looks the same and is told so.
func takenBack(r *http.Request) bool { return r.ProtoMajor > 1 && r.Context().Err() != nil }

// answered is called when a request that the guard let in is over.
func answered(r *http.Request) {
	if c, ok := r.Context().Value(countedKey{}).(*countedConn); ok && !takenBack(r) {
		c.server.allowances.earn(c.address, spent{frames: perAnswer})
	}
}

// countedConn is a connection of HTTP/2 whose frames are counted before the
// library reads them.
type countedConn struct {
	*tls.Conn
	server  *Server
	address string
	// head is what was read of the next frame's head; skip is how much of the
	// frame before it, or of the preface, is still to come.
	head []byte
	skip int
}

var errTooManyFrames = errors.New("too many frames of HTTP/2")

// Read hangs up on who has spent the allowance.
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	found := c.count(p[:n])
	if found == (spent{}) {
		return n, err
	}
	ok, first := c.server.allowances.spend(c.address, found, c.server.options.Clock.Now())
	if ok {
		return n, err
	}
	c.server.flooded.Inc()
	if first { // and not for each connection
		c.server.options.Log.Info("Hung up on a client that sends frames of HTTP/2 without end; its next connections get HTTP/1.1", "address", c.address)
	}
	_ = c.NetConn().Close() // without the alert of TLS, which may have to wait
	return 0, errTooManyFrames
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n >= windowBytes {
		c.server.allowances.earn(c.address, spent{windows: n / windowBytes})
	}
	return n, err
}

// The head of a frame: length, type, flags and stream (RFC 9113, 4.1).
const (
	lengthOfHead = 9
	atType       = 3
)

// count returns what begins in the text and is counted.
func (c *countedConn) count(text []byte) (found spent) {
	for len(text) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(text))
			c.skip -= n
			text = text[n:]
			continue
		}
		n := min(lengthOfHead-len(c.head), len(text))
		c.head = append(c.head, text[:n]...)
		text = text[n:]
		if len(c.head) < lengthOfHead {
			return found
		}
		for _, b := range c.head[:atType] {
			c.skip = c.skip<<8 | int(b)
		}
		switch kind := http2.FrameType(c.head[atType]); {
		case kind == http2.FrameWindowUpdate:
			found.windows++
		case kind != http2.FrameData || c.skip < pieceBytes:
			found.frames++
		}
		c.head = c.head[:0]
	}
	return found
}

// offerHTTP2 has the server speak HTTP/2 too, with frames that are counted.
// net/http speaks it by itself, but only on a connection of its own making. From
// Go 1.27 the library hands each connection to a server of its own, which
// Shutdown may not reach: see the tests of requests in flight before going there.
//
//nolint:staticcheck // which is why it calls ConfigureServer and ServeConn deprecated
func (s *Server) offerHTTP2() error {
	library := &http2.Server{}
	if err := http2.ConfigureServer(s.http, library); err != nil {
		return err
	}
	if s.http.TLSNextProto == nil {
		s.http.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	s.http.TLSNextProto[http2.NextProtoTLS] = func(server *http.Server, conn *tls.Conn, handler http.Handler) {
		// net/http hands the connection's context down by this method, as it
		// does to the library.
		ctx := handler.(interface{ BaseContext() context.Context }).BaseContext()
		c := &countedConn{Conn: conn, server: s, address: addressOf(conn), skip: len(http2.ClientPreface)}
		library.ServeConn(c, &http2.ServeConnOpts{Context: context.WithValue(ctx, countedKey{}, c), Handler: handler, BaseConfig: server})
	}
	withoutHTTP2 := s.http.TLSConfig.Clone()
	withoutHTTP2.NextProtos = []string{"http/1.1"}
	s.http.TLSConfig.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if s.allowances.distrusted(addressOf(hello.Conn), s.options.Clock.Now()) {
			return withoutHTTP2, nil
		}
		return nil, nil //nolint:nilnil // which means the ordinary one
	}
	return nil
}
