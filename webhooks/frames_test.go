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
	"slices"
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

func (d *door) http2Client(t *testing.T) *http2Client {
	t.Helper()
	conn := tls.Client(d.connect(t, net.IPv4(127, 0, 0, 1)), &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost", NextProtos: []string{http2.NextProtoTLS}})
	c := &http2Client{Framer: http2.NewFramer(conn, conn), stream: ^uint32(0), answers: make(chan uint32, 2*mostSmall)}
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

// ask sends a whole request and waits for its answer.
func (c *http2Client) ask(t *testing.T) {
	t.Helper()
	if err := errors.Join(c.begin(), c.WriteData(c.stream, true, []byte("}"))); err != nil {
		t.Fatal(err)
	}
	if got := <-c.answers; got != c.stream {
		t.Fatalf("got the answer of stream %d, want that of %d", got, c.stream)
	}
}

func openHTTP2(t *testing.T) *door {
	t.Helper()
	return open(t, Options{}, ServerOptions{HTTP2: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	})})
}

func TestAnsweredRequestsAreNeverTooMany(t *testing.T) {
	c := openHTTP2(t).http2Client(t)
	for range mostSmall {
		c.ask(t)
	}
}

func TestWhoSendsSmallFramesWithoutEndIsHungUpOn(t *testing.T) {
	for name, send := range map[string]func(c *http2Client) error{
		"requests that are taken back": func(c *http2Client) error {
			return errors.Join(c.begin(), c.WriteRSTStream(c.stream, http2.ErrCodeCancel))
		},
		"pings":    func(c *http2Client) error { return c.WritePing(false, [8]byte{}) },
		"settings": func(c *http2Client) error { return c.WriteSettings() },
		"windows":  func(c *http2Client) error { return c.WriteWindowUpdate(0, 1) },
		"priorities": func(c *http2Client) error {
			return c.WritePriority(1, http2.PriorityParam{StreamDep: 3})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := openHTTP2(t).http2Client(t)
			c.ask(t)
			for range 2 * mostSmall { // some of which it may not hear
				_ = send(c)
			}
			for range c.answers { // until it is hung up on
			}
		})
	}
}

func TestSmallFramesAreCountedHoweverTheyCome(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(http2.ClientPreface)
	w := http2.NewFramer(&text, nil)
	if err := errors.Join(
		w.WriteSettings(), w.WriteData(1, false, make([]byte, small)), w.WriteData(1, false, make([]byte, small-1)),
		w.WriteData(1, false, nil), w.WriteData(1, true, make([]byte, 1<<14)), w.WritePing(true, [8]byte{1}), w.WriteRSTStream(1, 1),
	); err != nil {
		t.Fatal(err)
	}
	const want = 5
	for size := 1; size <= text.Len(); size = 2*size + 1 {
		f, found := &frames{skip: len(http2.ClientPreface)}, 0
		for chunk := range slices.Chunk(text.Bytes(), size) {
			found += f.count(chunk)
		}
		if found != want {
			t.Errorf("in pieces of %d bytes: counted %d small frames, want %d", size, found, want)
		}
	}
}

func TestTheAllowanceOfSmallFrames(t *testing.T) {
	begun := time.Unix(1000, 0)
	a := &allowance{}
	spend := func(frames int, at time.Duration, want bool) {
		t.Helper()
		if got := a.spend(frames, begun.Add(at)); got != want {
			t.Errorf("%d frames after %s: got %t, want %t; left are %d", frames, at, got, want, a.left)
		}
	}
	spend(mostSmall, 0, true)
	spend(1, time.Second, false)
	a.earn()
	spend(perAnswer-1, 2*time.Second, true)
	spend(1, 3*time.Second, false)
	spend(mostSmall, renewal, true)
	for range mostSmall {
		a.earn()
	}
	spend(mostSmall+1, renewal+time.Second, false) // nobody saves up
}
