// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime/debug"
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/backupjob-operator/webhooks"
)

// The paths of what is compared with ours, which have their own.
const (
	prefixOthers = "/bench/"
	pathBytes    = prefixOthers + "bytes"
	pathDecode   = prefixOthers + "decode"
	pathStock    = prefixOthers + "stock"
	pathAllow    = prefixOthers + "allow"
	pathProfile  = prefixOthers + "profile"
	// prefixUnasked is our webhooks with reference authorization off.
	prefixUnasked = prefixOthers + "unasked"
)

// greeting is what the server says when it listens.
type greeting struct {
	Address string
	Bundle  []byte
}

// serve runs our server with the peers beside it, until its input ends. It is
// a process of its own, as in a cluster, so that its memory and its garbage
// are its own.
func serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "`file` of the API server that is asked for rights")
	http2 := flags.Bool("http2", false, "offer HTTP/2 too")
	memoryLimit := flags.Int64("memory-limit", math.MaxInt64, "`bytes` of memory that are enough, as GOMEMLIMIT says it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	debug.SetMemoryLimit(*memoryLimit)
	log := newLog()
	handler, err := routes(*kubeconfig, log)
	if err != nil {
		return err
	}
	certificate, key, err := servingPair()
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server, err := webhooks.NewServer(webhooks.ServerOptions{
		Listener: listener, Handler: handler, Log: log, HTTP2: *http2,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil },
	})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(greeting{Address: listener.Addr().String(), Bundle: certificate}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	return server.Run(ctx)
}

// newLog is the log of the manager.
func newLog() logr.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zapr.NewLogger(zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), zapcore.InfoLevel)))
}

// routes are our webhooks with all their limits, and the peers.
func routes(kubeconfig string, log logr.Logger) (http.Handler, error) {
	unasked, err := webhooks.Routes(webhooks.Options{Log: log, Registerer: prometheus.NewRegistry(), References: webhooks.ReferencesOff})
	if err != nil {
		return nil, err
	}
	ours := unasked
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, err
		}
		config.QPS = -1
		client, err := authorizationclient.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		ours, err = webhooks.Routes(webhooks.Options{Log: log, Registerer: prometheus.NewRegistry(), Reviewer: client.SubjectAccessReviews()})
		if err != nil {
			return nil, err
		}
	}
	stock, err := stockConverter()
	if err != nil {
		return nil, fmt.Errorf("set up controller-runtime's converter: %w", err)
	}
	allow, err := allowAll(log)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(prefixUnasked+"/", http.StripPrefix(prefixUnasked, unasked))
	mux.HandleFunc(pathBytes, copyBytes)
	mux.HandleFunc(pathDecode, copyDecoded)
	mux.Handle(pathStock, stock)
	mux.Handle(pathAllow, allow)
	mux.HandleFunc(pathProfile, pprof.Profile)
	// Nobody goes through two of them.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, prefixOthers) {
			mux.ServeHTTP(w, r)
			return
		}
		ours.ServeHTTP(w, r)
	}), nil
}
