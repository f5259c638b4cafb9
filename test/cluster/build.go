// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/test/cluster/internal/cluster"
	"example.com/backupjob-operator/test/cluster/internal/image"
	"example.com/backupjob-operator/test/cluster/internal/toolchain"
)

func newBuildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build and install what is missing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools, err := newToolchain()
			if err != nil {
				return err
			}
			parts, err := makeParts(cmd.Context(), tools)
			if err != nil {
				return err
			}
			if reason := cluster.CanRunNode(); reason != nil {
				cmd.PrintErrf("Only what the control plane needs is built: %v.\n", reason)
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "All %d programs and %d images are there, in %s.\n",
				len(parts.Programs), len(parts.Images), filepath.Dir(parts.Folders[0]))
			return err
		},
	}
}

func newAssetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "assets",
		Short: "Print the folder that holds etcd, kube-apiserver, kube-controller-manager and kubectl, building them if needed",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools, err := newToolchain()
			if err != nil {
				return err
			}
			if err := tools.Build(cmd.Context(), toolchain.AssetPrograms); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), filepath.Dir(tools.Path("kube-apiserver")))
			return err
		},
	}
}

// makeParts builds everything that a cluster needs on this machine.
func makeParts(ctx context.Context, tools *toolchain.Toolchain) (cluster.Parts, error) {
	parts := cluster.Parts{Node: cluster.CanRunNode() == nil, Folders: tools.Folders(), CRDs: tools.CRDs()}
	programs := toolchain.ControlPlanePrograms()
	if parts.Node {
		programs = toolchain.Programs()
		if err := tools.InstallPackages(ctx); err != nil {
			return parts, err
		}
	}
	if err := tools.Build(ctx, programs); err != nil {
		return parts, err
	}
	parts.Programs = tools.Paths(programs)
	if !parts.Node {
		return parts, nil
	}
	var err error
	parts.Images, err = makeImages(ctx, tools)
	return parts, err
}

func makeImages(ctx context.Context, tools *toolchain.Toolchain) ([]string, error) {
	database, err := image.Database(ctx, tools.Path("mariadb-entrypoint"))
	if err != nil {
		return nil, err
	}
	cache, err := toolchain.DefaultCache()
	if err != nil {
		return nil, err
	}
	var archives []string
	for _, spec := range []image.Spec{
		image.Program(cluster.PauseImage, "pause", tools.Path("pause")),
		image.Program(cluster.DNSImage, "coredns", tools.Path("coredns")),
		database,
	} {
		archive, err := image.Cached(filepath.Join(cache, "images"), spec)
		if err != nil {
			return nil, err
		}
		archives = append(archives, archive)
	}
	return archives, nil
}
