// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/backupjob-operator/certs"
	"example.com/backupjob-operator/webhooks"
)

var modes = []webhooks.ReferenceMode{webhooks.ReferencesEnforce, webhooks.ReferencesWarn, webhooks.ReferencesOff}

// webhookOptions are the flags of the webhook server.
type webhookOptions struct {
	logs           logOptions
	kubeconfig     string
	bindAddress    string
	port           int
	certDir        string
	references     string
	clientCA       string
	clientNames    []string
	http2          bool
	shutdownDelay  time.Duration
	metricsAddress string
	healthAddress  string
}

func (o *webhookOptions) addFlags(flags *pflag.FlagSet) {
	o.logs.addFlags(flags)
	flags.StringVar(&o.bindAddress, "bind-address", "",
		"IP `address` that serves the webhooks (default: all)")
	flags.IntVar(&o.port, "port", 9443,
		"`port` that serves the webhooks")
	flags.StringVar(&o.certDir, "cert-dir", "/etc/backupjob/tls",
		"`folder` with tls.crt and tls.key; they may appear later and change at any time")
	flags.StringVar(&o.references, "reference-authorization", string(webhooks.ReferencesEnforce),
		"`mode`: enforce refuses an object whose user may not read the Secrets that it names, warn only says so, off never asks")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "",
		"`file` that says how to reach the API server for that question (default: the Pod's ServiceAccount, else as kubectl does)")
	flags.StringVar(&o.clientCA, "admission-client-ca", "",
		"`file` with the CAs whose client certificates the admission routes demand; it may change (default: they demand none)")
	flags.StringSliceVar(&o.clientNames, "admission-client-name", nil,
		"`name` that such a certificate must carry; may be repeated")
	flags.BoolVar(&o.http2, "enable-http2", false,
		"offer HTTP/2, which the API server does not need")
	flags.DurationVar(&o.shutdownDelay, "shutdown-delay", 0,
		"how long to go on taking requests once asked to stop, while callers learn of it")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080",
		"`address` that serves /metrics; 0 turns it off")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081",
		"`address` that serves /healthz and /readyz; 0 turns it off")
}

func (o *webhookOptions) check() error {
	switch {
	case o.port < 1 || o.port > 65535:
		return fmt.Errorf("--port must be from 1 to 65535, not %d", o.port)
	case !slices.Contains(modes, webhooks.ReferenceMode(o.references)):
		return fmt.Errorf("--reference-authorization must be enforce, warn or off, not %q", o.references)
	case o.certDir == "":
		return errors.New("--cert-dir must name the folder with tls.crt and tls.key")
	case o.shutdownDelay < 0:
		return errors.New("--shutdown-delay may not be negative")
	case (o.clientCA == "") != (len(o.clientNames) == 0):
		return errors.New("--admission-client-ca and --admission-client-name go together: who signs, and whose name is allowed")
	}
	return nil
}

func newWebhookCommand(run func(context.Context, webhookOptions, logr.Logger) error) *cobra.Command {
	o := webhookOptions{}
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Run the webhook server that every write of our kinds goes through",
		Long: `webhook serves the API server over TLS: it fills in defaults, refuses wrong
objects with all their faults in one answer, and converts between v1alpha1 and
v1.

It keeps no state, elects no leader, and starts without the API server. The
API server is only asked, with --reference-authorization, whether the user of a
request may read the Secrets that an object names.`,
	}
	return complete(command, &o, &o.logs, func(ctx context.Context, log logr.Logger) error { return run(ctx, o, log) })
}

