// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"net"
	"slices"
	"sync"

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

	mu  sync.Mutex
	all int
	of  map[string][]*connection // by address, the oldest first
}

type connection struct {
	net.Conn
	address string
	among   *connections
}

func newConnections(listener net.Listener, most int, refused prometheus.Counter) *connections {
	return &connections{Listener: listener, most: most, refused: refused, of: map[string][]*connection{}}
}

// addressOf is where a connection comes from, without the port.
func addressOf(conn net.Conn) string {
	address := conn.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		next := &connection{Conn: conn, among: c, address: addressOf(conn)}
		surplus := c.add(next)
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
func (c *connections) add(next *connection) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// Close gives the place back.
func (c *connection) Close() error {
	c.among.remove(c)
	return c.Conn.Close()
}
