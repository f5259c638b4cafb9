// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// http2Client sends the frames that a test wants.
type http2Client struct {
	*http2.Framer
	head   bytes.Buffer
	encode *hpack.Encoder
	stream uint32
	ended  chan struct{}
}

func (d *door) http2Client(t *testing.T) *http2Client {
	t.Helper()
	conn := tls.Client(d.connect(t, net.IPv4(127, 0, 0, 1)), &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost", NextProtos: []string{http2.NextProtoTLS}})
	c := &http2Client{Framer: http2.NewFramer(conn, conn), stream: ^uint32(0), ended: make(chan struct{})}
	c.encode = hpack.NewEncoder(&c.head)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.WriteSettings(), c.WriteSettingsAck()); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_, _ = io.Copy(io.Discard, conn)
	}()
	return c
}

// begin opens a stream and sends part of its body.
func (c *http2Client) begin() error {
	c.head.Reset()
	for _, field := range [][2]string{{":method", http.MethodPost}, {":scheme", "https"}, {":authority", "x"}, {":path", "/"}} {
		if err := c.encode.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			return err
		}
	}
	c.stream += 2 // those of a client are odd
	return errors.Join(
		c.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.head.Bytes(), EndHeaders: true}),
		c.WriteData(c.stream, false, []byte("{")),
	)
}

func TestWhoTakesAllRequestsBackIsHungUpOn(t *testing.T) {
	done := make(chan struct{}, 2*mostResets)
	d := open(t, Options{}, ServerOptions{HTTP2: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		done <- struct{}{}
	})})
	c := d.http2Client(t)
	takeBack := func(times int) {
		t.Helper()
		for range times {
			if err := errors.Join(c.begin(), c.WriteRSTStream(c.stream, http2.ErrCodeCancel)); err != nil {
				t.Fatal(err)
			}
			<-done // one at a time is what no other limit is about
		}
	}
	takeBack(mostResets - streams)
	if err := errors.Join(c.begin(), c.WriteData(c.stream, true, []byte("}"))); err != nil {
		t.Fatal(err)
	}
	<-done // one that is not taken back begins the count anew
	takeBack(mostResets - streams)
	select {
	case <-c.ended:
		t.Fatal("hung up on too soon")
	default:
	}
	for range 2 * streams { // some of which it may not hear
		_ = errors.Join(c.begin(), c.WriteRSTStream(c.stream, http2.ErrCodeCancel))
	}
	<-c.ended
}
