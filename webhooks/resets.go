// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// mostResets is how many requests in a row may be taken back on a connection of
// HTTP/2: twice as many as there are at a time, so that all may run out of time
// at once. Each is work for the server and none for the client (CVE-2023-44487),
// and the library bounds only how many there are at a time.
const mostResets = 2 * streams

type resetsKey struct{}

// resets counts the requests of a connection that were taken back.
type resets struct {
	conn  net.Conn
	inRow atomic.Int32
}

// withResets goes into the context of each connection.
func withResets(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, resetsKey{}, &resets{conn: conn})
}

// takenBack reports whether nobody waits for the answer any more. With HTTP/1
// who takes a request back has to give up the connection too, and a request that
// came too slowly looks the same and is told so.
func takenBack(r *http.Request) bool { return r.ProtoMajor > 1 && r.Context().Err() != nil }

// countReset is called at the end of a request.
func countReset(r *http.Request) {
	c, ok := r.Context().Value(resetsKey{}).(*resets)
	switch {
	case !ok:
	case !takenBack(r):
		c.inRow.Store(0)
	case c.inRow.Add(1) == mostResets:
		_ = c.conn.Close()
	}
}
