// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// finish is what the migration does at its end: every entry is rewritten, then v1alpha1 goes.
func (s *server) finish() {
	s.t.Helper()
	entries, _, err := NewManagedFields(encode(s.t, s.stored.Object))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.APIVersion != newVersion {
			s.t.Fatalf("%s still owns fields of %s", entry.Manager, entry.APIVersion)
		}
	}
	s.stored.SetManagedFields(entries)
	s.finished = true
}

// TestAServerWithoutV1alpha1RefusesWhatIsNotRewritten is why there is a rewriting at all.
func TestAServerWithoutV1alpha1RefusesWhatIsNotRewritten(t *testing.T) {
	s := newServer(t, "BackupJob")
	body := specOf(t, "databaseHost: h\nschedule: 0 2 * * *")
	if err := s.apply("user", oldVersion, body); err != nil {
		t.Fatal(err)
	}
	s.finished = true
	config := convertObject(t, map[string]any{"apiVersion": oldVersion, "kind": "BackupJob", "spec": body}, newVersion)
	config["metadata"] = map[string]any{"name": "a"}
	if _, err := s.fields[newVersion].Apply(s.stored.DeepCopy(), &unstructured.Unstructured{Object: config}, "user", true); err == nil {
		t.Error("the apply went through")
	}
}

// TestAnOldApplierGoesOnInV1 has one apply an object of v1alpha1 beside others, takes v1alpha1 away, and has
// it apply the same in v1: without a conflict, and with nothing changed. Then it and another
// give up all that they may, which must leave what there would be had they applied in v1 from the start.
func TestAnOldApplierGoesOnInV1(t *testing.T) {
	for _, kind := range []string{"BackupJob", "MySQLBackup"} {
		t.Run(kind, func(t *testing.T) {
			g := newGenerator(t, seed(t))
			for range 40 {
				s := newServer(t, kind)
				body := g.object(s.schemas[oldVersion])["spec"].(map[string]any)
				delete(body, "maxRetries")
				delete(body, "minBackups")
				full := g.inNew(kind, body)
				least := leastOf(kind, full)
				s.live(body, oldVersion)
				before := s.get(newVersion).Object["spec"]
				s.finish()
				if err := s.applyWith("user", newVersion, full, false); err != nil {
					t.Fatalf("the config in v1 is refused: %v\n%s", err, encode(t, full))
				}
				if diff := cmp.Diff(before, s.get(newVersion).Object["spec"]); diff != "" {
					t.Fatalf("the same config in v1 changes the object:\n%s\nv1alpha1 %s", diff, encode(t, body))
				}
				if err := s.applyWith("user", newVersion, least, false); err != nil {
					t.Fatalf("a smaller config in v1 is refused: %v\n%s", err, encode(t, least))
				}
				always := newServer(t, kind)
				always.live(full, newVersion)
				if err := always.apply("user", newVersion, least); err != nil {
					t.Fatal(err)
				}
				for _, server := range []*server{s, always} {
					if err := server.applyWith("other", newVersion, map[string]any{"maxRetries": int64(5)}, false); err != nil {
						t.Fatalf("the other applier is refused: %v", err)
					}
				}
				if diff := cmp.Diff(always.get(newVersion).Object["spec"], s.get(newVersion).Object["spec"]); diff != "" {
					t.Fatalf("what was given up is not pruned, or too much is:\n%s\nv1alpha1 %s", diff, encode(t, body))
				}
			}
		})
	}
}

// live is an object of one applier beside an applier, an editor and two controllers.
func (s *server) live(body map[string]any, version string) {
	s.t.Helper()
	if err := s.apply("user", version, body); err != nil {
		s.t.Fatalf("the config is refused: %v\n%s", err, encode(s.t, body))
	}
	others := map[string]any{"maxRetries": int64(5), "minBackups": int64(3)}
	if version == newVersion {
		others = map[string]any{"maxRetries": int64(5), "retention": map[string]any{"minBackups": int64(3)}}
	}
	if err := s.apply("other", version, others); err != nil {
		s.t.Fatal(err)
	}
	s.mustUpdate("kubectl-label", version, "metadata", map[string]any{"name": "a", "labels": map[string]any{"a": "b"}})
	s.mustUpdate("controller", newVersion, "status", map[string]any{"phase": "Scheduled"})
	s.mustUpdate("old-controller", version, "status", map[string]any{"lastResult": "Failed"})
}

func (g *generator) inNew(kind string, body map[string]any) map[string]any {
	g.tb.Helper()
	object := map[string]any{"apiVersion": oldVersion, "kind": kind, "spec": maps.Clone(body)}
	return convertObject(g.tb, object, newVersion)["spec"].(map[string]any)
}

// leastOf is what a config of v1 must have.
func leastOf(kind string, full map[string]any) map[string]any {
	source := full["source"].(map[string]any)
	least := map[string]any{"host": source["host"]}
	if kind == "MySQLBackup" {
		least["databases"] = source["databases"]
	}
	return map[string]any{"schedule": full["schedule"], "source": least}
}
