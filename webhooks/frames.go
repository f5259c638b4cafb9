// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"golang.org/x/net/http2"
)

// Most frames of HTTP/2 cost the server work and the client next to nothing:
// requests that are taken back at once (CVE-2023-44487) or that the server has
// to take back, pings, settings, windows, bodies in tiny pieces. The library
// bounds none of them, and those of a few connections keep all others from the
// processor. So all are counted but pieces of a body of some size.
const (
	// piece is the smallest piece of a body, in bytes, that is not counted.
	piece = 1 << 10
	// perAnswer is how many frames each answered request brings: it has a head,
	// a last piece, and a window or two.
	perAnswer = 8
	// perWindow is how many bytes of an answer bring one, as the client tells
	// what it has read.
	perWindow = 1 << 10
)

type framesKey struct{}

// takenBack reports whether nobody waits for the answer any more. With HTTP/1
// who takes a request back has to give up the connection too, and a request that
// came too slowly looks the same and is told so.
func takenBack(r *http.Request) bool { return r.ProtoMajor > 1 && r.Context().Err() != nil }

// answered is called when a request that the guard let in is over.
func answered(r *http.Request) {
	if f, ok := r.Context().Value(framesKey{}).(*frames); ok && !takenBack(r) {
		f.server.allowances.earn(f.address, perAnswer)
	}
}

// frames is a connection of HTTP/2 whose frames are counted before the library
// reads them.
type frames struct {
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
func (f *frames) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	found := f.count(p[:n])
	if found == 0 {
		return n, err
	}
	ok, first := f.server.allowances.spend(f.address, found, time.Now())
	if ok {
		return n, err
	}
	f.server.refused.Inc()
	if first { // and not for each connection
		f.server.options.Log.Info("Hung up on a client that sends frames of HTTP/2 without end; its next connections get HTTP/1.1", "address", f.address)
	}
	_ = f.NetConn().Close() // without the alert of TLS, which may have to wait
	return 0, errTooManyFrames
}

func (f *frames) Write(p []byte) (int, error) {
	n, err := f.Conn.Write(p)
	if n >= perWindow {
		f.server.allowances.earn(f.address, n/perWindow)
	}
	return n, err
}

// The head of a frame: length, type, flags and stream (RFC 9113, 4.1).
const (
	lengthOfHead = 9
	atType       = 3
)

// count returns how many frames begin in the text that are counted.
func (f *frames) count(text []byte) (found int) {
	for len(text) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(text))
			f.skip -= n
			text = text[n:]
			continue
		}
		n := min(lengthOfHead-len(f.head), len(text))
		f.head = append(f.head, text[:n]...)
		text = text[n:]
		if len(f.head) < lengthOfHead {
			return found
		}
		for _, b := range f.head[:atType] {
			f.skip = f.skip<<8 | int(b)
		}
		if http2.FrameType(f.head[atType]) != http2.FrameData || f.skip < piece {
			found++
		}
		f.head = f.head[:0]
	}
	return found
}

// offerHTTP2 has the server speak HTTP/2 too, with frames that are counted.
// net/http speaks it by itself, but only on a connection of its own making.
//
//nolint:staticcheck // and so calls this deprecated
func (s *Server) offerHTTP2() error {
	library := &http2.Server{}
	if err := http2.ConfigureServer(s.http, library); err != nil {
		return err
	}
	if s.http.TLSNextProto == nil {
		s.http.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	s.http.TLSNextProto[http2.NextProtoTLS] = func(server *http.Server, conn *tls.Conn, handler http.Handler) {
		ctx := context.Background()
		// net/http hands the connection's context down by this method, as it
		// does to the library.
		if of, ok := handler.(interface{ BaseContext() context.Context }); ok {
			ctx = of.BaseContext()
		}
		f := &frames{Conn: conn, server: s, address: addressOf(conn), skip: len(http2.ClientPreface)}
		library.ServeConn(f, &http2.ServeConnOpts{Context: context.WithValue(ctx, framesKey{}, f), Handler: handler, BaseConfig: server})
	}
	withoutHTTP2 := s.http.TLSConfig.Clone()
	withoutHTTP2.NextProtos = []string{"http/1.1"}
	s.http.TLSConfig.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if s.allowances.distrusted(addressOf(hello.Conn), time.Now()) {
			return withoutHTTP2, nil
		}
		return nil, nil //nolint:nilnil // which means the ordinary one
	}
	return nil
}
