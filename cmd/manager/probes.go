// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const probeTimeout = 5 * time.Second

// serveProbes answers the kubelet until ctx ends. The process is alive as long
// as it answers; whether it is ready, the check says, and its reason goes into
// the answer, because the kubelet shows that in the Pod's events.
func serveProbes(ctx context.Context, address string, ready func(*http.Request) error) error {
	if address == "0" || address == "" {
		return nil
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for probes: %w", err)
	}
	server := &http.Server{Handler: probes(ready), ReadTimeout: probeTimeout, WriteTimeout: probeTimeout}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve probes: %w", err)
	}
	return nil
}

func probes(ready func(*http.Request) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}
