// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/backupjob-operator/config/crd"
)

type props = apiextensionsv1.JSONSchemaProps

// schemaOf is the schema of a version as it is shipped.
func schemaOf(kind, version string) *props {
	GinkgoHelper()
	definitions, err := crd.CRDs()
	Expect(err).NotTo(HaveOccurred())
	for _, definition := range definitions {
		for _, v := range definition.Spec.Versions {
			if definition.Spec.Names.Kind == kind && v.Name == version {
				return v.Schema.OpenAPIV3Schema
			}
		}
	}
	Fail("there is no " + kind + " of " + version)
	return nil
}

// step is one part of a path: the name of a field, or of a key in a map, or
// the index of an item, which is always the first.
type step struct {
	name string
	item bool
}

// visitSchema calls visit for whatever stands below.
func visitSchema(path []step, s *props, visit func([]step, *props)) {
	visit(path, s)
	below := func(next step, s *props) { visitSchema(append(slices.Clone(path), next), s, visit) }
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		below(step{name: name}, &property)
	}
	if s.Items != nil && s.Items.Schema != nil {
		below(step{item: true}, s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		below(step{name: "key"}, s.AdditionalProperties.Schema)
	}
}

func pathText(path []step) string {
	text := ""
	for _, s := range path {
		switch {
		case s.item:
			text += "[0]"
		case text == "":
			text = s.name
		default:
			text += "." + s.name
		}
	}
	return text
}

// meaningful are values where the schema alone does not say enough.
var meaningful = map[string]any{
	"spec.schedule":                            "30 4 * * 1-5",
	"spec.timeZone":                            "Europe/Berlin",
	"spec.podTemplate.tolerations[0].effect":   "NoExecute",
	"spec.podTemplate.tolerations[0].operator": "Equal",
	"spec.podTemplate.resources.limits.key":    "2",
	"spec.podTemplate.resources.requests.key":  "1",
	"spec.suspend":                             true,
}

// everything is an object of v1 in which every field of the schema is set, to
// a value that is not its default.
func everything(kind, namespace, name string) *unstructured.Unstructured {
	GinkgoHelper()
	s := schemaOf(kind, "v1")
	spec := s.Properties["spec"]
	u := object("v1", kind, namespace, name, nil)
	return set(u, valueOf([]step{{name: "spec"}}, &spec), "spec")
}

func valueOf(path []step, s *props) any {
	GinkgoHelper()
	if value, ok := meaningful[pathText(path)]; ok {
		return value
	}
	if strings.HasSuffix(pathText(path), ".matchFields[0].key") {
		return "metadata.name"
	}
	switch {
	case len(s.Enum) > 0:
		return otherThanDefault(s)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return map[string]any{"key": valueOf(append(slices.Clone(path), step{name: "key"}), s.AdditionalProperties.Schema)}
	case s.Type == "object":
		fields := map[string]any{}
		for name, property := range s.Properties {
			fields[name] = valueOf(append(slices.Clone(path), step{name: name}), &property)
		}
		return fields
	case s.Type == "array":
		items := []any{valueOf(append(slices.Clone(path), step{item: true}), s.Items.Schema)}
		if path[len(path)-1].name == "databases" { // one has another home than several
			items = append(items, "täble")
		}
		return items
	case s.Type == "integer":
		if s.Minimum != nil {
			return int64(*s.Minimum) + 1
		}
		return int64(1)
	case s.Type == "boolean":
		return false
	}
	return textLike(pathText(path), s)
}

func otherThanDefault(s *props) string {
	for _, allowed := range s.Enum {
		if s.Default == nil || string(allowed.Raw) != string(s.Default.Raw) {
			return unquoted(allowed)
		}
	}
	return unquoted(s.Enum[0])
}

func unquoted(value apiextensionsv1.JSON) string { return string(value.Raw[1 : len(value.Raw)-1]) }

func textLike(path string, s *props) string {
	GinkgoHelper()
	pattern := regexp.MustCompile(s.Pattern)
	for _, text := range []string{"ab", "ab.cd", "example.com/ab", "1"} {
		if pattern.MatchString(text) {
			return text
		}
	}
	Fail(path + ": no text at hand matches " + s.Pattern)
	return ""
}

// at is what stands at a path, which all its steps lead to.
func at(u *unstructured.Unstructured, path []step) (value any, found bool) {
	value = u.Object
	for _, s := range path {
		switch typed := value.(type) {
		case map[string]any:
			value, found = typed[s.name]
		case []any:
			value, found = typed[0], true
		default:
			return nil, false
		}
		if !found {
			return nil, false
		}
	}
	return value, true
}

// withValue returns a copy of the object with another value at a path, or with
// none.
func withValue(u *unstructured.Unstructured, path []step, value any) *unstructured.Unstructured {
	GinkgoHelper()
	u = u.DeepCopy()
	last := path[len(path)-1]
	holder, found := at(u, path[:len(path)-1])
	Expect(found).To(BeTrue(), pathText(path))
	switch typed := holder.(type) {
	case map[string]any:
		if typed[last.name] = value; value == nil {
			delete(typed, last.name)
		}
	case []any:
		typed[0] = value
	}
	return u
}

var _ = Describe("The object with everything", func() {
	for _, kind := range kinds {
		It("has a value at every path of "+kind+", so that no field can be forgotten", func() {
			s := schemaOf(kind, "v1")
			spec := s.Properties["spec"]
			u := everything(kind, "default", "a")
			visitSchema([]step{{name: "spec"}}, &spec, func(path []step, _ *props) {
				_, found := at(u, path)
				Expect(found).To(BeTrue(), pathText(path))
			})
		})
	}
})
