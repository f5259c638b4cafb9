// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package prune removes backups: those that retention no longer keeps, or
// all of an object's when the object is deleted with them.
package prune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/backupjob-operator/cmd/agent/internal/store"
)

// Limits of Policy, the same that the API has.
const (
	MaxDays       = 3650
	MaxMinBackups = 100
)

const day = 24 * time.Hour

// Policy is an object's retention.
type Policy struct {
	// Days is how many days of 24 hours a backup is kept, counted from its
	// scheduled time.
	Days int
	// MinBackups is how many of the newest complete backups are kept
	// whatever their age.
	MinBackups int
}

// Validate refuses a policy that could remove the last good backup.
func (p Policy) Validate() error {
	var errs []error
	if p.Days < 1 || p.Days > MaxDays {
		errs = append(errs, fmt.Errorf("the retention is %d days and must be between 1 and %d", p.Days, MaxDays))
	}
	if p.MinBackups < 1 || p.MinBackups > MaxMinBackups {
		errs = append(errs, fmt.Errorf("the number of backups to keep is %d and must be between 1 and %d", p.MinBackups, MaxMinBackups))
	}
	return errors.Join(errs...)
}

// Expired returns which of an object's backups, sorted oldest first, the
// policy does not keep. Only complete backups count towards MinBackups; what
// is not complete goes by its age alone.
func (p Policy) Expired(now time.Time, backups []store.Backup) []store.Backup {
	oldest := now.Add(-time.Duration(p.Days) * day)
	complete := 0
	for _, b := range backups {
		if b.State == store.StateComplete {
			complete++
		}
	}
	var expired []store.Backup
	for _, b := range backups {
		if b.State != store.StateComplete {
			if b.ScheduledTime.Before(oldest) {
				expired = append(expired, b)
			}
			continue
		}
		if complete > p.MinBackups && b.ScheduledTime.Before(oldest) {
			expired = append(expired, b)
		}
		complete--
	}
	return expired
}

// Apply removes what the policy does not keep of the object's backups, and
// nothing else. It tells how many are gone, also when it fails half-way.
func Apply(ctx context.Context, folder *store.Folder, uid string, p Policy, now time.Time) (int, error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	l, err := folder.List()
	if err != nil {
		return 0, err
	}
	return remove(ctx, folder, p.Expired(now, l.Of(uid)))
}

// Purge removes everything that the object ever stored: its backups, complete
// or not, and its temporary files. The backups of other objects stay.
func Purge(ctx context.Context, folder *store.Folder, uid string) (int, error) {
	l, err := folder.List()
	if err != nil {
		return 0, err
	}
	removed, err := remove(ctx, folder, l.Of(uid))
	return removed, errors.Join(err, folder.RemoveUnfinished(uid))
}

// remove goes on after a failure, so that one bad file does not keep all the
// others. It reports the first error and how many there are.
func remove(ctx context.Context, folder *store.Folder, backups []store.Backup) (int, error) {
	var first error
	removed, failed := 0, 0
	for _, b := range backups {
		if err := ctx.Err(); err != nil {
			return removed, fmt.Errorf("stopped after %d of %d removals: %w", removed, len(backups), context.Cause(ctx))
		}
		if err := folder.Remove(b); err != nil {
			failed++
			if first == nil {
				first = err
			}
			continue
		}
		removed++
	}
	if first != nil {
		return removed, fmt.Errorf("%d of %d old backups could not be removed, first: %w", failed, len(backups), first)
	}
	return removed, nil
}
