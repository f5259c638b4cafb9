// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"time"
)

// Phase says how far a cluster is.
type Phase string

// Phases of a cluster.
const (
	Starting Phase = "Starting"
	Ready    Phase = "Ready"
	Failed   Phase = "Failed"
)

// Status is what the supervisor knows about its cluster.
type Status struct {
	// Node is false where the control plane runs alone.
	Node       bool
	Phase      Phase
	Failure    string `json:",omitempty"`
	Components []ComponentStatus
	// Reached maps what is done to the time that it took since the start.
	Reached map[string]time.Duration
}

// ComponentStatus is the state of one component.
type ComponentStatus struct {
	Name string
	// PID is 0 if it does not run.
	PID int
	// Health is "ok", "stopped" or what is wrong.
	Health   string
	Restarts int
}

// Healthy tells whether the cluster is up and all of its components answer.
func (s Status) Healthy() bool {
	for _, c := range s.Components {
		if c.Health != healthOK {
			return false
		}
	}
	return s.Phase == Ready
}

const healthOK = "ok"

// listen serves the commands of other processes on the control socket.
func (s *supervisor) listen() (*http.Server, error) {
	if err := os.RemoveAll(s.layout.controlSocket()); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", s.layout.controlSocket())
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", s.serveStatus)
	mux.HandleFunc("POST /components/{name}/{action}", s.serveAction)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.out.Printf("The control socket failed: %v", err)
		}
	}()
	return server, nil
}

func (s *supervisor) serveStatus(w http.ResponseWriter, r *http.Request) {
	if err := json.NewEncoder(w).Encode(s.status(r.Context())); err != nil {
		s.out.Printf("Answer a question about the status: %v", err)
	}
}

func (s *supervisor) status(ctx context.Context) Status {
	s.mu.Lock()
	status := Status{Node: s.config.Node, Phase: s.phase, Failure: s.failure, Reached: map[string]time.Duration{}}
	maps.Copy(status.Reached, s.took)
	s.mu.Unlock()
	for _, p := range s.processes {
		c := ComponentStatus{Name: p.name, PID: p.pid(), Health: healthOK}
		if err := p.health(ctx); err != nil {
			c.Health = err.Error()
		}
		p.mu.Lock()
		c.Restarts = p.restarts
		p.mu.Unlock()
		status.Components = append(status.Components, c)
	}
	return status
}

// serveAction answers when the action is complete: the component is gone, or
// it is ready and so is what depends on it.
func (s *supervisor) serveAction(w http.ResponseWriter, r *http.Request) {
	p, err := s.find(r.PathValue("name"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if err := s.act(r.Context(), p, r.PathValue("action"), r.URL.Query().Has("kill")); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *supervisor) act(ctx context.Context, p *process, action string, kill bool) error {
	switch action {
	case "stop":
		p.stop(kill)
		return nil
	case "restart":
		p.stop(kill)
	case "start":
	default:
		return fmt.Errorf("unknown action %q", action)
	}
	if err := p.start(); err != nil {
		return err
	}
	if err := p.awaitReady(ctx); err != nil {
		return err
	}
	// What depends on it may need a moment to find it again.
	for _, other := range s.processes {
		if slices.Contains(other.after, p.name) && !errors.Is(other.health(ctx), errStopped) {
			if err := other.awaitReady(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// control is the other end of the socket.
type control struct {
	client *http.Client
}

func newControl(l Layout) control {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", l.controlSocket())
	}
	return control{client: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

func (c control) status(ctx context.Context) (Status, error) {
	var s Status
	body, err := c.do(ctx, http.MethodGet, "/status")
	if err != nil {
		return s, err
	}
	err = json.Unmarshal(body, &s)
	return s, err
}

func (c control) act(ctx context.Context, name, action string, kill bool) error {
	path := "/components/" + name + "/" + action
	if kill {
		path += "?kill"
	}
	_, err := c.do(ctx, http.MethodPost, path)
	return err
}

func (c control) do(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://supervisor"+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(string(bytes.TrimSpace(body)))
	}
	return body, nil
}
