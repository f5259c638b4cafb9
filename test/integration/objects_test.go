// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	backupv1 "example.com/backupjob-operator/api/v1"
)

var (
	kinds    = []string{backupv1.KindBackupJob, backupv1.KindMySQLBackup}
	versions = []string{"v1", "v1alpha1"}
)

// scheduleField is what the schedule is called in a version of a kind.
func scheduleField(version, kind string) string {
	if version == "v1alpha1" && kind == backupv1.KindMySQLBackup {
		return "backupSchedule"
	}
	return "schedule"
}

// hostField is what the host is called in v1alpha1.
func hostField(kind string) string {
	if kind == backupv1.KindMySQLBackup {
		return "host"
	}
	return "databaseHost"
}

// object is a valid object with the given top-level fields of the spec set
// over it; a nil value takes a field away.
func object(version, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	base := map[string]any{scheduleField(version, kind): "0 2 * * *"}
	if version == "v1" {
		source := map[string]any{"host": "db.example.com"}
		if kind == backupv1.KindMySQLBackup {
			source["databases"] = []any{"shop"}
		}
		base["source"] = source
	} else {
		base[hostField(kind)] = "db.example.com"
		if kind == backupv1.KindMySQLBackup {
			base["database"] = "shop"
		}
	}
	maps.Copy(base, spec)
	maps.DeleteFunc(base, func(_ string, v any) bool { return v == nil })
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(map[string]any{
		"apiVersion": backupv1.GroupName + "/" + version,
		"kind":       kind,
		"metadata":   map[string]any{"name": name, "namespace": namespace},
		"spec":       base,
	})}
}

// set writes a value at a path of the object, and returns it.
func set(u *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	GinkgoHelper()
	Expect(unstructured.SetNestedField(u.Object, runtime.DeepCopyJSONValue(value), path...)).To(Succeed())
	return u
}

// as returns an empty object of a version, to read into.
func as(version, kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(backupv1.GroupName + "/" + version)
	u.SetKind(kind)
	return u
}

// causes are the faults of a refusal, by field.
func causes(err error) map[string]string {
	GinkgoHelper()
	var status apierrors.APIStatus
	Expect(errors.As(err, &status)).To(BeTrue(), "want a refusal, got %v", err)
	Expect(status.Status().Reason).To(Equal(metav1.StatusReasonInvalid), err.Error())
	Expect(status.Status().Code).To(BeEquivalentTo(422))
	found := map[string]string{}
	for _, cause := range status.Status().Details.Causes {
		found[cause.Field] = cause.Message
	}
	return found
}
