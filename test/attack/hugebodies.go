// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"example.com/backupjob-operator/conversion"
	"example.com/backupjob-operator/webhooks"
)

// repeated reads a text again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		copied := copy(p[n:], r.text[r.at:])
		n += copied
		r.at = (r.at + copied) % len(r.text)
	}
	return n, nil
}

// blank is an object with nothing in it, which is read quickly.
func blank() io.Reader {
	return io.MultiReader(strings.NewReader("{"), &repeated{text: fmt.Sprintf("%4096s", "")})
}

// hugeBody sends one of the bodies that are more than a server can hold many
// of.
func hugeBody(ctx context.Context, t Target) error {
	bodies := []struct {
		path string
		size int64 // -1 is endless
		body io.Reader
	}{
		{webhooks.PathValidateBackupJob, 1 << 40, blank()},
		{webhooks.PathMutateBackupJob, 4 << 20, io.LimitReader(blank(), 4<<20)},
		{webhooks.PathMutateBackupJob, -1, blank()},
		{webhooks.PathConvert, conversion.DefaultMaxBodyBytes, io.LimitReader(blank(), conversion.DefaultMaxBodyBytes)},
		{webhooks.PathConvert, -1, blank()},
	}
	b := bodies[rand.IntN(len(bodies))] //nolint:gosec // any order will do
	return refused(t.post(ctx, b.path, b.body, b.size))
}

// refused is nil if the server said no, or hung up on what it does not read.
// It answers a review that it cannot decode with a review that says so.
func refused(code int, err error) error {
	if err == nil && code < http.StatusOK {
		return fmt.Errorf("the server answered %d", code)
	}
	return nil // or it was hung up on
}
