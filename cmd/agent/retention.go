// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/prune"
	"example.com/backupjob-operator/cmd/agent/internal/store"
)

func (a *app) pruneCommand() *cobra.Command {
	var (
		place     placeFlags
		retention retentionFlags
	)
	cmd := &cobra.Command{
		Use:   agent.CommandPrune,
		Short: "Remove the object's backups that the retention no longer keeps",
		Long: `Remove backups that are older than the retention, but never the newest
complete ones, and never a file whose manifest does not name this object's UID.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := inFolder(place, func(folder *store.Folder) (err error) {
				a.result.Pruned, err = prune.Apply(cmd.Context(), folder, place.owner.UID, retention.policy, a.clock.Now())
				return err
			})
			if err != nil {
				a.result.PruneError = oneLine(err)
				return err
			}
			a.log.Info("The retention is applied", "removed", a.result.Pruned)
			return nil
		},
	}
	place.add(cmd)
	retention.add(cmd)
	require(cmd, agent.FlagUID)
	return cmd
}

func (a *app) purgeCommand() *cobra.Command {
	var place placeFlags
	cmd := &cobra.Command{
		Use:   agent.CommandPurge,
		Short: "Remove all backups of the object",
		Long: `Remove every backup and every unfinished file of the object with this UID.
Backups of other objects, also of earlier ones of the same name, stay.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := inFolder(place, func(folder *store.Folder) (err error) {
				a.result.Pruned, err = prune.Purge(cmd.Context(), folder, place.owner.UID)
				folder.RemoveIfEmpty()
				return err
			})
			if err != nil {
				return err
			}
			a.log.Info("The object's backups are removed", "removed", a.result.Pruned)
			return nil
		},
	}
	place.add(cmd)
	require(cmd, agent.FlagUID)
	return cmd
}

// inFolder works in the object's folder. Where there is none there is nothing
// to do.
func inFolder(place placeFlags, work func(*store.Folder) error) error {
	folder, err := store.OpenFolder(place.root, place.owner)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(work(folder), folder.Close())
}
