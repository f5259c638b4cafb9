// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clusterConfig says how to reach the API server: by the file if one is named,
// else by the ServiceAccount of the Pod, else by KUBECONFIG or
// ~/.kube/config as kubectl does. It makes no connection.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		if config, err := rest.InClusterConfig(); err == nil {
			return withUserAgent(config), nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find out how to reach the API server; set --kubeconfig outside of a cluster: %w", err)
	}
	return withUserAgent(config), nil
}

func withUserAgent(config *rest.Config) *rest.Config {
	return rest.AddUserAgent(config, "backupjob-operator")
}
