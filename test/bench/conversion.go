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
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/conversion"
	"example.com/backupjob-operator/webhooks"
)

const (
	// perRound is how many requests of each kind a round makes.
	perRound = 500
	// connections is how many clients send at once where requests per second
	// are counted.
	connections = 8
	// window is how long they send, per round.
	window = time.Second
	// profileSeconds is how long a profile is taken.
	profileSeconds = 10
)

var kinds = []string{backupv1.KindBackupJob, backupv1.KindMySQLBackup}

// stored is an object as an API server holds it, in v1: with managedFields,
// what kubectl applied last, and a status with conditions.
func stored(kind string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join("conversion", "testdata", "stored-"+kind+".json"))
	if err != nil {
		return nil, fmt.Errorf("run this from the root of the repository: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// review is a ConversionReview as an API server sends it.
type review struct {
	kind, wanted string
	body         []byte
}

// reviews are both directions of both kinds, with one object each.
func reviews() ([]review, error) {
	var all []review
	for _, kind := range kinds {
		hub, err := stored(kind)
		if err != nil {
			return nil, err
		}
		old, err := conversion.Convert(hub, backupv1alpha1.GroupVersion.String())
		if err != nil {
			return nil, err
		}
		for wanted, raw := range map[string][]byte{backupv1alpha1.GroupVersion.String(): hub, backupv1.GroupVersion.String(): old} {
			body, err := json.Marshal(apiextensionsv1.ConversionReview{
				TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "ConversionReview"},
				Request: &apiextensionsv1.ConversionRequest{
					UID: "3f2c9f0e-6d3b-4c1e-9d55-0a8c5b7e1f42", DesiredAPIVersion: wanted, Objects: []runtime.RawExtension{{Raw: raw}},
				},
			})
			if err != nil {
				return nil, err
			}
			all = append(all, review{kind: kind, wanted: wanted, body: body})
		}
	}
	slices.SortFunc(all, func(a, b review) int { return strings.Compare(a.kind+a.wanted, b.kind+b.wanted) })
	return all, nil
}

// peers answer a conversion, ours first.
var peers = []struct {
	name, path string
	aim        float64
}{
	{"ours", webhooks.PathConvert, 0},
	{"a converter that copies bytes", pathBytes, 1.15},
	{"a copier that decodes the review", pathDecode, 0},
	{"controller-runtime's handler, typed hub and spoke", pathStock, 1},
}

// conversion is P1.
func (b *bench) conversion(ctx context.Context) error {
	all, err := reviews()
	if err != nil {
		return err
	}
	s, err := startServer(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		err = errors.Join(err, sameWork(ctx, s, r), b.conversionOf(ctx, s, r))
	}
	return errors.Join(err, b.throughput(ctx, s, all), s.stop(), b.memory(ctx))
}

func (b *bench) conversionOf(ctx context.Context, s *server, r review) error {
	calls := make([]call, len(peers))
	for i, p := range peers {
		calls[i] = s.call(p.name, p.path, r.body)
	}
	took, err := b.interleave(ctx, perRound, calls)
	if err != nil {
		return err
	}
	for i, p := range peers[1:] {
		b.rows = append(b.rows, row{
			id: "P1", what: fmt.Sprintf("`/convert`, %s to %s", r.kind, strings.TrimPrefix(r.wanted, backupv1.GroupName+"/")),
			ours: took[0].String(), peer: p.name, theirs: took[i+1].String(), ratio: ratio(took[0], took[i+1]), aim: p.aim,
		})
	}
	return nil
}

// sameWork fails unless every peer answers with the same object: the copiers
// with the one that they got, the others with the converted one.
func sameWork(ctx context.Context, s *server, r review) error {
	answers := make([]map[string]any, len(peers))
	for i, p := range peers {
		var answer bytes.Buffer
		if err := s.post(ctx, p.path, r.body, &answer); err != nil {
			return err
		}
		var decoded apiextensionsv1.ConversionReview
		if err := json.Unmarshal(answer.Bytes(), &decoded); err != nil {
			return fmt.Errorf("read the answer of %s: %w", p.name, err)
		}
		response := decoded.Response
		if response == nil || response.UID == "" || response.Result.Status != metav1.StatusSuccess || len(response.ConvertedObjects) != 1 {
			return fmt.Errorf("%s gave no valid answer: %s", p.name, answer.Bytes())
		}
		if err := json.Unmarshal(response.ConvertedObjects[0].Raw, &answers[i]); err != nil {
			return fmt.Errorf("read the object of %s: %w", p.name, err)
		}
		if answers[i]["apiVersion"] != r.wanted {
			return fmt.Errorf("%s answered with %v, not %s", p.name, answers[i]["apiVersion"], r.wanted)
		}
	}
	if !reflect.DeepEqual(answers[0], answers[3]) || !reflect.DeepEqual(answers[1], answers[2]) {
		return fmt.Errorf("the answers to a %s to %s are not of the same work:\n%v\n%v", r.kind, r.wanted, answers[0], answers[3])
	}
	return nil
}

// throughput counts how many requests a second come back when several clients
// send at once, all kinds and directions mixed.
func (b *bench) throughput(ctx context.Context, s *server, all []review) error {
	counts := make([][]float64, len(peers))
	for range b.rounds {
		for i, p := range peers {
			n, err := flood(ctx, s, p.path, all)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			counts[i] = append(counts[i], float64(n)/window.Seconds())
		}
	}
	median := func(v []float64) string {
		sorted := slices.Sorted(slices.Values(v))
		return fmt.Sprintf("%.0f/s", sorted[len(sorted)/2])
	}
	for i, p := range peers[1:] {
		r := make(ratios, b.rounds)
		for round := range r {
			r[round] = counts[i+1][round] / counts[0][round] // time per request, as everywhere
		}
		slices.Sort(r)
		b.rows = append(b.rows, row{
			id: "P1", what: fmt.Sprintf("`/convert`, %d clients at once, all mixed", connections),
			ours: median(counts[0]), peer: p.name, theirs: median(counts[i+1]), ratio: r, aimText: "none",
		})
	}
	return nil
}

func flood(ctx context.Context, s *server, path string, all []review) (int, error) {
	counts := make([]int, connections)
	end := time.Now().Add(window)
	group, ctx := errgroup.WithContext(ctx)
	for c := range connections {
		group.Go(func() error {
			for i := c; time.Now().Before(end); i++ {
				if err := s.post(ctx, path, all[i%len(all)].body, io.Discard); err != nil {
					return err
				}
				counts[c]++
			}
			return nil
		})
	}
	err := group.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return total, err
}

// profileConversion shows where the time of /convert goes.
func (b *bench) profileConversion(ctx context.Context) error {
	all, err := reviews()
	if err != nil {
		return err
	}
	s, err := startServer(ctx)
	if err != nil {
		return err
	}
	file, err := os.Create(b.profile)
	if err != nil {
		return errors.Join(err, s.stop())
	}
	done := make(chan error, 1)
	go func() {
		done <- s.get(ctx, fmt.Sprintf("%s?seconds=%d", pathProfile, profileSeconds), file)
	}()
	for i := 0; ; i++ {
		select {
		case err := <-done:
			return errors.Join(err, file.Close(), s.stop())
		default:
		}
		if err := s.post(ctx, webhooks.PathConvert, all[i%len(all)].body, io.Discard); err != nil {
			return errors.Join(err, s.stop())
		}
	}
}
