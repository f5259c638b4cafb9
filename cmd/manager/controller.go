// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/controller"
)

const (
	leaderElectionID = "backupjob-operator.example.com"

	// shutdownTimeout leaves a third of the usual grace period of 30 seconds
	// for giving the lease back.
	shutdownTimeout = 20 * time.Second
)

// controllerOptions are the flags of the controller.
type controllerOptions struct {
	logs                    logOptions
	kubeconfig              string
	namespaces              []string
	qps                     float32
	burst                   int
	leaderElect             bool
	leaderElectionNamespace string
	metricsAddress          string
	healthAddress           string
	controller.Options
}

func (o *controllerOptions) addFlags(flags *pflag.FlagSet) {
	o.logs.addFlags(flags)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "",
		"`file` that says how to reach the API server (default: the Pod's ServiceAccount, else as kubectl does)")
	flags.StringSliceVar(&o.namespaces, "namespaces", nil,
		"`names` of the namespaces to work in, separated by commas (default: all)")
	flags.Float32Var(&o.qps, "kube-api-qps", 100,
		"`number` of requests per second to the API server about each kind of object; a negative number means no limit")
	flags.IntVar(&o.burst, "kube-api-burst", 200,
		"`number` of requests that may go out at once before --kube-api-qps holds")
	flags.BoolVar(&o.leaderElect, "leader-elect", false,
		"work only while holding the lease "+leaderElectionID+", so that of several replicas one works; the lease is released on exit")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "",
		"`namespace` of the lease (default: the Pod's own)")
	flags.IntVar(&o.MaxConcurrentReconciles, "max-concurrent-reconciles", 4,
		"`number` of objects of each kind that are worked on at once")
	flags.DurationVar(&o.RetryBaseDelay, "retry-base-delay", 5*time.Millisecond,
		"wait before the first retry after a temporary error of the API server; doubles with each further one")
	flags.DurationVar(&o.RetryMaxDelay, "retry-max-delay", 5*time.Minute,
		"longest wait between two such retries")
	flags.DurationVar(&o.RetryFixedDelay, "retry-fixed-delay", 0,
		"wait the same time before every such retry, for instance 30s (default: off)")
	flags.StringVar(&o.AgentImage, "agent-image", "backup.example.com/backupjob-operator:v0.1.0",
		"`image` from which a run takes /agent; the operator's own")
	flags.StringVar(&o.MySQLImage, "mysql-image", "mysql:8.4.6",
		"`image` with the client that dumps MySQL")
	flags.StringVar(&o.MariaDBImage, "mariadb-image", "mariadb:11.8.3",
		"`image` with the client that dumps MariaDB")
	flags.DurationVar(&o.CleanupTimeout, "cleanup-timeout", 10*time.Minute,
		"how long a deleted object with deletionPolicy Delete waits for its backups to be removed")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080",
		"`address` that serves /metrics; 0 turns it off")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081",
		"`address` that serves /healthz and /readyz; 0 turns it off")
}

// check refuses what would only show as odd behaviour later.
func (o *controllerOptions) check() error {
	switch {
	case o.MaxConcurrentReconciles < 1:
		return errors.New("--max-concurrent-reconciles must be at least 1")
	case o.RetryBaseDelay <= 0 || o.RetryMaxDelay < o.RetryBaseDelay:
		return errors.New("--retry-base-delay must be more than zero, and --retry-max-delay at least as long")
	case o.RetryFixedDelay < 0:
		return errors.New("--retry-fixed-delay may not be negative; zero turns it off")
	case o.CleanupTimeout <= 0:
		return errors.New("--cleanup-timeout must be more than zero")
	case o.qps == 0 || o.qps > 0 && o.burst < 1:
		return errors.New("--kube-api-qps may not be zero, and --kube-api-burst must be at least 1")
	case o.AgentImage == "" || o.MySQLImage == "" || o.MariaDBImage == "":
		return errors.New("--agent-image, --mysql-image and --mariadb-image may not be empty")
	}
	return nil
}

func newControllerCommand(run func(context.Context, controllerOptions, logr.Logger) error) *cobra.Command {
	o := controllerOptions{Options: controller.Options{Clock: clock.RealClock{}}}
	command := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller that drives the Jobs",
		Long: `controller watches BackupJobs and MySQLBackups, their Jobs and those Jobs'
Pods. It creates a Job when a run is due, deletes old ones, and writes what
happened to the status. It never reads a Secret.

It works against any cluster that the webhook server already guards:

  go run ./cmd/manager controller --kubeconfig ~/.kube/config --log-format text`,
	}
	return complete(command, &o, &o.logs, func(ctx context.Context, log logr.Logger) error { return run(ctx, o, log) })
}

// runController works until ctx ends. The process has to end with it, because
// the lease is given back and the next leader starts at once.
func runController(ctx context.Context, o controllerOptions, log logr.Logger) error {
	config, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = o.qps, o.burst
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, backupv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("register the API types: %w", err)
		}
	}
	timeout := shutdownTimeout
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Logger:                        log,
		Cache:                         controller.CacheOptions(o.namespaces),
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       o.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &timeout,
	})
	if err != nil {
		return fmt.Errorf("set up the controller's manager: %w", err)
	}
	if err := errors.Join(
		manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("ping", healthz.Ping),
	); err != nil {
		return fmt.Errorf("set up the health checks: %w", err)
	}
	if err := controller.Setup(manager, o.Options); err != nil {
		return err
	}
	log.Info("Starting the controller", "version", buildVersion(), "leaderElection", o.leaderElect, "namespaces", o.namespaces)
	return work(ctx, manager, log)
}

// work is the manager's Start, which does not look at ctx again until its
// caches are filled, and that may be never: a right may be missing, or the
// API server. Before that nothing runs and no lease is held.
func work(ctx context.Context, manager ctrl.Manager, log logr.Logger) error {
	caches := make(filled)
	if err := manager.Add(caches); err != nil {
		return fmt.Errorf("set up the controller's manager: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case <-caches:
		return <-ended
	case err := <-ended:
		return err
	case <-time.After(time.Second):
		log.Info("Stopped before the first complete list of every kind had come")
		return nil
	}
}

// filled is closed by the manager as soon as its caches are filled.
type filled chan struct{}

// Start implements manager.Runnable.
func (f filled) Start(context.Context) error {
	close(f)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: a replica that
// waits for the lease has filled caches too.
func (filled) NeedLeaderElection() bool { return false }
