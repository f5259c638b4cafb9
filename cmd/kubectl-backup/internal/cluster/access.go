// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is how the commands reach an API server: the flags that
// kubectl has, a client that asks for nothing it does not need, and the names
// of our objects.
package cluster

import (
	"fmt"
	"io"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
)

// GlobalFlag marks the flags that kubectl's own commands have too. The help of
// a command leaves them out; 'kubectl backup options' lists them.
const GlobalFlag = "backup.example.com/global"

// Access is what the command line says about the API server.
type Access struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
}

// AddFlags adds kubectl's flags for reaching an API server.
func (a *Access) AddFlags(flags *pflag.FlagSet) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	a.rules = clientcmd.NewDefaultClientConfigLoadingRules()
	own.StringVar(&a.rules.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "",
		"Path to the kubeconfig file to use for CLI requests.")
	clientcmd.BindOverrideFlags(&a.overrides, own, clientcmd.RecommendedConfigOverrideFlags(""))
	own.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations == nil {
			flag.Annotations = map[string][]string{}
		}
		flag.Annotations[GlobalFlag] = nil
	})
	flags.AddFlagSet(own)
}

// Config reads the kubeconfig.
func (a *Access) Config() (*rest.Config, error) {
	config, err := a.loader().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, exit.Misusef("no cluster is known: name a kubeconfig with --kubeconfig or in KUBECONFIG")
	}
	if err != nil {
		return nil, exit.Misuse(fmt.Errorf("read the kubeconfig: %w", err))
	}
	return config, nil
}

// Connect reads the kubeconfig. It does not talk to the server yet.
// Its warnings go where the caller says.
func (a *Access) Connect(warnings io.Writer) (*Connection, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	namespace, _, err := a.loader().Namespace()
	if err != nil {
		return nil, exit.Misuse(fmt.Errorf("read the kubeconfig: %w", err))
	}
	config.QPS = -1 // a command asks little, and the server defends itself
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	return New(config, namespace)
}

func (a *Access) loader() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(a.rules, &a.overrides)
}

// Connection is a client and the namespace to look in.
type Connection struct {
	Client    client.Client
	Namespace string
	// Config is what the client was made of, for whoever needs another one.
	Config *rest.Config
}

// New makes a connection of a configuration.
func New(config *rest.Config, namespace string) (*Connection, error) {
	// The library prints a stack after a while if it has no logger.
	ctrllog.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{backupv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return nil, exit.Misuse(fmt.Errorf("make a client of the kubeconfig: %w", err))
	}
	return &Connection{Client: c, Namespace: namespace, Config: config}, nil
}

// mapper knows the few kinds that the commands use, so that none of them has to
// ask the server for all that it serves.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range Kinds {
		m.Add(backupv1.GroupVersion.WithKind(kind.Name), meta.RESTScopeNamespace)
	}
	m.Add(batchv1.SchemeGroupVersion.WithKind("Job"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	return m
}
