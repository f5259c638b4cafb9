// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// Operation is one step of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// fillNames returns the steps that write the default names of the Secret and
// of the claim into an object, each only where nothing stands: what is empty,
// zero or of a wrong type was written by somebody. Without a name of its own
// an object has no such defaults yet; they are then resolved at use.
func fillNames(gvk schema.GroupVersionKind, object map[string]any) []Operation {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	spec, ok := object["spec"].(map[string]any)
	if name == "" || !ok {
		return nil
	}
	f := &filler{secret: name + "-credentials", claim: name + "-backups"}
	if gvk.Version == backupv1.GroupVersion.Version {
		if source, ok := spec["source"].(map[string]any); ok {
			f.fill(source, f.secret, "/spec/source", "credentialsSecretRef", "name")
		}
		// A storage that has something else in it is somebody's choice.
		if storage, ok := spec["storage"].(map[string]any); !ok || len(storage) == 0 || storage["persistentVolumeClaim"] != nil {
			f.fill(spec, f.claim, "/spec", "storage", "persistentVolumeClaim", "claimName")
		}
		return f.steps
	}
	f.fill(spec, f.secret, "/spec", "secretRef")
	switch storage := spec["storage"].(type) {
	case nil:
		f.fill(spec, f.claim, "/spec", "storageClaim")
	case map[string]any:
		// Beside a storage there may be a claim's name only if that has a folder.
		claim, ok := storage["persistentVolumeClaim"].(map[string]any)
		if ok && claim["subPath"] != nil && claim["claimName"] == nil {
			f.fill(spec, f.claim, "/spec", "storageClaim")
		}
	}
	return f.steps
}

type filler struct {
	secret, claim string
	steps         []Operation
}

// fill sets the value at the names below holder, which stands at base, and
// makes the objects that lead to it.
func (f *filler) fill(holder map[string]any, value string, base string, names ...string) {
	for i, name := range names {
		base += "/" + name
		inner := holder[name]
		if inner == nil {
			f.steps = append(f.steps, Operation{Op: "add", Path: base, Value: nested(value, names[i+1:])})
			return
		}
		var ok bool
		if holder, ok = inner.(map[string]any); !ok {
			return
		}
	}
}

func nested(value any, names []string) any {
	if len(names) == 0 {
		return value
	}
	return map[string]any{names[0]: nested(value, names[1:])}
}
