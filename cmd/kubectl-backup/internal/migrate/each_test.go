// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// answers has the server answer the writes of an object, one after another; the
// last answer stays.
func answers(script map[string][]error) interceptor.Funcs {
	var mu sync.Mutex
	return interceptor.Funcs{
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
			mu.Lock()
			defer mu.Unlock()
			left := script[object.GetName()]
			if len(left) == 0 {
				return nil
			}
			if len(left) > 1 {
				script[object.GetName()] = left[1:]
			}
			return left[0]
		},
	}
}

func TestWritesOfEveryObject(t *testing.T) {
	resource := schema.GroupResource{Group: "backup.example.com", Resource: "backupjobs"}
	refused := apierrors.NewForbidden(resource, "b", errors.New(`admission webhook "a.b.c" denied the request: no`))
	noRight := apierrors.NewForbidden(resource, "b", errors.New(`User "jane" cannot patch resource "backupjobs"`))
	away := apierrors.NewInternalError(errors.New(`failed calling webhook "mutate-backupjob.backup.example.com": connection refused`))
	busy := apierrors.NewTooManyRequests("busy", 1)
	for name, tc := range map[string]struct {
		script   map[string][]error
		problems map[string]string
		err      string
	}{
		"all are taken":                       {},
		"one is refused":                      {script: map[string][]error{"b": {refused}}, problems: map[string]string{"b": ReasonRefused}},
		"one was changed meanwhile":           {script: map[string][]error{"b": {apierrors.NewConflict(resource, "b", nil)}}},
		"one was deleted meanwhile":           {script: map[string][]error{"b": {apierrors.NewNotFound(resource, "b")}}},
		"the webhook restarts":                {script: map[string][]error{"a": {away, away, nil}, "b": {away, busy, nil}, "c": {busy, nil}}},
		"the webhook stumbles over one":       {script: map[string][]error{"c": {away}}, problems: map[string]string{"c": ReasonUnanswered}},
		"the webhook stays away":              {script: map[string][]error{"a": {away}, "b": {away}, "c": {away}}, err: "nothing else could be for 1m0s"},
		"the user has no right to write them": {script: map[string][]error{"a": {noRight}, "b": {noRight}, "c": {noRight}}, err: "rights of a cluster administrator"},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := aMigration(t, answers(tc.script), anObject("n", "a"), anObject("n", "b"), anObject("n", "c"))
			problems, err := m.byWrites(t.Context(), s)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("got %v, want %q", err, tc.err)
			}
			if err != nil {
				return
			}
			if s.Objects != 3 || s.Refused != int64(len(tc.problems)) || len(problems) != len(tc.problems) {
				t.Errorf("%d objects, %d refused, problems %v", s.Objects, s.Refused, problems)
			}
			for _, p := range problems {
				if tc.problems[p.Name] != p.Reason || p.Advice == "" || p.Message == "" {
					t.Errorf("got %+v, want %v", p, tc.problems)
				}
			}
			if s.migrated() != (len(problems) == 0) {
				t.Errorf("stored versions are %v", s.StoredVersions)
			}
		})
	}
}
