// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"maps"
	"strings"
)

// maxQuantity is the longest quantity that is read. The schema refuses longer
// ones, and any exponent: the library expands '1e-99999999' digit by digit,
// for minutes and into all the memory that there is.
const maxQuantity = 32

// withoutWildQuantities is the object without the quantities that the schema
// refuses, which must not even be decoded. The object itself stays as it is,
// for the schema to find them in.
func withoutWildQuantities(object map[string]any) map[string]any {
	for _, list := range []string{"limits", "requests"} {
		object = dropWild(object, "spec", "podTemplate", "resources", list)
	}
	return object
}

func dropWild(object map[string]any, names ...string) map[string]any {
	inner, ok := object[names[0]].(map[string]any)
	if !ok {
		return object
	}
	var tame map[string]any
	if len(names) > 1 {
		tame = dropWild(inner, names[1:]...)
	} else {
		tame = maps.Clone(inner)
		maps.DeleteFunc(tame, func(_ string, value any) bool { return isWild(value) })
	}
	object = maps.Clone(object)
	object[names[0]] = tame
	return object
}

func isWild(value any) bool {
	text, ok := value.(string)
	return ok && (len(text) > maxQuantity || strings.ContainsAny(text, "eE"))
}
