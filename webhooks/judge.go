// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// Judge says whether an object is right. It holds the schemas of all versions,
// compiled once, and may be used by many at a time.
type Judge struct {
	clock    clock.PassiveClock
	versions map[schema.GroupVersionKind]*version
}

// NewJudge prepares the embedded schemas. The clock says from when on clock
// changes are looked for; no verdict depends on it, only warnings do.
func NewJudge(c clock.PassiveClock) (*Judge, error) {
	versions, err := loadVersions()
	if err != nil {
		return nil, fmt.Errorf("load the embedded schemas: %w", err)
	}
	return &Judge{clock: c, versions: versions}, nil
}

// Judge judges the write of an object, as JSON in the version in which it was
// written. The old object is empty on create; it may be in another version.
// An error means that there is nothing to judge: no JSON object of our kinds.
// What only the cluster knows, as whether the user may read a Secret, is not
// part of it.
func (j *Judge) Judge(ctx context.Context, object, old []byte) (*Verdict, error) {
	d, err := j.read(object)
	if err != nil {
		return nil, err
	}
	v := &Verdict{
		GVK: d.version.gvk, Namespace: d.typed.GetNamespace(), Name: d.typed.GetName(),
		Unknown: d.unknown, Effective: d.typed, document: d,
	}
	var was *document
	if len(old) > 0 {
		if was, err = j.readAs(old, d.version.gvk); err != nil {
			return nil, fmt.Errorf("old object: %w", err)
		}
		v.Old = was.typed
	}
	j.judge(ctx, v, d, was)
	return v, nil
}

func (j *Judge) judge(ctx context.Context, v *Verdict, d, was *document) {
	specKept := was != nil && reflect.DeepEqual(d.hub["spec"], was.hub["spec"])
	deleting := was != nil && was.typed.GetDeletionTimestamp() != nil
	v.Unchanged = specKept && sameMetadata(d, was)
	v.Ending = specKept && deleting
	if v.Unchanged || v.Ending {
		return
	}
	if !specKept && !deleting {
		v.Patch = d.patch
	}
	v.Faults = d.faults(ctx)
	if was != nil && len(v.Faults) > 0 {
		v.keepOld(d, was, was.faults(ctx))
	}
	if !specKept {
		v.warn(j.clock.Now(), d, was)
	}
	v.sort()
}

// errNoObject is what everything gets that is not for us to judge.
var errNoObject = errors.New("must be a JSON object of kind BackupJob or MySQLBackup in backup.example.com")
