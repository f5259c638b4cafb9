// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utiljson "sigs.k8s.io/json"
)

// checkMetadata finds what the server itself refuses in the metadata of every
// kind. What is of a wrong type is left to the judgement.
func checkMetadata(raw []byte) (unknown []string, faults field.ErrorList) {
	var object struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(raw, &object) != nil || len(object.Metadata) == 0 {
		return nil, nil
	}
	meta := &metav1.ObjectMeta{}
	strict, err := utiljson.UnmarshalStrict(object.Metadata, meta, utiljson.DisallowUnknownFields)
	if err != nil {
		return nil, nil
	}
	for _, one := range strict {
		if at, ok := errors.AsType[utiljson.FieldError](one); ok {
			unknown = append(unknown, "metadata."+at.FieldPath())
		}
	}
	// Without a namespace the object goes to that of the kubeconfig.
	meta.Namespace = cmp.Or(meta.Namespace, metav1.NamespaceDefault)
	meta.ManagedFields = nil // the server drops them
	return unknown, validation.ValidateObjectMeta(meta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}
