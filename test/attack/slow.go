// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"example.com/backupjob-operator/webhooks"
)

// slowHeaders begins a request and never comes to its end.
func slowHeaders(ctx context.Context, t Target) error {
	return dribble(ctx, t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n", webhooks.PathValidateBackupJob), "X-A: b\r\n")
}

// slowBody sends as much as the server holds of a body before the request has
// its turn, and then next to nothing.
func slowBody(ctx context.Context, t Target) error {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", webhooks.PathValidateBackupJob)
	return dribble(ctx, t, head+string(bytes.Repeat([]byte(" "), 60<<10)), " ")
}

// dribble sends a first part, and a further one five times a second, until the
// server answers or hangs up.
func dribble(ctx context.Context, t Target, first, further string) error {
	conn, err := t.connect(ctx)
	if err != nil {
		return err
	}
	secure, err := t.handshake(ctx, conn)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(secure, first); err != nil {
		return err
	}
	for until := time.Now().Add(patience); time.Now().Before(until); {
		answered, err := hears(secure)
		if err != nil || answered {
			return err
		}
		if _, err := io.WriteString(secure, further); err != nil {
			return nil //nolint:nilerr // the server has hung up, as it should
		}
	}
	return errors.New("the server let a slow client be")
}

// hears waits a little for the server, and reports whether it has answered or
// hung up.
func hears(conn net.Conn) (bool, error) {
	if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		return false, err
	}
	_, err := conn.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrDeadlineExceeded), nil
}
