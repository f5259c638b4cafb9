// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
)

// The two versions.
var (
	oldVersion = backupv1alpha1.GroupVersion
	newVersion = backupv1.GroupVersion
)

// fieldManager owns what the commands write.
const fieldManager = "kubectl-backup"

const (
	// patience is how long a server or webhook may be away. A plan is there to
	// tell of it.
	patience     = 2 * time.Minute
	planPatience = 15 * time.Second
	// tryAgain is the first pause; each is twice as long as the one before it,
	// up to tryAgainMost.
	tryAgain     = 200 * time.Millisecond
	tryAgainMost = 5 * time.Second
	// silence is how long the cluster's migrator may take to begin.
	silence = 30 * time.Second
)

// migration is one run of a command.
type migration struct {
	Options

	client   client.WithWatch
	clock    clock.WithTicker
	progress *progress
	patience time.Duration
	silence  time.Duration
}

// connect makes a client. It does not talk to the server yet.
func (o *Options) connect(config *rest.Config) (*migration, error) {
	if o.ChunkSize < 1 || o.QPS < 0 || o.Burst < 1 || o.Concurrency < 0 {
		return nil, exit.Misusef("--chunk-size, --concurrency and --burst must be 1 or more, --qps 0 or more")
	}
	ctrllog.SetLogger(logr.Discard()) // the library prints a stack after a while if it has no logger
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = o.QPS, o.Burst
	if o.QPS == 0 {
		config.QPS = -1
	}
	config.WarningHandler = rest.NoWarnings{} // that v1alpha1 is deprecated is why we are here
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, admissionregistrationv1.AddToScheme, discoveryv1.AddToScheme, storagemigrationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return nil, exit.Misuse(fmt.Errorf("make a client of the kubeconfig: %w", err))
	}
	return &migration{
		Options: *o, client: c, clock: o.Clock, progress: newProgress(o.ErrOut, o.Clock), patience: patience, silence: silence,
	}, nil
}

// mapper knows the kinds that the commands use, so that nothing has to ask the
// server for all that it serves.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range cluster.Kinds {
		m.Add(newVersion.WithKind(kind.Name), meta.RESTScopeNamespace)
		m.Add(oldVersion.WithKind(kind.Name), meta.RESTScopeNamespace)
	}
	m.Add(discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"), meta.RESTScopeNamespace)
	m.Add(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	m.Add(storagemigrationv1.SchemeGroupVersion.WithKind("StorageVersionMigration"), meta.RESTScopeRoot)
	m.Add(admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"), meta.RESTScopeRoot)
	m.Add(admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), meta.RESTScopeRoot)
	return m
}

// passing says whether an error goes away by itself: the server is busy or
// restarts, or a webhook cannot be reached, which the server calls an internal
// error.
func passing(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) ||
		utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsTimeout(err)
}

// retry does something again while its error passes by itself, for as long as
// the patience lasts. waiting is told what it waits for, and "" when it goes on.
func (m *migration) retry(ctx context.Context, waiting func(string), do func() error) error {
	begun, pause, waited := m.clock.Now(), tryAgain, false
	for {
		err := do()
		if err == nil || !passing(err) || ctx.Err() != nil || m.clock.Since(begun) >= m.patience {
			if waited {
				waiting("")
			}
			return err
		}
		waited = true
		waiting("waiting: " + short(err.Error()))
		timer := m.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C():
		}
		pause = min(2*pause, tryAgainMost)
	}
}

func quiet(string) {}

// short keeps an error to one line of a terminal.
func short(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// interrupted says that a signal loses nothing.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || err == nil {
		return err
	}
	if errors.Is(err, errGoesOn) {
		return errGoesOn
	}
	return errors.New("interrupted: nothing is lost, and the same command goes on")
}

// explain adds to an error of the server what a user can do about it.
func explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: %w (the migration needs the rights of a cluster administrator)", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
