// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Command kuberouter is kube-router's real controller of NetworkPolicies. The
// whole kube-router brings routing and a Service proxy, whose dependencies are
// most of it; this is the part that a cluster with a kube-proxy lacks.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// nodeEvery is how often it looks for a node that is not there yet.
const nodeEvery = 200 * time.Millisecond

func main() {
	settings := options.NewKubeRouterConfig()
	settings.EnableIPv4, settings.RunFirewall = true, true
	flag.StringVar(&settings.Kubeconfig, "kubeconfig", os.Getenv(clientcmd.RecommendedConfigPathEnvVar), "kubeconfig of the cluster to serve")
	flag.StringVar(&settings.HostnameOverride, "node", "", "name of this node")
	flag.StringVar(&settings.ClusterIPCIDRs[0], "service-range", settings.ClusterIPCIDRs[0], "addresses of Services")
	health := flag.String("health-address", "127.0.0.1:20244", "address at which /readyz says whether the policies hold")
	klog.InitFlags(nil)
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, settings, *health); err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Stopped")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}

func run(ctx context.Context, settings *options.KubeRouterConfig, health string) error {
	config, err := clientcmd.BuildConfigFromFlags("", settings.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := awaitAddress(ctx, client, settings.HostnameOverride); err != nil {
		return err
	}
	var ready atomic.Bool
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return serveHealth(ctx, health, &ready) })
	g.Go(func() error { return enforce(ctx, client, settings, &ready) })
	return g.Wait()
}

// awaitAddress returns when the kubelet has said which address the node has:
// what comes from there may reach every Pod of the node.
func awaitAddress(ctx context.Context, client kubernetes.Interface, name string) error {
	return wait.PollUntilContextCancel(ctx, nodeEvery, true, func(ctx context.Context) (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			klog.InfoS("Waiting for the node", "reason", err.Error())
			return false, nil
		}
		for _, address := range node.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				return true, nil
			}
		}
		return false, nil
	})
}

// enforce keeps the packet filter as the policies demand until ctx ends. The
// rules stay: without this process they hold for the Pods that are there.
func enforce(ctx context.Context, client kubernetes.Interface, settings *options.KubeRouterConfig, ready *atomic.Bool) error {
	filters, sets, err := netpol.NewIPTablesHandlers(settings)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	controller, err := netpol.NewNetworkPolicyController(client, settings, pods, policies, namespaces, &sync.Mutex{}, filters, sets)
	if err != nil {
		return err
	}
	// Without the objects that are there it would first write rules for none.
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods: controller.PodEventHandler, namespaces: controller.NamespaceEventHandler, policies: controller.NetworkPolicyEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}

	beats := make(chan *healthcheck.ControllerHeartbeat)
	go follow(ctx, beats, controller.RequestFullSync, ready)
	var running sync.WaitGroup
	running.Add(1)
	controller.Run(beats, ctx.Done(), &running)
	return nil
}

// follow reads the beat with which each round of writing rules begins. A second
// one says that the first round is over.
func follow(ctx context.Context, beats <-chan *healthcheck.ControllerHeartbeat, again func(), ready *atomic.Bool) {
	for rounds := 1; ; rounds++ {
		select {
		case <-beats:
		case <-ctx.Done():
			return
		}
		if rounds == 1 {
			again()
			continue
		}
		ready.Store(true)
	}
}
