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
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/webhooks"
)

// putsPerRequest is how many keys etcd takes in one transaction.
const putsPerRequest = 100

// restarts is P3. Three groups hold the same objects; each restart reads one
// of them, because an API server begins to read a group with its first request.
func (b *bench) restarts(ctx context.Context) error {
	a, err := startAPIServer()
	if err != nil {
		return err
	}
	s, err := startServer(ctx)
	if err != nil {
		return errors.Join(err, a.stop())
	}
	groups := []string{backupv1.GroupName, groupCopier, groupNone}
	for i, path := range []string{webhooks.PathConvert, pathBytes, ""} {
		err = errors.Join(err, a.installCRDs(ctx, s, groups[i], path, false), a.fill(ctx, groups[i], b.objects))
	}
	lists, wholes := make([]timings, len(groups)), make([]timings, len(groups))
	for round := 0; err == nil && round < (b.rounds+1)/2; round++ {
		for i := range groups {
			k := (i + round) % len(groups)
			var start, list time.Duration
			if start, err = a.restart(); err == nil {
				list, err = a.firstList(ctx, groups[k], b.objects)
			}
			if err != nil {
				break
			}
			_, _ = fmt.Fprintf(b.progress, "   %s: started in %s, listed in %s\n", groups[k], short(start), short(list))
			lists[k] = append(lists[k], []time.Duration{list})
			wholes[k] = append(wholes[k], []time.Duration{start + list})
		}
	}
	if err := errors.Join(err, s.stop(), a.stop()); err != nil {
		return err
	}
	for i, peer := range []string{"a converter that copies bytes", "strategy None"} {
		aim := []float64{1.15, 0}[i]
		b.rows = append(b.rows,
			row{
				id: "P3", what: fmt.Sprintf("API server restarted over %d objects: healthy to the first whole v1alpha1 LIST", b.objects),
				ours: short(lists[0].quantile(.5)), peer: peer, theirs: short(lists[i+1].quantile(.5)), ratio: ratio(lists[0], lists[i+1]), aim: aim,
			},
			row{
				id: "P3", what: "the same, from the start of its process",
				ours: short(wholes[0].quantile(.5)), peer: peer, theirs: short(wholes[i+1].quantile(.5)), ratio: ratio(wholes[0], wholes[i+1]), aimText: "none",
			})
	}
	return nil
}

// fill stores objects the short way, in etcd itself, byte for byte the same in
// every group but for the group's name.
func (a *apiServer) fill(ctx context.Context, group string, objects int) error {
	raw, err := stored(backupv1.KindBackupJob)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(raw), backupv1.GroupName, group)
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return err
	}
	metadata := object["metadata"].(map[string]any)
	delete(metadata, "resourceVersion") // it is etcd's
	for from := 0; from < objects; from += putsPerRequest {
		var puts []map[string]any
		for n := from; n < min(from+putsPerRequest, objects); n++ {
			metadata["name"] = fmt.Sprintf("nightly-%05d", n)
			metadata["uid"] = fmt.Sprintf("6f1c6c5e-2f4f-4f5e-9d0c-%012d", n)
			value, err := json.Marshal(object)
			if err != nil {
				return err
			}
			key := fmt.Sprintf("/registry/%s/backupjobs/%s/%s", group, metadata["namespace"], metadata["name"])
			puts = append(puts, map[string]any{"requestPut": map[string]any{"key": []byte(key), "value": value}})
		}
		if err := a.etcd(ctx, "/v3/kv/txn", map[string]any{"success": puts}); err != nil {
			return fmt.Errorf("fill etcd: %w", err)
		}
	}
	return nil
}

// etcd calls etcd's gateway for JSON.
func (a *apiServer) etcd(ctx context.Context, path string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.env.ControlPlane.Etcd.URL.JoinPath(path).String(), bytes.NewReader(raw))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return err
}

// firstList asks as an informer does, for what the server has in memory, until
// the server has everything.
func (a *apiServer) firstList(ctx context.Context, group string, objects int) (time.Duration, error) {
	client, err := rest.HTTPClientFor(a.config)
	if err != nil {
		return 0, err
	}
	defer client.CloseIdleConnections()
	url := strings.TrimSuffix(a.config.Host, "/") + "/apis/" + group + "/v1alpha1/backupjobs?resourceVersion=0"
	start := time.Now()
	err = poll(ctx, "the list of "+group, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		if n := bytes.Count(body, []byte(`"uid":"`)); response.StatusCode != http.StatusOK || n != objects {
			return fmt.Errorf("%s with %d objects: %.300s", response.Status, n, body)
		}
		return nil
	})
	return time.Since(start), err
}
