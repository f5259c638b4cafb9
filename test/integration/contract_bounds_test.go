// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/conversion"
)

// breach is an object of v1 that breaks one bound of its schema.
type breach struct {
	name   string
	object *unstructured.Unstructured
}

// breaches are as many as the schema has bounds: whoever adds a bound to v1
// and forgets v1alpha1 finds it here.
func breaches(kind, namespace string) []breach {
	GinkgoHelper()
	good := everything(kind, namespace, "broken")
	s := schemaOf(kind, "v1")
	spec := s.Properties["spec"]
	var all []breach
	visitSchema([]step{{name: "spec"}}, &spec, func(path []step, s *props) {
		add := func(bound string, value any) {
			all = append(all, breach{fmt.Sprintf("%s: %s", pathText(path), bound), withValue(good, path, value)})
		}
		breakNumbers(s, add)
		breakTexts(s, add)
		breakSizes(good, path, s, add)
		if wrong, ok := map[string]any{"string": int64(7), "integer": "7", "boolean": "true", "object": "text", "array": "text"}[s.Type]; ok {
			add("type "+s.Type, wrong)
		}
		for _, name := range s.Required {
			all = append(all, breach{
				pathText(path) + ": required " + name, withValue(good, append(slices.Clone(path), step{name: name}), nil),
			})
		}
		for _, rule := range s.XValidations {
			add("rule "+rule.Message, breaksRule(pathText(path), rule.Message))
		}
	})
	return all
}

func breakNumbers(s *props, add func(string, any)) {
	if s.Minimum != nil {
		add("minimum", int64(*s.Minimum)-1)
	}
	if s.Maximum != nil {
		add("maximum", int64(*s.Maximum)+1)
	}
	if s.Format == "int32" && s.Maximum == nil {
		add("format int32", int64(1)<<31)
	}
}

func breakTexts(s *props, add func(string, any)) {
	if s.MinLength != nil && *s.MinLength > 0 {
		add("minLength", "")
	}
	if s.MaxLength != nil {
		add("maxLength", strings.Repeat("a", int(*s.MaxLength)+1))
	}
	if len(s.Enum) > 0 {
		add("enum", "Nonesuch")
	}
	if s.Pattern == "" {
		return
	}
	pattern := regexp.MustCompile(s.Pattern)
	for _, text := range []string{"=", "a b", "/", "a\nb"} {
		if !pattern.MatchString(text) && (s.MaxLength == nil || utf8.RuneCountInString(text) <= int(*s.MaxLength)) {
			add("pattern", text)
			return
		}
	}
	Fail("no text at hand breaks " + s.Pattern)
}

func breakSizes(good *unstructured.Unstructured, path []step, s *props, add func(string, any)) {
	value, _ := at(good, path)
	if s.MinItems != nil && *s.MinItems > 0 {
		add("minItems", []any{})
	}
	if s.MaxItems != nil {
		add("maxItems", several(value.([]any)[0], int(*s.MaxItems)+1))
	}
	if s.XListType != nil && *s.XListType != "atomic" {
		item := value.([]any)[0]
		add("list type "+*s.XListType, []any{item, runtime.DeepCopyJSONValue(item)})
	}
	if s.MinProperties != nil && *s.MinProperties > 0 {
		add("minProperties", map[string]any{})
	}
	if s.MaxProperties != nil {
		many := map[string]any{}
		for i := range *s.MaxProperties + 1 {
			many[fmt.Sprintf("k%d", i)] = value.(map[string]any)["key"]
		}
		add("maxProperties", many)
	}
}

// several are n items that differ where items of such a list have to.
func several(item any, n int) []any {
	items := make([]any, n)
	for i := range items {
		switch typed := item.(type) {
		case string:
			items[i] = fmt.Sprintf("%s%d", typed, i)
		case map[string]any:
			one := runtime.DeepCopyJSON(typed)
			if name, ok := one["name"].(string); ok {
				one["name"] = fmt.Sprintf("%s%d", name, i)
			}
			items[i] = one
		}
	}
	return items
}

// ruleBreakers are values that break the CEL rules, by a part of the message.
var ruleBreakers = map[string]any{
	"must not contain keys of": map[string]any{"batch.kubernetes.io/job-name": "a"},
	"at most 32 characters":    map[string]any{"cpu": strings.Repeat("9", 33)},
	"without an exponent":      map[string]any{"cpu": "1e3"},
	"must not contain '..'":    "a/../b",
	"only once":                []any{"ab", "ab"},
}

func breaksRule(path, message string) any {
	GinkgoHelper()
	for part, value := range ruleBreakers {
		if strings.Contains(message, part) {
			return value
		}
	}
	Fail(fmt.Sprintf("%s: nothing at hand breaks the rule %q: add a value to ruleBreakers", path, message))
	return nil
}

// unbreakable are bounds that no write can break, because a default fills in
// what would be missing.
var unbreakable = []string{
	"spec.retention: minProperties", "spec.source.credentialsSecretRef: minProperties",
}

// withoutForm are breaches that have no form in v1alpha1: it does not have the
// object that v1 holds the fields in, and a port is a part of a text there.
var withoutForm = []string{"spec.retention: type object", "spec.source: type object", "spec.source.port: type integer"}

var _ = Describe("What v1 demands, v1alpha1 demands too", func() {
	for _, kind := range kinds {
		It("refuses in both versions whatever breaks a bound of "+kind+" in v1, without any webhook", func(ctx context.Context) {
			ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
			for _, version := range versions {
				u := inVersion(version, everything(kind, ns, "whole"))
				Expect(admin.Create(ctx, u, client.DryRunAll)).To(Succeed(), "the object with everything must be admitted in "+version)
			}
			all := breaches(kind, ns)
			Expect(len(all)).To(BeNumerically(">", 300), "the walk must see the whole schema")
			var accepted []string
			for _, b := range all {
				for _, version := range versions {
					if version == "v1alpha1" && slices.Contains(withoutForm, b.name) || slices.Contains(unbreakable, b.name) {
						continue
					}
					if admin.Create(ctx, inVersion(version, b.object), client.DryRunAll) == nil {
						accepted = append(accepted, version+" "+b.name)
					}
				}
			}
			Expect(accepted).To(BeEmpty(), "%d bounds were tried", len(all))
		})
	}
})

// inVersion is an object of v1 as its own version or the other one says it.
func inVersion(version string, u *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	raw, err := u.MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	raw, err = conversion.Convert(raw, backupv1.GroupName+"/"+version)
	Expect(err).NotTo(HaveOccurred())
	converted := &unstructured.Unstructured{}
	Expect(converted.UnmarshalJSON(raw)).To(Succeed())
	return converted
}
