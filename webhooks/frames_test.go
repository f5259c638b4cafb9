// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// http2Client sends the frames that a test wants.
type http2Client struct {
	*http2.Framer
	head   bytes.Buffer
	encode *hpack.Encoder
	stream uint32
	// answers has the end of each answer, and is closed with the connection.
	answers chan uint32
}

func (d *door) http2Client(t *testing.T, from net.IP) *http2Client {
	t.Helper()
	conn := tls.Client(d.connect(t, from), &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost", NextProtos: []string{http2.NextProtoTLS}})
	c := &http2Client{Framer: http2.NewFramer(conn, conn), stream: ^uint32(0), answers: make(chan uint32, 2*mostFrames)}
	c.encode = hpack.NewEncoder(&c.head)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.WriteSettings(), c.WriteSettingsAck()); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.answers)
		for {
			frame, err := c.ReadFrame()
			if err != nil {
				return
			}
			switch head := frame.Header(); head.Type {
			case http2.FrameHeaders, http2.FrameData:
				if head.Flags.Has(http2.FlagDataEndStream) { // the same flag of both
					c.answers <- head.StreamID
				}
			default:
			}
		}
	}()
	return c
}

// begin opens a stream and sends part of its body.
func (c *http2Client) begin(further ...[2]string) error {
	return errors.Join(c.open(false, further...), c.WriteData(c.stream, false, []byte("{")))
}

// open opens a stream, which may be all of it.
func (c *http2Client) open(all bool, further ...[2]string) error {
	c.head.Reset()
	for _, field := range append([][2]string{{":method", http.MethodPost}, {":scheme", "https"}, {":authority", "x"}, {":path", PathConvert}}, further...) {
		if err := c.encode.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			return err
		}
	}
	c.stream += 2 // those of a client are odd
	return c.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.head.Bytes(), EndHeaders: true, EndStream: all})
}

// ask sends a whole request and waits for its answer.
func (c *http2Client) ask() error {
	if err := errors.Join(c.begin(), c.WriteData(c.stream, true, []byte("}"))); err != nil {
		return err
	}
	if got, ok := <-c.answers; !ok || got != c.stream {
		return fmt.Errorf("got the answer of stream %d, want that of %d", got, c.stream)
	}
	return nil
}

var attacker, neighbour = net.IPv4(127, 0, 0, 2), net.IPv4(127, 0, 0, 3)

// openHTTP2 hangs up on nobody for being slow.
func openHTTP2(t *testing.T) *door {
	t.Helper()
	return open(t, Options{}, ServerOptions{HTTP2: true, IdleTimeout: time.Hour, ReadTimeout: time.Hour, WriteTimeout: time.Hour})
}

func TestAnsweredRequestsAreNeverTooMany(t *testing.T) {
	c := openHTTP2(t).http2Client(t, neighbour)
	for range mostFrames {
		if err := c.ask(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALargeAnswerCanBeRead: a client tells of each few KiB that it has read.
func TestALargeAnswerCanBeRead(t *testing.T) {
	text := strings.Repeat("x", 16<<20)
	d := open(t, Options{}, ServerOptions{HTTP2: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, text)
	})})
	response, err := d.client.Get(d.url) //nolint:noctx // the client has a time-out
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got, err := io.ReadAll(response.Body); err != nil || len(got) != len(text) || response.ProtoMajor != 2 {
		t.Errorf("got %d bytes by %s, %v", len(got), response.Proto, err)
	}
}

func TestWhoSendsFramesWithoutEndIsHungUpOn(t *testing.T) {
	for name, send := range map[string]func(c *http2Client) error{
		"requests that are taken back": func(c *http2Client) error {
			return errors.Join(c.begin(), c.WriteRSTStream(c.stream, http2.ErrCodeCancel))
		},
		"requests that no review comes with": func(c *http2Client) error { return c.open(true) },
		"heads of some size": func(c *http2Client) error {
			return errors.Join(c.begin([2]string{"x", strings.Repeat("é", piece)}), c.WriteRSTStream(c.stream, http2.ErrCodeCancel))
		},
		"pings":      func(c *http2Client) error { return c.WritePing(false, [8]byte{}) },
		"settings":   func(c *http2Client) error { return c.WriteSettings() },
		"windows":    func(c *http2Client) error { return c.WriteWindowUpdate(0, 1) },
		"priorities": func(c *http2Client) error { return c.WritePriority(1, http2.PriorityParam{StreamDep: 3}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := openHTTP2(t)
			c, other := d.http2Client(t, attacker), d.http2Client(t, neighbour)
			if err := errors.Join(c.ask(), other.ask()); err != nil {
				t.Fatal(err)
			}
			for range 2 * mostFrames { // some of which it may not hear
				_ = send(c)
			}
			for range c.answers { // until it is hung up on
			}
			if n := d.metric(t, "backupjob_webhook_connections_refused_total", nil); n != 1 {
				t.Errorf("got %v connections counted", n)
			}
			if err := other.ask(); err != nil {
				t.Errorf("the neighbour's connection: %v", err)
			}
			for from, want := range map[string]string{attacker.String(): "http/1.1", neighbour.String(): http2.NextProtoTLS} {
				conn := tls.Client(d.connect(t, net.ParseIP(from)), &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost", NextProtos: []string{http2.NextProtoTLS, "http/1.1"}})
				if err := conn.HandshakeContext(t.Context()); err != nil || conn.ConnectionState().NegotiatedProtocol != want {
					t.Errorf("%s is spoken to by %q, %v; want %q", from, conn.ConnectionState().NegotiatedProtocol, err, want)
				}
			}
		})
	}
}

// TestMoreConnectionsAreNoMoreFrames: an address has one allowance.
func TestMoreConnectionsAreNoMoreFrames(t *testing.T) {
	d := openHTTP2(t)
	var all []*http2Client
	for range 4 {
		all = append(all, d.http2Client(t, attacker))
	}
	for range mostFrames / 2 {
		for _, c := range all {
			_ = c.WritePing(false, [8]byte{})
		}
	}
	for _, c := range all {
		for range c.answers { // until it is hung up on
		}
	}
}

func TestFramesAreCountedHoweverTheyCome(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(http2.ClientPreface)
	w := http2.NewFramer(&text, nil)
	if err := errors.Join(
		w.WriteSettings(), w.WriteData(1, false, make([]byte, piece)), w.WriteData(1, false, make([]byte, piece-1)),
		w.WriteData(1, false, nil), w.WriteData(1, true, make([]byte, 1<<14)), w.WritePing(true, [8]byte{1}), w.WriteRSTStream(1, 1),
		w.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: make([]byte, piece)}),
	); err != nil {
		t.Fatal(err)
	}
	const want = 6
	for size := 1; size <= text.Len(); size = 2*size + 1 {
		f, found := &frames{skip: len(http2.ClientPreface)}, 0
		for chunk := range slices.Chunk(text.Bytes(), size) {
			found += f.count(chunk)
		}
		if found != want {
			t.Errorf("in pieces of %d bytes: counted %d frames, want %d", size, found, want)
		}
	}
}