// runWebhook serves until ctx ends and what is in flight is finished. Probes,
// metrics and the certificate outlast the server, because they are needed
// while it drains.
func runWebhook(ctx context.Context, o webhookOptions, log logr.Logger) error {
	clientCA, err := o.readClientCA()
	if err != nil {
		return err
	}
	routes, err := o.routes(log, clientCA)
	if err != nil {
		return err
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", net.JoinHostPort(o.bindAddress, strconv.Itoa(o.port)))
	if err != nil {
		return fmt.Errorf("listen for webhooks: %w", err)
	}
	source := certs.NewSource(certs.Options{Dir: o.certDir, Address: listener.Addr().String(), Logger: log.WithName("certs")})
	server, err := webhooks.NewServer(webhooks.ServerOptions{
		Listener:          listener,
		Handler:           routes,
		GetCertificate:    source.GetCertificate,
		AskForCertificate: o.clientCA != "",
		HTTP2:             o.http2,
		Registerer:        ctrlmetrics.Registry,
		ShutdownDelay:     o.shutdownDelay,
		Log:               log.WithName("server"),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	metrics, err := o.metrics(source)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	log.Info("Starting the webhook server", "version", buildVersion(), "referenceAuthorization", o.references)

	asked, stopServer := context.WithCancel(ctx)
	defer stopServer()
	background, stopRest := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRest()
	rest, background := errgroup.WithContext(background)
	rest.Go(func() error { return source.Start(background) })
	if clientCA != nil {
		rest.Go(func() error {
			clientCA.Run(background, 1)
			return nil
		})
	}
	rest.Go(func() error {
		return serveProbes(background, o.healthAddress, func(probe *http.Request) error {
			if asked.Err() != nil {
				return errors.New("the process was asked to stop")
			}
			return source.Ready(probe)
		})
	})
	if metrics != nil {
		rest.Go(func() error { return metrics.Start(background) })
	}
	// What fails of the rest, such as a port that is taken, ends the server.
	context.AfterFunc(background, stopServer)
	err = server.Run(asked)
	stopRest()
	return errors.Join(err, rest.Wait())
}

// routes are the handlers of everything that the API server calls.
func (o *webhookOptions) routes(log logr.Logger, clientCA *dynamiccertificates.DynamicFileCAContent) (http.Handler, error) {
	options := webhooks.Options{
		Log:        log,
		Registerer: ctrlmetrics.Registry,
		References: webhooks.ReferenceMode(o.references),
	}
	var err error
	if options.References != webhooks.ReferencesOff {
		if options.Reviewer, err = o.reviewer(); err != nil {
			return nil, err
		}
	}
	if clientCA != nil {
		options.Clients = &webhooks.Clients{Names: o.clientNames, CAs: func() *x509.CertPool {
			verify, _ := clientCA.VerifyOptions() // it has read some
			return verify.Roots
		}}
	}
	routes, err := webhooks.Routes(options)
	if err != nil {
		return nil, fmt.Errorf("set up the webhooks: %w", err)
	}
	return routes, nil
}

// reviewer makes no connection before its first question.
func (o *webhookOptions) reviewer() (webhooks.Reviewer, error) {
	config, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%w; or set --reference-authorization=off", err)
	}
	// The API server is asked once per Secret of a write that touches one. A
	// limit of ours would only make writers wait for each other.
	config.QPS = -1
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("set up the client for access reviews: %w", err)
	}
	return client.SubjectAccessReviews(), nil
}

// readClientCA reads the file now, so that a wrong one is told at the start.
// Run follows it from then on, and keeps the last good one. Nil means that no
// client certificates are demanded.
func (o *webhookOptions) readClientCA() (*dynamiccertificates.DynamicFileCAContent, error) {
	if o.clientCA == "" {
		return nil, nil
	}
	file, err := dynamiccertificates.NewDynamicCAContentFromFile("admission-client-ca", o.clientCA)
	if err != nil {
		return nil, fmt.Errorf("read --admission-client-ca: %w", err)
	}
	return file, nil
}

// metrics is nil if they are turned off.
func (o *webhookOptions) metrics(source *certs.Source) (metricsserver.Server, error) {
	if err := ctrlmetrics.Registry.Register(source); err != nil {
		return nil, fmt.Errorf("register the metric of the certificate: %w", err)
	}
	server, err := metricsserver.NewServer(metricsserver.Options{BindAddress: o.metricsAddress}, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("set up the metrics: %w", err)
	}
	return server, nil
}
