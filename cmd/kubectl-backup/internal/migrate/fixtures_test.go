// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"io"
	"testing"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
)

func anObject(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": newVersion.String(), "kind": "BackupJob",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec":     map[string]any{"schedule": "0 2 * * *", "source": map[string]any{"host": "h", "port": int64(1)}},
	}}
}

// aCRD serves both versions, and may have stored both.
func aCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "backupjobs.backup.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
			{Name: "v1", Served: true, Storage: true}, {Name: "v1alpha1", Served: true},
		}},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1alpha1", "v1"}},
	}
}

// impatient is a clock that goes on as soon as somebody waits for it.
type impatient struct{ *clocktesting.FakeClock }

func (c impatient) NewTimer(d time.Duration) clock.Timer {
	timer := c.FakeClock.NewTimer(d)
	c.Step(d)
	return timer
}

func (c impatient) NewTicker(d time.Duration) clock.Ticker {
	return &impatientTicker{c.FakeClock.NewTicker(d), c.FakeClock, d}
}

type impatientTicker struct {
	clock.Ticker
	clock *clocktesting.FakeClock
	every time.Duration
}

func (t *impatientTicker) C() <-chan time.Time {
	t.clock.Step(t.every)
	return t.Ticker.C()
}

// aMigration works on what a test says is in the cluster.
func aMigration(t *testing.T, on interceptor.Funcs, objects ...client.Object) (*migration, *subject) {
	t.Helper()
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{apiextensionsv1.AddToScheme, storagemigrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := impatient{clocktesting.NewFakeClock(noon)}
	m := &migration{
		Options: Options{Method: MethodAuto, ChunkSize: 500, Concurrency: 2, ErrOut: io.Discard},
		client: fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper()).WithReturnManagedFields().WithObjects(append(objects, aCRD())...).
			WithStatusSubresource(aCRD(), &storagemigrationv1.StorageVersionMigration{}).WithInterceptorFuncs(on).Build(),
		clock: c, progress: newProgress(io.Discard, c), patience: time.Minute, silence: silence,
	}
	s := &subject{Resource: &Resource{Name: "backupjobs", Kind: "BackupJob"}, kind: cluster.Kinds[0]}
	if err := m.read(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return m, s
}
