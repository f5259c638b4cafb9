// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// server is a process with our webhooks and the peers.
type server struct {
	greeting
	command *exec.Cmd
	input   io.Closer
	client  *http.Client
}

// startServer starts one that ends with stop.
func startServer(ctx context.Context, args ...string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{command: exec.CommandContext(ctx, self, append([]string{"serve"}, args...)...)}
	// The log goes where writing is real and reading is not needed.
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer nowhere.Close() //nolint:errcheck // the process has its own
	s.command.Stderr = nowhere
	if s.input, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	if err := json.NewDecoder(output).Decode(&s.greeting); err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not start: %w", err), s.stop())
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.Bundle)
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: connections,
	}}
	return s, nil
}

func (s *server) stop() error {
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return errors.Join(s.input.Close(), s.command.Wait())
}

func (s *server) url(path string) string { return "https://" + s.Address + path }

// post sends a review and reads the answer to its end.
func (s *server) post(ctx context.Context, path string, body []byte, answer io.Writer) error {
	return s.ask(ctx, http.MethodPost, path, bytes.NewReader(body), answer)
}

func (s *server) get(ctx context.Context, path string, answer io.Writer) error {
	return s.ask(ctx, http.MethodGet, path, http.NoBody, answer)
}

func (s *server) ask(ctx context.Context, method, path string, body io.Reader, answer io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, method, s.url(path), body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	if response.StatusCode != http.StatusOK {
		words, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return fmt.Errorf("%s: %s: %s", path, response.Status, words)
	}
	_, err = io.Copy(answer, response.Body)
	return err
}

// call is a post whose answer nobody looks at.
func (s *server) call(name, path string, body []byte) call {
	return call{name: name, do: func(ctx context.Context) error { return s.post(ctx, path, body, io.Discard) }}
}

// peak is the most memory that the process ever held, in bytes.
func (s *server) peak() (int64, error) { return peakOfProcess(s.command.Process.Pid) }

// peakOfProcess asks the system while the process lives. What is told at its
// end counts the memory of whoever started it too.
func peakOfProcess(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("this system does not tell the memory of a process")
}
