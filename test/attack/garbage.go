// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
)

// garbage sends what is no handshake, and expects to be hung up on.
func garbage(ctx context.Context, t Target) error {
	conn, err := t.connect(ctx)
	if err != nil {
		return err
	}
	noise := make([]byte, 2000)
	for i := range noise {
		noise[i] = byte(rand.Uint32()) //nolint:gosec // it only has to be noise
	}
	switch rand.IntN(3) { //nolint:gosec // any order will do
	case 0:
	case 1: // a record of a handshake, whose content is none
		copy(noise, []byte{0x16, 3, 1, 7, 0})
	case 2: // plain HTTP
		copy(noise, "POST /convert HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	if _, err := conn.Write(noise); err != nil {
		return nil //nolint:nilerr // it was hung up on
	}
	answer, _ := io.ReadAll(io.LimitReader(conn, 1<<20))
	if len(answer) > 1<<10 {
		return fmt.Errorf("the server answered garbage with %d bytes", len(answer))
	}
	return nil
}
