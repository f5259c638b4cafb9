// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Choice says which backup is meant.
type Choice struct {
	// File is a file's name in the object's folder.
	File string
	// Latest means the newest complete backup.
	Latest bool
	// Before means the newest complete backup at or before this time.
	Before time.Time
}

// Validate demands exactly one way to choose.
func (c Choice) Validate() error {
	ways := 0
	for _, given := range []bool{c.File != "", c.Latest, !c.Before.IsZero()} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return errors.New("say which backup is meant with exactly one of --file, --latest and --before")
	}
	return nil
}

// Open finds the chosen backup of an object. Without a UID the backups of
// every object of that name count, also those from before it was recreated;
// a backup that is named by its file is found whoever's it is.
func (c Choice) Open(root string, owner Owner) (*Folder, Backup, error) {
	if err := c.Validate(); err != nil {
		return nil, Backup{}, err
	}
	folder, err := OpenFolder(root, owner)
	if err != nil {
		return nil, Backup{}, err
	}
	b, err := c.find(folder, owner)
	if err != nil {
		return nil, Backup{}, errors.Join(err, folder.Close())
	}
	return folder, b, nil
}

func (c Choice) find(folder *Folder, owner Owner) (Backup, error) {
	l, err := folder.List()
	if err != nil {
		return Backup{}, err
	}
	if c.File != "" {
		for _, b := range l.Backups {
			if b.File == c.File {
				return b, nil
			}
		}
		return Backup{}, fmt.Errorf("there is no backup %q in %s: 'agent list' shows what there is", c.File, folder.Path())
	}
	for _, b := range slices.Backward(l.Backups) {
		switch {
		case b.State != StateComplete,
			owner.UID != "" && b.Object.UID != owner.UID,
			owner.Kind != "" && b.Object.Kind != owner.Kind,
			!c.Before.IsZero() && b.ScheduledTime.After(c.Before):
			continue
		}
		return b, nil
	}
	return Backup{}, fmt.Errorf("there is no complete backup%s in %s: 'agent list' shows what there is", c.limit(), folder.Path())
}

func (c Choice) limit() string {
	if c.Before.IsZero() {
		return ""
	}
	return " at or before " + c.Before.UTC().Format(time.RFC3339)
}
