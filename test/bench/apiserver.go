// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	crd "example.com/backupjob-operator/config/crd"
)

// apiServer is a real kube-apiserver with its etcd, which does not wait for
// the disk.
type apiServer struct {
	env    *envtest.Environment
	config *rest.Config
	client client.Client
	dir    string
}

func startAPIServer() (*apiServer, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS must name the folder with etcd and kube-apiserver: run 'make bench'")
	}
	ctrl.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	a := &apiServer{env: &envtest.Environment{ControlPlaneStartTimeout: 2 * time.Minute, ControlPlaneStopTimeout: time.Minute}, dir: dir}
	// Its own folder, because the default one goes with the first stop.
	a.env.ControlPlane.GetAPIServer().CertDir = filepath.Join(dir, "certs")
	if err := os.Mkdir(a.env.ControlPlane.APIServer.CertDir, 0o700); err != nil {
		return nil, err
	}
	if a.config, err = a.env.Start(); err != nil {
		return nil, errors.Join(err, a.stop())
	}
	a.config.QPS, a.config.Burst = -1, -1
	scheme := runtime.NewScheme()
	err = errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))
	if err == nil {
		a.client, err = client.New(a.config, client.Options{Scheme: scheme})
	}
	if err != nil {
		return nil, errors.Join(err, a.stop())
	}
	return a, nil
}

func (a *apiServer) stop() error { return errors.Join(a.env.Stop(), os.RemoveAll(a.dir)) }

// kubeconfig is a file for a process that asks this server.
func (a *apiServer) kubeconfig() (string, error) {
	path := filepath.Join(a.dir, "kubeconfig")
	return path, os.WriteFile(path, a.env.KubeConfig, 0o600)
}

// restart stops the API server, leaves etcd, starts it again, and returns how
// long that took.
func (a *apiServer) restart() (time.Duration, error) {
	server := a.env.ControlPlane.APIServer
	if err := server.Stop(); err != nil {
		return 0, err
	}
	start := time.Now()
	err := server.Start()
	return time.Since(start), err
}

// installCRDs serves our kinds in a group. Without a path there is no
// converter: strategy None. Objects of v1 may keep fields that they do not
// know, so that a converter that renames none loses none.
func (a *apiServer) installCRDs(ctx context.Context, s *server, group, convert string, keep bool) error {
	definitions, err := crd.CRDs()
	if err != nil {
		return err
	}
	for _, c := range definitions {
		c.Spec.Group, c.Name = group, c.Spec.Names.Plural+"."+group
		if keep {
			keepUnknown(c)
		}
		if convert != "" {
			url := s.url(convert)
			c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"},
					ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: s.Bundle},
				},
			}
		}
		if err := a.client.Create(ctx, c); err != nil {
			return err
		}
		if err := poll(ctx, "the CRD "+c.Name, func(ctx context.Context) error {
			return errors.Join(a.client.Get(ctx, client.ObjectKeyFromObject(c), c), established(c))
		}); err != nil {
			return err
		}
	}
	return nil
}

func keepUnknown(c *apiextensionsv1.CustomResourceDefinition) {
	for _, version := range c.Spec.Versions {
		spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
		spec.XPreserveUnknownFields = new(true)
		version.Schema.OpenAPIV3Schema.Properties["spec"] = spec
	}
}

func established(c *apiextensionsv1.CustomResourceDefinition) error {
	for _, condition := range c.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return errors.New("it is not established")
}

// installWebhooks registers both webhooks of each kind, as they are shipped but
// for the address and the group, for one namespace.
func (a *apiServer) installWebhooks(ctx context.Context, s *server, group, namespace string, path func(shipped string) string) error {
	name := namespace + "." + group
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	redirect := func(c *admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) {
		url := s.url(path(*c.Service.Path))
		*c = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.Bundle}
		for i := range rules {
			rules[i].APIGroups = []string{group}
		}
	}
	var mutating admissionregistrationv1.MutatingWebhookConfiguration
	var validating admissionregistrationv1.ValidatingWebhookConfiguration
	if err := errors.Join(manifest("webhook/mutating.yaml", &mutating), manifest("webhook/validating.yaml", &validating)); err != nil {
		return err
	}
	mutating.Name, validating.Name = name, name
	for i := range mutating.Webhooks {
		w := &mutating.Webhooks[i]
		redirect(&w.ClientConfig, w.Rules)
		w.NamespaceSelector = selector
	}
	for i := range validating.Webhooks {
		w := &validating.Webhooks[i]
		redirect(&w.ClientConfig, w.Rules)
		w.NamespaceSelector = selector
	}
	return errors.Join(
		a.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}),
		a.client.Create(ctx, &mutating), a.client.Create(ctx, &validating),
	)
}

// manifest reads one of the files that are shipped.
func manifest(name string, into any) error {
	data, err := os.ReadFile(filepath.Join("config", name))
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(data, into)
}

// poll tries until it is so.
func poll(ctx context.Context, what string, try func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, errors.Join(err, last))
	}
	return nil
}
