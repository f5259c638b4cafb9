// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/install"
)

func (a *app) installCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   agent.CommandInstall,
		Short: "Copy the agent into the volume that it shares with the client's container",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := install.Copy(to); err != nil {
				return err
			}
			a.log.Info("The agent is installed", "path", to)
			return nil
		},
	}
	cmd.Flags().StringVar(&to, agent.FlagTo, agent.InstallPath, "path of the copy")
	return cmd
}
