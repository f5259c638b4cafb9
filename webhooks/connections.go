// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

// connections bounds how many of them there are at a time. When there is one
// too many, the address that has the most gives up its newest: a crowd from
// one place takes nothing from the others, and what it opens costs no
// handshake.
type connections struct {
	net.Listener
	most    int
	refused prometheus.Counter
	log     logr.Logger

	mu    sync.Mutex
	all   int
	of    map[string][]*connection // by address, the oldest first
	turns turns
}

type connection struct {
	net.Conn
	address string
	among   *connections
	// wait is how long it waits for its turn yet.
	wait time.Duration
}

func newConnections(listener net.Listener, most int, refused prometheus.Counter, log logr.Logger) *connections {
	return &connections{Listener: listener, most: most, refused: refused, log: log, of: map[string][]*connection{}, turns: turns{}}
}

func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		next := &connection{Conn: conn, among: c, address: conn.RemoteAddr().String()}
		if host, _, err := net.SplitHostPort(next.address); err == nil {
			next.address = host
		}
		surplus := c.add(next, time.Now())
		if surplus != nil {
			c.refused.Inc()
			_ = surplus.Close()
		}
		if surplus != next {
			return next, nil
		}
	}
}

// add returns the connection that has to go.
func (c *connections) add(next *connection, now time.Time) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ok bool
	if next.wait, ok = c.turns.wait(next.address, now); !ok {
		return next
	}
	c.all++
	c.of[next.address] = append(c.of[next.address], next)
	if c.all <= c.most {
		return nil
	}
	crowd := c.of[next.address]
	for _, other := range c.of {
		if len(other) > len(crowd) {
			crowd = other
		}
	}
	return crowd[len(crowd)-1]
}

func (c *connections) remove(gone *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.Index(c.of[gone.address], gone)
	if at < 0 {
		return // it was closed before
	}
	c.all--
	c.of[gone.address] = slices.Delete(c.of[gone.address], at, at+1)
	if len(c.of[gone.address]) == 0 {
		delete(c.of, gone.address)
	}
}

// distrust has the next connections of an address wait for their turns.
func (c *connections) distrust(address string, now time.Time) {
	c.mu.Lock()
	fresh := c.turns.distrust(address, now)
	c.mu.Unlock()
	c.refused.Inc()
	if fresh { // and not for each of its connections
		c.log.Info("Hung up on a client that sends too many small frames of HTTP/2; its next connections wait for their turns", "address", address)
	}
}

// Read waits for the turn before the first byte of the handshake.
func (c *connection) Read(p []byte) (int, error) {
	if c.wait > 0 {
		time.Sleep(c.wait)
		c.wait = 0
	}
	return c.Conn.Read(p)
}

// Close gives the place back.
func (c *connection) Close() error {
	c.among.remove(c)
	return c.Conn.Close()
}
