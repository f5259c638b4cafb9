// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inOld is an object as a server sends it in v1alpha1.
func inOld(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	made, err := convertObject(object, oldVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: made}
}

func TestCompare(t *testing.T) {
	cases := map[string]struct {
		change func(read, old map[string]any)
		want   string
	}{
		"the same": {func(_, _ map[string]any) {}, ""},
		"another value in v1alpha1": {
			func(_, old map[string]any) { old["spec"].(map[string]any)["databaseHost"] = "other:1" },
			`spec.databaseHost in v1alpha1: the server has "other:1", the converter makes "h:1"`,
		},
		"a field that v1alpha1 lost": {
			func(_, old map[string]any) { delete(old["spec"].(map[string]any), "databaseHost") },
			`spec.databaseHost in v1alpha1: the server has nothing, the converter makes "h:1"`,
		},
		"a field that only v1alpha1 has": {
			func(_, old map[string]any) { old["spec"].(map[string]any)["odd"] = []any{} },
			`spec.odd in v1alpha1: the server has [], the converter makes nothing`,
		},
		"a null that is nothing elsewhere": {
			func(_, old map[string]any) { old["spec"].(map[string]any)["suspend"] = nil },
			`the server has`,
		},
		"a label": {
			func(read, _ map[string]any) {
				read["metadata"].(map[string]any)["labels"] = map[string]any{"a.b/c": "d"}
			},
			`metadata.labels in v1alpha1: the server has nothing, the converter makes {"a.b/c":"d"}`,
		},
		"what does not come back from v1alpha1": {
			func(read, old map[string]any) {
				read["spec"].(map[string]any)["source"].(map[string]any)["host"] = "h:2"
				delete(read["spec"].(map[string]any)["source"].(map[string]any), "port")
				old["spec"].(map[string]any)["databaseHost"] = "h:2"
			},
			`spec.source.host in v1: the server has "h:2", the converter makes "h"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			read := anObject("a", "b")
			old := inOld(t, read)
			tc.change(read.Object, old.Object)
			got, _, err := compare(read, old)
			if err != nil || (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestCompareIsOfOurKinds(t *testing.T) {
	read := anObject("a", "b")
	read.SetKind("Secret")
	if _, _, err := compare(read, read); err == nil {
		t.Error("a Secret is compared")
	}
}
