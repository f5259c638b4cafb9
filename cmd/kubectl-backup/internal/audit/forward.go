// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// forwarder is the Dialer that 'kubectl port-forward' is.
type forwarder struct{ config *rest.Config }

// forwarded is a connection whose end ends the forwarding.
type forwarded struct {
	net.Conn
	stop func()
}

func (f *forwarded) Close() error {
	defer f.stop()
	return f.Conn.Close()
}

// Dial opens a port of this machine that leads to the Pod's, and connects to
// it.
func (f forwarder) Dial(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error) {
	ended, opened, failed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	stop := func() { close(ended) }
	forward, err := f.forward(pod, port, ended, opened)
	if err != nil {
		return nil, err
	}
	go func() { failed <- forward.ForwardPorts() }()
	select {
	case <-opened:
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		stop()
		return nil, fmt.Errorf("the API server did not open the way in time: %w", ctx.Err())
	}
	ports, err := forward.GetPorts()
	if err != nil {
		stop()
		return nil, err
	}
	var local net.Dialer
	conn, err := local.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local))))
	if err != nil {
		stop()
		return nil, err
	}
	return &forwarded{Conn: conn, stop: stop}, nil
}

// forward speaks WebSocket to the API server, and SPDY to an older one.
func (f forwarder) forward(pod *corev1.Pod, port int, ended, opened chan struct{}) (*portforward.PortForwarder, error) {
	server, _, err := rest.DefaultServerUrlFor(f.config)
	if err != nil {
		return nil, err
	}
	address := server.JoinPath("api/v1/namespaces", pod.Namespace, "pods", pod.Name, "portforward")
	transport, upgrader, err := spdy.RoundTripperFor(f.config)
	if err != nil {
		return nil, err
	}
	older := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, address)
	newer, err := portforward.NewSPDYOverWebsocketDialer(address, f.config)
	if err != nil {
		return nil, err
	}
	dialer := portforward.NewFallbackDialer(newer, older, func(error) bool { return true })
	return portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}, ended, opened, io.Discard, io.Discard)
}
