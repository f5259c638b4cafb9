// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bufio"
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
func (c *http2Client) begin(further ...hpack.HeaderField) error {
	return errors.Join(c.open(false, further...), c.WriteData(c.stream, false, []byte("{")))
}

// open opens a stream, which may be all of it.
func (c *http2Client) open(all bool, further ...hpack.HeaderField) error {
	c.head.Reset()
	for _, field := range append([]hpack.HeaderField{
		{Name: ":method", Value: http.MethodPost}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "x"}, {Name: ":path", Value: PathConvert},
	}, further...) {
		if err := c.encode.WriteField(field); err != nil {
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

// hungUp waits for the end of the connection.
func (c *http2Client) hungUp(t *testing.T) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case _, open := <-c.answers:
			if !open {
				return
			}
		case <-late:
			t.Fatal("the connection is still there")
		}
	}
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

// TestALargeAnswerCanBeRead: a client tells of each few KiB that it has read,
// whether it reads at once or has let much of it come first.
func TestALargeAnswerCanBeRead(t *testing.T) {
	const size = 16 << 20
	written := make(chan struct{}, 1)
	d := open(t, Options{}, ServerOptions{HTTP2: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := strings.Repeat("x", size/16)
		for i := range 16 {
			_, _ = io.WriteString(w, text)
			if i == 2 { // less than a client lets come
				written <- struct{}{}
			}
		}
	})})
	for range 2 {
		response, err := d.client.Get(d.url) //nolint:noctx // the client has a time-out
		if err != nil {
			t.Fatal(err)
		}
		<-written
		small := struct{ io.Reader }{bufio.NewReader(response.Body)} // 4 KiB at a time
		n, err := io.Copy(struct{ io.Writer }{io.Discard}, small)
		_ = response.Body.Close()
		if err != nil || n != size || response.ProtoMajor != 2 {
			t.Errorf("got %d bytes by %s, %v", n, response.Proto, err)
		}
	}
	if n := d.metric(t, "backupjob_webhook_connections_flooded_total", nil); n != 0 {
		t.Errorf("%v connections were taken for a flood", n)
	}
}

func TestWhoSendsFramesWithoutEndIsHungUpOn(t *testing.T) {
	for name, send := range map[string]func(c *http2Client) error{
		"requests that are taken back": func(c *http2Client) error {
			return errors.Join(c.begin(), c.WriteRSTStream(c.stream, http2.ErrCodeCancel))
		},
		"requests that no review comes with": func(c *http2Client) error { return c.open(true) },
		"heads of some size": func(c *http2Client) error {
			return errors.Join(c.begin(hpack.HeaderField{Name: "x", Value: strings.Repeat("é", pieceBytes), Sensitive: true}), c.WriteRSTStream(c.stream, http2.ErrCodeCancel))
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
			c.hungUp(t)
			if n := d.metric(t, "backupjob_webhook_connections_flooded_total", nil); n != 1 {
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
	for range 2 * mostFrames {
		_ = all[0].WritePing(false, [8]byte{})
	}
	all[0].hungUp(t)
	for _, c := range all[1:] {
		_ = c.WritePing(false, [8]byte{})
		c.hungUp(t)
	}
}

func TestFramesAreCountedHoweverTheyCome(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(http2.ClientPreface)
	w := http2.NewFramer(&text, nil)
	if err := errors.Join(
		w.WriteSettings(), w.WriteData(1, false, make([]byte, pieceBytes)), w.WriteData(1, false, make([]byte, pieceBytes-1)),
		w.WriteData(1, false, nil), w.WriteData(1, true, make([]byte, 1<<14)), w.WritePing(true, [8]byte{1}), w.WriteRSTStream(1, 1),
		w.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: make([]byte, pieceBytes)}), w.WriteWindowUpdate(0, 1),
	); err != nil {
		t.Fatal(err)
	}
	want := spent{frames: 6, windows: 1}
	for size := 1; size <= text.Len(); size = 2*size + 1 {
		c, found := &countedConn{skip: len(http2.ClientPreface)}, spent{}
		for chunk := range slices.Chunk(text.Bytes(), size) {
			next := c.count(chunk)
			found.frames, found.windows = found.frames+next.frames, found.windows+next.windows
		}
		if found != want {
			t.Errorf("in pieces of %d bytes: counted %+v, want %+v", size, found, want)
		}
	}
}
