// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// Of HTTP/2, small frames are all that cost the server work and the client
// next to nothing: requests that are taken back at once (CVE-2023-44487), pings,
// settings, windows, bodies byte by byte. The library bounds none of them, and
// those of a few connections keep all others from the processor. A request of an
// API server has three or four, and one that runs out of time two.
const (
	// small is less than this, in bytes.
	small = 1 << 10
	// mostSmall is how many of them a connection may send within renewal.
	mostSmall = 256
	renewal   = 10 * time.Second
	// perAnswer is how many more each answered request brings.
	perAnswer = 8
)

// allowance is how many small frames a connection may send yet.
type allowance struct {
	mu   sync.Mutex
	left int
	full time.Time // when it was renewed
}

func (a *allowance) spend(frames int, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.full) >= renewal {
		a.left, a.full = mostSmall, now
	}
	a.left -= frames
	return a.left >= 0
}

func (a *allowance) earn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = min(a.left+perAnswer, mostSmall)
}

type allowanceKey struct{}

// takenBack reports whether nobody waits for the answer any more. With HTTP/1
// who takes a request back has to give up the connection too, and a request that
// came too slowly looks the same and is told so.
func takenBack(r *http.Request) bool { return r.ProtoMajor > 1 && r.Context().Err() != nil }

// answered is called at the end of a request.
func answered(r *http.Request) {
	if a, ok := r.Context().Value(allowanceKey{}).(*allowance); ok && !takenBack(r) {
		a.earn()
	}
}

// frames is the client's side of a connection of HTTP/2, where frames are
// counted before the library reads them.
type frames struct {
	*tls.Conn
	allowance *allowance
	// head is what was read of the next frame's head; skip is how much of the
	// frame before it, or of the preface, is still to come.
	head []byte
	skip int
}

const (
	headOfFrame = 9 // RFC 9113, 4.1: length, type, flags, stream
	lengthBytes = 3
)

var errTooManyFrames = errors.New("too many small frames")

// Read hangs up on who has spent the allowance.
func (f *frames) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if found := f.count(p[:n]); found > 0 && !f.allowance.spend(found, time.Now()) {
		if conn, ok := f.NetConn().(*connection); ok {
			conn.among.distrust(conn.address, time.Now())
		}
		_ = f.NetConn().Close() // without the alert of TLS, which may have to wait
		return 0, errTooManyFrames
	}
	return n, err
}

// count returns how many small frames begin in the text.
func (f *frames) count(text []byte) (found int) {
	for len(text) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(text))
			f.skip -= n
			text = text[n:]
			continue
		}
		n := min(headOfFrame-len(f.head), len(text))
		f.head = append(f.head, text[:n]...)
		text = text[n:]
		if len(f.head) < headOfFrame {
			return found
		}
		for _, b := range f.head[:lengthBytes] {
			f.skip = f.skip<<8 | int(b)
		}
		f.head = f.head[:0]
		if f.skip < small {
			found++
		}
	}
	return found
}

// offerHTTP2 has the server speak HTTP/2 too, with frames that are counted.
func offerHTTP2(server *http.Server) error {
	library := &http2.Server{}
	if err := http2.ConfigureServer(server, library); err != nil {
		return err
	}
	server.TLSNextProto[http2.NextProtoTLS] = func(server *http.Server, conn *tls.Conn, handler http.Handler) {
		ctx := context.Background()
		// net/http hands the connection's context down by this method, as it
		// does to the library.
		if of, ok := handler.(interface{ BaseContext() context.Context }); ok {
			ctx = of.BaseContext()
		}
		allowance := &allowance{}
		library.ServeConn(&frames{Conn: conn, allowance: allowance, skip: len(http2.ClientPreface)}, &http2.ServeConnOpts{
			Context: context.WithValue(ctx, allowanceKey{}, allowance), Handler: handler, BaseConfig: server,
		})
	}
	return nil
}
