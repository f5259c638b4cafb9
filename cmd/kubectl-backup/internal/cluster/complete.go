// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// CompleteNames offers the names of the objects in the namespace.
func (a *Access) CompleteNames(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// A completion that fails says nothing: there is nobody to read it.
	connection, err := a.Connect(io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, kind := range Kinds {
		list := NewList(kind)
		if connection.Client.List(cmd.Context(), list, client.InNamespace(connection.Namespace)) != nil {
			continue
		}
		for _, item := range list.Items {
			names = append(names, kind.Short+"/"+item.GetName())
		}
	}
	return offered(names, typed), cobra.ShellCompDirectiveNoFileComp
}

// offered are the names that begin with what was typed: with their kinds, and
// bare, once somebody begins to type such a one, where one kind only has it.
func offered(names []cobra.Completion, typed string) []cobra.Completion {
	kinds := map[string]int{}
	for _, name := range names {
		_, bare, _ := strings.Cut(name, "/")
		kinds[bare]++
	}
	for _, bare := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[bare] == 1 && typed != "" {
			names = append(names, bare)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) })
}

// CompleteFlags offers the namespaces of the server and the contexts, clusters
// and users of the kubeconfig.
func (a *Access) CompleteFlags(cmd *cobra.Command) error {
	names := map[string]func(api.Config) []string{
		clientcmd.FlagContext:      func(c api.Config) []string { return slices.Sorted(maps.Keys(c.Contexts)) },
		clientcmd.FlagClusterName:  func(c api.Config) []string { return slices.Sorted(maps.Keys(c.Clusters)) },
		clientcmd.FlagAuthInfoName: func(c api.Config) []string { return slices.Sorted(maps.Keys(c.AuthInfos)) },
	}
	for flag, of := range names {
		complete := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			config, err := a.loader().RawConfig()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return of(config), cobra.ShellCompDirectiveNoFileComp
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			return err
		}
	}
	return cmd.RegisterFlagCompletionFunc(clientcmd.FlagNamespace, a.completeNamespaces)
}

func (a *Access) completeNamespaces(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	connection, err := a.Connect(io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	namespaces := &corev1.NamespaceList{}
	if connection.Client.List(cmd.Context(), namespaces) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for i := range namespaces.Items {
		if strings.HasPrefix(namespaces.Items[i].Name, typed) {
			names = append(names, namespaces.Items[i].Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// NewList is an empty list of a kind. It keeps what the server sends, also what
// this program does not know.
func NewList(kind Kind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(backupv1.GroupVersion.WithKind(kind.Name + "List"))
	return list
}
