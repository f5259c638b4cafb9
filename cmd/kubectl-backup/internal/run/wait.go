// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/runs"
)

// lookEvery is how often the run is looked at.
const lookEvery = time.Second

// wait shows the progress of the requested run until it ends.
func (o *Options) wait(ctx context.Context, c client.Client, object backupv1.Backup, request string) error {
	name := cluster.ShortName(object.Kind(), object.GetName())
	outer := ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	p := &progress{name: name, request: request, since: o.Clock.Now(), before: object.RunStatus().LastBackupTime}
	ticker := o.Clock.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		lines, done, err := o.look(ctx, c, object, p)
		for _, line := range lines {
			if _, err := fmt.Fprintln(o.Out, line); err != nil {
				return err
			}
		}
		if done || err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return interrupted(outer, o.Timeout, name, p)
		case <-ticker.C():
		}
	}
}

// interrupted says that the run goes on although nobody waits for it.
func interrupted(outer context.Context, timeout time.Duration, name string, p *progress) error {
	why := fmt.Sprintf("timed out after %s", timeout)
	if outer.Err() != nil {
		why = "interrupted"
	}
	if p.job == "" {
		return fmt.Errorf("%s while waiting for the run to start; the request stands: see 'kubectl backup history %s'", why, name)
	}
	return fmt.Errorf("%s while waiting for Job %s; it goes on: see 'kubectl backup history %s'", why, p.job, name)
}

// look reads the object before its Jobs: a request that the status calls
// handled then has its Job in what is read, unless it is gone already.
func (o *Options) look(ctx context.Context, c client.Client, object backupv1.Backup, p *progress) ([]string, bool, error) {
	uid := object.GetUID()
	err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
	if apierrors.IsNotFound(err) || err == nil && object.GetUID() != uid {
		return nil, false, fmt.Errorf("%s was deleted, and its run with it", p.name)
	}
	var found []runs.Run
	if err == nil {
		found, err = runs.Read(ctx, c, object.GetNamespace(), []backupv1.Backup{object})
	}
	if err != nil {
		return p.unreachable(err)
	}
	return p.next(o.Clock.Now(), object, found)
}

// unreachable bears a server that is away for a while: the run goes on without
// it. What will not pass by itself is an error.
func (p *progress) unreachable(err error) ([]string, bool, error) {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return nil, false, err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, false, nil
	}
	return p.say(fmt.Sprintf("Cannot reach the API server, trying again: %v", err)), false, nil
}
