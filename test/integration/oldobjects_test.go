// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// busy is the name of the objects that are written while others are migrated.
const busy = "busy"

// oddSpec is one of the specs that today's rules refuse.
func oddSpec(kind string, i int) map[string]any {
	switch i / 2 % 25 {
	case 3:
		return map[string]any{scheduleField("v1alpha1", kind): "every night"}
	case 7:
		return map[string]any{hostField(kind): "http://db.example.com:3306/x", "retentionDays": int64(0)}
	case 11:
		return map[string]any{scheduleField("v1alpha1", kind): "CRON_TZ=Mars/Olympus 0 2 * * *", "maxRetries": int64(99)}
	case 19:
		return map[string]any{hostField(kind): "[::1]", "database": "x; touch y", "compression": "Rar"}
	}
	return nil
}

// usual are specs as teams write them.
func usual(kind string, i int) map[string]any {
	spec := map[string]any{hostField(kind): fmt.Sprintf("db-%d.example.com", i), "database": "shop", "retentionDays": int64(1 + i%30)}
	if i%3 != 0 {
		spec[hostField(kind)] = fmt.Sprintf("db-%d.example.com:%d", i, 3306+i)
	}
	if i%4 == 0 {
		spec[scheduleField("v1alpha1", kind)] = "CRON_TZ=Europe/Berlin 0 2 * * *"
	}
	if i%5 == 0 {
		spec["secretRef"], spec["credentialKeys"] = "login", map[string]any{"usernameKey": "u"}
	}
	if i%6 < 2 {
		spec["storageClaim"], spec["minBackups"] = "claim", int64(3)
	}
	if i%7 == 0 {
		spec["database"] = nil
		spec["databases"] = []any{"a", "b"}
	}
	return spec
}

// fill makes objects up to the n-th in v1alpha1. Before the upgrade some are
// odd; after it, half are made in v1.
func (o *oldCluster) fill(ctx context.Context, n int) {
	GinkgoHelper()
	upgraded := o.next > 0
	for ; o.next < n; o.next++ {
		i, kind := o.next, kindOf(o.next)
		spec := usual(kind, i)
		u := object("v1alpha1", kind, o.namespace, nameOf(i), spec)
		if strange := oddSpec(kind, i); strange != nil && !upgraded {
			u = object("v1alpha1", kind, o.namespace, nameOf(i), strange)
		}
		switch {
		case upgraded && i%4 > 1:
			Expect(o.client.Create(ctx, inNew(u), client.FieldOwner("new-team"))).To(Succeed())
			continue
		case i%10 > 7:
			Expect(o.client.Create(ctx, u, client.FieldOwner("kubectl-create"))).To(Succeed())
		default:
			o.applied(ctx, "team-a", u)
		}
		o.applied(ctx, "team-b", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": u.GetAPIVersion(), "kind": kind,
			"metadata": map[string]any{"name": u.GetName(), "namespace": o.namespace, "labels": map[string]any{"team": "b"}},
			"spec":     map[string]any{"podTemplate": map[string]any{"priorityClassName": "low"}},
		}})
		if i%3 == 0 {
			o.report(ctx, kind, u.GetName())
		}
	}
}

// applied applies a config of v1alpha1, and remembers it.
func (o *oldCluster) applied(ctx context.Context, manager string, config *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(o.apply(ctx, manager, config)).To(Succeed())
	if o.configs[key(config)] == nil {
		o.configs[key(config)] = map[string]*unstructured.Unstructured{}
	}
	o.configs[key(config)][manager] = config
}

// report writes a status as the old controller did.
func (o *oldCluster) report(ctx context.Context, kind, name string) {
	GinkgoHelper()
	u := as("v1alpha1", kind)
	Expect(o.client.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, u)).To(Succeed())
	status := map[string]any{"lastBackupTime": "2026-11-29T02:00:00Z", "lastResult": "Failed"}
	if kind == backupv1.KindMySQLBackup {
		status = map[string]any{"lastBackupTime": "2026-11-29T02:00:00Z", "backupStatus": "Succeeded", "lastResult": "Succeeded"}
	}
	Expect(o.client.Status().Update(ctx, set(u, status, "status"), client.FieldOwner("old-controller"))).To(Succeed())
}

// givesUp is a smaller config of v1, with what it gave up: path and value.
func (o *oldCluster) givesUp(manager string, full *unstructured.Unstructured) (*unstructured.Unstructured, map[string]any) {
	less := full.DeepCopy()
	paths := []string{"spec.timeZone", "spec.source.port", "spec.source.credentialsSecretRef.name", "spec.storage.persistentVolumeClaim.claimName",
		"spec.retention.minBackups"}
	if full.GetKind() == backupv1.KindBackupJob {
		paths = append(paths, "spec.source.databases")
	}
	if manager == "team-b" {
		paths = []string{"metadata.labels.team", "spec.podTemplate.priorityClassName"}
	}
	gone := map[string]any{}
	for _, path := range paths {
		names := strings.Split(path, ".")
		if value, found, _ := unstructured.NestedFieldNoCopy(less.Object, names...); found {
			gone[path] = value
			unstructured.RemoveNestedField(less.Object, names...)
		}
		for last := len(names) - 1; last > 1; last-- { // an applier does not own what is empty
			if holder, found, _ := unstructured.NestedMap(less.Object, names[:last]...); found && len(holder) == 0 {
				unstructured.RemoveNestedField(less.Object, names[:last]...)
			}
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	return less, gone
}

// bystanders apply one object of each kind in v1alpha1 again and again.
type bystanders struct {
	o       *oldCluster
	stop    context.CancelFunc
	done    sync.WaitGroup
	last    map[string]*atomic.Int64
	refused atomic.Int64
}

func (o *oldCluster) startBystanders(ctx context.Context) *bystanders {
	ctx, stop := context.WithCancel(ctx)
	s := &bystanders{o: o, stop: stop, last: map[string]*atomic.Int64{}}
	for _, kind := range kinds {
		s.last[kind] = &atomic.Int64{}
		s.done.Go(func() {
			for n := int64(1); ctx.Err() == nil; n++ {
				err := o.apply(context.WithoutCancel(ctx), "team-a", object("v1alpha1", kind, o.namespace, busy, map[string]any{"retentionDays": 1 + n%3000}))
				if err != nil {
					s.refused.Add(1)
					continue
				}
				s.last[kind].Store(1 + n%3000)
			}
		})
	}
	return s
}

func (s *bystanders) awaitRefused() {
	GinkgoHelper()
	from := s.refused.Load()
	Eventually(s.refused.Load).WithTimeout(soon).Should(BeNumerically(">", from+2), "the door is closed")
}

// end stops them; each object holds what was last taken.
func (s *bystanders) end(ctx context.Context) {
	GinkgoHelper()
	s.stop()
	s.done.Wait()
	for kind, last := range s.last {
		u := as("v1alpha1", kind)
		Expect(s.o.client.Get(ctx, client.ObjectKey{Namespace: s.o.namespace, Name: busy}, u)).To(Succeed())
		Expect(u.Object["spec"]).To(HaveKeyWithValue("retentionDays", last.Load()))
		s.o.configs[key(u)] = map[string]*unstructured.Unstructured{
			"team-a": object("v1alpha1", kind, s.o.namespace, busy, map[string]any{"retentionDays": last.Load()}),
		}
	}
}
