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
	groupKeeper = "keeper.example.com"
)

// setups are what an object is written through. The first is ours as it is
// shipped, the last two are the peers.
var setups = []struct {
	namespace, group, name string
	admission              func(shipped string) string
}{
	{"ours", backupv1.GroupName, "", func(shipped string) string { return shipped }},
	{"unasked", backupv1.GroupName, ", no questions about Secrets", func(shipped string) string { return prefixUnasked + shipped }},
	{"unjudged", backupv1.GroupName, ", only converted: admission allows all", allowed},
	{"keeper", groupKeeper, "echo server, v1 keeps unknown fields", allowed},
	{"echo", groupCopier, "echo server", allowed},
}

func allowed(string) string { return pathAllow }

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
		a.installCRDs(ctx, s, backupv1.GroupName, webhooks.PathConvert, false),
		a.installCRDs(ctx, s, groupKeeper, pathBytes, true),
		a.installCRDs(ctx, s, groupCopier, pathBytes, false),
	)
	for _, setup := range setups {
		err = errors.Join(err, a.installWebhooks(ctx, s, setup.group, setup.namespace, setup.admission))
	}
	for _, kind := range kinds {
		if err == nil {
			err = b.writesOf(ctx, a, kind)
		}
	}
	return errors.Join(err, s.stop(), a.stop())
}

func (b *bench) writesOf(ctx context.Context, a *apiServer, kind string) error {
	var creates, updates []call
	for _, setup := range setups {
		example, err := written(kind, setup.group, setup.namespace)
		if err != nil {
			return err
		}
		w := &writer{client: a.client, example: example}
		if err := poll(ctx, "the webhooks of "+setup.namespace, w.probe); err != nil {
			return err
		}
		creates = append(creates, call{name: "create, " + setup.namespace, do: w.create})
		updates = append(updates, call{name: "update, " + setup.namespace, do: w.update})
	}
	created, err := b.interleave(ctx, writesPerRound, creates)
	if err != nil {
		return err
	}
	updated, err := b.interleave(ctx, writesPerRound, updates)
	if err != nil {
		return err
	}
	b.compareWrites("create a v1alpha1 "+kind, created)
	b.compareWrites("update a v1alpha1 "+kind, updated)
	return nil
}

// compareWrites compares ours with both peers, and what is left of ours with
// the one that stores as much.
func (b *bench) compareWrites(what string, took []timings) {
	add := func(ours, peer int, aim float64, aimText string) {
		b.rows = append(b.rows, row{
			id: "P2", what: what + setups[ours].name, ours: took[ours].String(), peer: setups[peer].name, theirs: took[peer].String(),
			ratio: ratio(took[ours], took[peer]), aim: aim, aimText: aimText,
		})
	}
	add(0, 4, 1.15, "")
	for ours := range 3 {
		add(ours, 3, 0, "shows the parts")
	}
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
