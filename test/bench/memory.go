// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
)

// memory is the part of P1 about large reviews: what the process holds at most
// while it answers one, each in a process of its own.
func (b *bench) memory(ctx context.Context) error {
	for _, objects := range []int{1000, 50000} {
		body, err := longReview(objects)
		if err != nil {
			return err
		}
		if err := b.memoryOf(ctx, fmt.Sprintf("a review of %d objects, %d MiB: peak memory of the process", objects, len(body)>>20), body); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) memoryOf(ctx context.Context, what string, body []byte) error {
	var ours int64
	var text string
	for i, p := range peers {
		if p.path == pathBytes {
			continue // it takes one object
		}
		peak, took, err := peakOf(ctx, p.path, body)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", p.name, what, err)
		}
		says := fmt.Sprintf("%d MiB, in %s", peak>>20, short(took))
		if i == 0 {
			ours, text = peak, says
			continue
		}
		b.rows = append(b.rows, row{
			id: "P1", what: what, ours: text, peer: p.name, theirs: says, ratio: ratios{float64(ours) / float64(peak)}, aimText: "bounded",
		})
	}
	return nil
}

// longReview has objects as people write them: stored ones without what the
// servers add.
func longReview(objects int) ([]byte, error) {
	raw, err := stored(backupv1.KindBackupJob)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	metadata := object["metadata"].(map[string]any)
	delete(metadata, "managedFields")
	delete(metadata, "annotations")
	if raw, err = json.Marshal(object); err != nil {
		return nil, err
	}
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":%q,"objects":[`,
		backupv1alpha1.GroupVersion)
	body.WriteString(strings.Repeat(string(raw)+",", objects-1))
	body.Write(raw)
	body.WriteString(`]}}`)
	return body.Bytes(), nil
}

func peakOf(ctx context.Context, path string, body []byte) (peak int64, took time.Duration, err error) {
	s, err := startServer(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	start := time.Now()
	if err := s.post(ctx, path, body, io.Discard); err != nil {
		return 0, 0, err
	}
	took = time.Since(start)
	peak, err = s.peak()
	return peak, took, err
}
