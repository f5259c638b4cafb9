// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/conversion"
	"example.com/backupjob-operator/webhooks"
)

// The groups of the peers, as long as ours so that their objects are too.
const (
	groupCopier = "copier.example.com"
	groupNone   = "nobody.example.com"
)

// writesPerRound is how many objects each kind of write meets per round.
const writesPerRound = 60

// writer writes v1alpha1 objects of one kind, each create with an update later.
type writer struct {
	client  client.Client
	example *unstructured.Unstructured
	made    []*unstructured.Unstructured
	updated int
}

// writes is P2.
func (b *bench) writes(ctx context.Context) error {
	a, err := startAPIServer()
	if err != nil {
		return err
	}
	config, err := a.kubeconfig()
	if err != nil {
		return errors.Join(err, a.stop())
	}
	s, err := startServer(ctx, "-kubeconfig", config)
	if err != nil {
		return errors.Join(err, a.stop())
	}
	err = errors.Join(
		a.installCRDs(ctx, s, backupv1.GroupName, webhooks.PathConvert),
		a.installCRDs(ctx, s, groupCopier, pathBytes),
		a.installWebhooks(ctx, s, backupv1.GroupName, "ours", func(shipped string) string { return shipped }),
		a.installWebhooks(ctx, s, backupv1.GroupName, "unasked", func(shipped string) string { return prefixUnasked + shipped }),
		a.installWebhooks(ctx, s, groupCopier, "echo", func(string) string { return pathAllow }),
	)
	for _, kind := range kinds {
		if err == nil {
			err = b.writesOf(ctx, a, kind)
		}
	}
	return errors.Join(err, s.stop(), a.stop())
}

func (b *bench) writesOf(ctx context.Context, a *apiServer, kind string) error {
	var creates, updates []call
	for _, peer := range []struct{ namespace, group string }{{"ours", backupv1.GroupName}, {"unasked", backupv1.GroupName}, {"echo", groupCopier}} {
		example, err := written(kind, peer.group, peer.namespace)
		if err != nil {
			return err
		}
		w := &writer{client: a.client, example: example}
		if err := poll(ctx, "the webhooks of "+peer.namespace, w.probe); err != nil {
			return err
		}
		creates = append(creates, call{name: "create, " + peer.namespace, do: w.create})
		updates = append(updates, call{name: "update, " + peer.namespace, do: w.update})
	}
	created, err := b.interleave(ctx, writesPerRound, creates)
	if err != nil {
		return err
	}
	updated, err := b.interleave(ctx, writesPerRound, updates)
	if err != nil {
		return err
	}
	for _, did := range []struct {
		verb string
		took []timings
	}{{"create", created}, {"update", updated}} {
		for i, mode := range []string{"", ", no questions about Secrets"} {
			b.rows = append(b.rows, row{
				id: "P2", what: fmt.Sprintf("%s a v1alpha1 %s%s", did.verb, kind, mode), ours: did.took[i].String(),
				peer: "echo server: copies bytes, allows all", theirs: did.took[2].String(), ratio: ratio(did.took[i], did.took[2], .5), aim: 1.15,
			})
		}
	}
	return nil
}

// written is an object as a user writes it in v1alpha1.
func written(kind, group, namespace string) (*unstructured.Unstructured, error) {
	raw, err := stored(kind)
	if err != nil {
		return nil, err
	}
	if raw, err = conversion.Convert(raw, backupv1alpha1.GroupVersion.String()); err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), backupv1.GroupName, group)), &u.Object); err != nil {
		return nil, err
	}
	u.Object["metadata"] = map[string]any{
		"namespace": namespace, "labels": u.Object["metadata"].(map[string]any)["labels"], "annotations": u.Object["metadata"].(map[string]any)["annotations"],
	}
	delete(u.Object, "status")
	return u, nil
}

// probe writes nothing, but meets every webhook.
func (w *writer) probe(ctx context.Context) error {
	u := w.example.DeepCopy()
	u.SetName("probe")
	return w.client.Create(ctx, u, client.DryRunAll)
}

func (w *writer) create(ctx context.Context) error {
	u := w.example.DeepCopy()
	u.SetName(fmt.Sprint("n", len(w.made)))
	if err := w.client.Create(ctx, u); err != nil {
		return err
	}
	w.made = append(w.made, u)
	return nil
}

// update writes the whole object with another value in a field that has the
// same path in both versions, so that the echo server's one changes too.
func (w *writer) update(ctx context.Context) error {
	i := w.updated % len(w.made)
	w.updated++
	u := w.example.DeepCopy()
	u.SetName(w.made[i].GetName())
	u.SetResourceVersion(w.made[i].GetResourceVersion())
	if err := unstructured.SetNestedField(u.Object, int64(w.updated/len(w.made)+4), "spec", "maxRetries"); err != nil {
		return err
	}
	if err := w.client.Update(ctx, u); err != nil {
		return err
	}
	w.made[i] = u
	return nil
}
