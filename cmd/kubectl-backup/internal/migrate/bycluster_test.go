// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// migrator is the cluster's: it does one thing each time that someone looks.
type migrator struct {
	script []func(ctx context.Context, c client.Client, one *storagemigrationv1.StorageVersionMigration) error
	asked  int
}

func (g *migrator) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			g.asked++
			return c.Create(ctx, object, opts...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			one, ok := object.(*storagemigrationv1.StorageVersionMigration)
			if ok && len(g.script) > 0 {
				if err := c.Get(ctx, key, one, opts...); err != nil {
					return err
				}
				now := g.script[0]
				g.script = g.script[1:]
				if err := now(ctx, c, one); err != nil {
					return err
				}
			}
			return c.Get(ctx, key, object, opts...)
		},
	}
}

// says writes a condition, as the cluster's controllers do.
func says(what storagemigrationv1.MigrationConditionType, status metav1.ConditionStatus, message string) func(context.Context, client.Client, *storagemigrationv1.StorageVersionMigration) error {
	return func(ctx context.Context, c client.Client, one *storagemigrationv1.StorageVersionMigration) error {
		meta.SetStatusCondition(&one.Status.Conditions, metav1.Condition{Type: string(what), Status: status, Reason: "R", Message: message})
		return c.Status().Update(ctx, one)
	}
}

func trims(ctx context.Context, c client.Client, _ *storagemigrationv1.StorageVersionMigration) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: aCRD().Name}, crd); err != nil {
		return err
	}
	crd.Status.StoredVersions = []string{"v1"}
	return c.Status().Update(ctx, crd)
}

func sleeps(context.Context, client.Client, *storagemigrationv1.StorageVersionMigration) error {
	return nil
}

var (
	begins    = says(storagemigrationv1.MigrationRunning, metav1.ConditionTrue, "")
	stumbles  = says(storagemigrationv1.MigrationRunning, metav1.ConditionTrue, "running; transient error: connection refused")
	succeeds  = says(storagemigrationv1.MigrationSucceeded, metav1.ConditionTrue, "")
	fails     = says(storagemigrationv1.MigrationFailed, metav1.ConditionTrue, `3/9 not yet migrated: admission webhook "a" denied`)
	leaves    = says(storagemigrationv1.MigrationRunning, metav1.ConditionFalse, "")
	noTrim    = []func(context.Context, client.Client, *storagemigrationv1.StorageVersionMigration) error{begins, succeeds, leaves}
	trimsThen = []func(context.Context, client.Client, *storagemigrationv1.StorageVersionMigration) error{begins, stumbles, succeeds, trims, leaves}
)

func TestByCluster(t *testing.T) {
	another := &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "of-someone-else"},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: "backup.example.com", Resource: "backupjobs"}},
	}
	type script = []func(context.Context, client.Client, *storagemigrationv1.StorageVersionMigration) error
	join := func(parts ...script) (all script) {
		for _, part := range parts {
			all = append(all, part...)
		}
		return all
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		script  script
		asked   int
		err     string
		left    int // requests that are not deleted
	}{
		"it succeeds":                           {nil, trimsThen, 1, "", 0},
		"the CRD changes meanwhile, twice":      {nil, join(noTrim, noTrim, trimsThen), 3, "", 0},
		"the CRD changes again and again":       {nil, join(noTrim, noTrim, noTrim, noTrim, noTrim), 5, "migrated backupjobs 5 times, but each time the CRD backupjobs.backup.example.com was changed", 5},
		"an object is refused, yet it trims":    {nil, script{begins, fails, trims, leaves}, 1, `failed: 3/9 not yet migrated: admission webhook "a" denied` + "\nNothing is lost. 'kubectl backup migrate plan' names every object", 1},
		"another migration is under way":        {[]client.Object{another}, trimsThen, 0, "", 1},
		"nobody works on it":                    {nil, nil, 1, errSilent.Error(), 0},
		"the migrator takes a while to wake up": {nil, join(script{sleeps, sleeps, sleeps}, trimsThen), 1, "", 0},
		"someone deletes it": {nil, script{begins, func(ctx context.Context, c client.Client, one *storagemigrationv1.StorageVersionMigration) error {
			return c.Delete(ctx, one)
		}}, 1, "someone deleted the StorageVersionMigration", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := &migrator{script: tc.script}
			objects := append([]client.Object{anObject("a", "b")}, tc.objects...)
			for i := range objects {
				objects[i] = objects[i].DeepCopyObject().(client.Object)
			}
			m, s := aMigration(t, g.funcs(), objects...)
			err := m.byCluster(t.Context(), s)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			if g.asked != tc.asked || s.migrated() != (tc.err == "") || s.Objects != 1 {
				t.Errorf("asked %d times, want %d; stored versions %v; %d objects", g.asked, tc.asked, s.StoredVersions, s.Objects)
			}
			if tc.err != "" && !slices.Contains(s.StoredVersions, "v1alpha1") {
				t.Errorf("v1alpha1 could be dropped: the stored versions are %v", s.StoredVersions)
			}
			var left storagemigrationv1.StorageVersionMigrationList
			if err := m.client.List(t.Context(), &left); err != nil || len(left.Items) != tc.left {
				t.Errorf("%d requests are left, want %d: %v", len(left.Items), tc.left, err)
			}
		})
	}
}

func TestByClusterSaysThatTheClusterGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	interrupts := func(context.Context, client.Client, *storagemigrationv1.StorageVersionMigration) error {
		cancel()
		return nil
	}
	g := &migrator{script: []func(context.Context, client.Client, *storagemigrationv1.StorageVersionMigration) error{begins, interrupts}}
	m, s := aMigration(t, g.funcs(), anObject("a", "b"))
	if err := interrupted(ctx, m.byCluster(ctx, s)); !errors.Is(err, errGoesOn) {
		t.Errorf("got %v", err)
	}
}

// TestAutoWritesWhereNobodyMigrates takes the request back and does it itself.
func TestAutoWritesWhereNobodyMigrates(t *testing.T) {
	for method, want := range map[Method]string{MethodAuto: "", MethodCluster: errSilent.Error()} {
		m, s := aMigration(t, (&migrator{}).funcs(), anObject("a", "b"))
		m.Method = method
		_, err := m.migrate(t.Context(), []*subject{s}, MethodCluster)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: got %v, want %q", method, err, want)
		}
		if s.migrated() != (want == "") {
			t.Errorf("%s: stored versions %v", method, s.StoredVersions)
		}
		if method == MethodAuto && s.Method != "Writes" {
			t.Errorf("the report says %s", s.Method)
		}
	}
}

// TestAFailedMigrationIsNone: Kubernetes 1.37 trims the stored versions after a
// migration that failed. Only writing every object makes that good.
func TestAFailedMigrationIsNone(t *testing.T) {
	m, s := aMigration(t, interceptor.Funcs{}, anObject("a", "b"))
	s.crd.Status.StoredVersions = []string{"v1"}
	s.crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "R"},
		{Type: apiextensionsv1.StorageMigrating, Status: apiextensionsv1.ConditionFalse, Reason: "MigrationFailed"},
	}
	if err := m.client.Status().Update(t.Context(), s.crd); err != nil {
		t.Fatal(err)
	}
	if err := m.read(t.Context(), s); err != nil || s.migrated() {
		t.Errorf("it counts as migrated: %v", err)
	}
	if problems, err := m.byWrites(t.Context(), s); err != nil || len(problems) > 0 || !s.migrated() || len(s.crd.Status.Conditions) != 2 {
		t.Errorf("writing every object does not make it good: %v, %v, %v", problems, err, s.crd.Status)
	}
}
