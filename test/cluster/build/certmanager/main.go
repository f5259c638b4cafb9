// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command certmanager runs cert-manager's real controllers and its cainjector
// in one process. cert-manager's own commands live in modules that no Go proxy
// serves; everything that does the work is public and composed here.
//
// Left out, because a single-user test cluster does without: ACME, ingress and
// Gateway API shims, leader election, metrics, and the admission webhook.
package main

import (
	"context"
	"flag"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

type options struct {
	kubeconfig string
	namespace  string
	health     string
	workers    int
}

func main() {
	var o options
	// controller-runtime already owns the flag named kubeconfig.
	flag.StringVar(&o.kubeconfig, "cluster-kubeconfig", os.Getenv(clientcmd.RecommendedConfigPathEnvVar), "kubeconfig of the cluster to serve")
	flag.StringVar(&o.namespace, "cluster-resource-namespace", "cert-manager", "namespace of the Secrets that ClusterIssuers refer to")
	flag.StringVar(&o.health, "health-address", "127.0.0.1:10280", "address at which /readyz says whether all caches are filled")
	flag.IntVar(&o.workers, "workers", 2, "workers per controller")
	klog.InitFlags(nil)
	flag.Parse()
	ctrl.SetLogger(klog.Background())

	ctx := ctrl.SetupSignalHandler()
	if err := run(ctx, o); err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Stopped")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}

// run returns when ctx ends or as soon as one of the two halves fails.
func run(ctx context.Context, o options) error {
	var issuers, injectors atomic.Bool
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return runControllers(ctx, o, &issuers) })
	g.Go(func() error { return runCAInjector(ctx, o, &injectors) })
	g.Go(func() error { return serveHealth(ctx, o.health, &issuers, &injectors) })
	return g.Wait()
}
