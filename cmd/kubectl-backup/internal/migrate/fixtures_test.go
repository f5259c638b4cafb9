// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

func anObject(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": newVersion.String(), "kind": "BackupJob",
		"metadata": map[string]any{"namespace": namespace, "name": name, "resourceVersion": "7"},
		"spec":     map[string]any{"schedule": "0 2 * * *", "source": map[string]any{"host": "h", "port": int64(1)}},
	}}
}
