// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	crd "example.com/backupjob-operator/config/crd"
)

// schema is the schema of one kind in one version, as the CRDs have it.
type schema struct {
	kind, version string
	structural    *structuralschema.Structural
	props         *apiextensionsv1.JSONSchemaProps
	types         validation.SchemaValidator
	rules         *cel.Validator
}

var allSchemas = sync.OnceValues(func() ([]schema, error) {
	crds, err := crd.CRDs()
	if err != nil {
		return nil, err
	}
	var all []schema
	for _, definition := range crds {
		for _, version := range definition.Spec.Versions {
			s, err := newSchema(definition.Spec.Names.Kind, definition.Spec.Group, version)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", definition.Name, version.Name, err)
			}
			all = append(all, s)
		}
	}
	return all, nil
})

func newSchema(kind, group string, version apiextensionsv1.CustomResourceDefinitionVersion) (schema, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return schema{}, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return schema{}, err
	}
	types, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return schema{}, err
	}
	return schema{
		kind: kind, version: group + "/" + version.Name, structural: structural, props: version.Schema.OpenAPIV3Schema,
		types: types, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

func schemasOf(tb testing.TB) []schema {
	tb.Helper()
	all, err := allSchemas()
	if err != nil {
		tb.Fatalf("read the schemas of the CRDs: %v", err)
	}
	if len(all) != 4 {
		tb.Fatalf("the CRDs have %d schemas, want two kinds in two versions", len(all))
	}
	return all
}

func schemaOf(tb testing.TB, kind, version string) schema {
	tb.Helper()
	for _, s := range schemasOf(tb) {
		if s.kind == kind && s.version == version {
			return s
		}
	}
	tb.Fatalf("the CRDs have no %s in %s", kind, version)
	return schema{}
}

// judge says what a server would refuse the object for. It is what kube-apiserver runs on a create, in the
// same order.
func (s schema) judge(tb testing.TB, object map[string]any) field.ErrorList {
	tb.Helper()
	errs := validation.ValidateCustomResource(nil, object, s.types)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	if len(errs) > 0 {
		return errs
	}
	errs, _ = s.rules.Validate(tb.Context(), nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return errs
}

// generator draws objects that a schema admits: every field absent, at its bounds, zero, empty or between.
type generator struct {
	*rand.Rand
	tb testing.TB
	// density is how likely an optional field is there; every object has another.
	density float64
}

func newGenerator(tb testing.TB, seed uint64) *generator {
	tb.Helper()
	return &generator{Rand: rand.New(rand.NewPCG(seed, 0)), tb: tb}
}

// object draws an object with its metadata.
func (g *generator) object(s schema) map[string]any {
	g.density = g.Float64() * g.Float64()
	object := g.value("", s.structural).(map[string]any)
	object["apiVersion"], object["kind"] = s.version, s.kind
	metadata := map[string]any{"name": g.name(63), "namespace": "default", "resourceVersion": "1", "generation": int64(1)}
	if g.chance(0.5) {
		metadata["labels"] = map[string]any{"a": g.name(9)}
		metadata["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "{\"a\":\"<&>\u2028\"}"}
	}
	object["metadata"] = metadata
	if s.version == oldVersion {
		g.obeyOldRules(s, object["spec"].(map[string]any))
	}
	return object
}

// obeyOldRules brings a spec into line with the CEL rules of v1alpha1, each way there is with equal chance.
func (g *generator) obeyOldRules(s schema, spec map[string]any) {
	delete(spec, "timeZone")
	databases, several := spec["databases"].([]any)
	switch _, one := spec["database"]; {
	case one && several && g.chance(0.5):
		delete(spec, "database")
	case one:
		delete(spec, "databases")
	case !several && s.kind == "MySQLBackup":
		spec["database"] = "db"
	}
	if _, several = spec["databases"]; several && len(databases) == 1 {
		spec["databases"] = append(databases, "another "+databases[0].(string)[:1])
	}
	storage, hasStorage := spec["storage"].(map[string]any)
	volume, _ := storage["persistentVolumeClaim"].(map[string]any)
	delete(volume, "claimName")
	if _, hasClaim := spec["storageClaim"]; hasClaim && hasStorage && volume["subPath"] == nil {
		delete(spec, []string{"storage", "storageClaim"}[g.IntN(2)])
	}
}

func (g *generator) value(path string, s *structuralschema.Structural) any {
	validation := s.ValueValidation
	if validation == nil {
		validation = &structuralschema.ValueValidation{}
	}
	switch {
	case len(validation.Enum) > 0:
		return validation.Enum[g.IntN(len(validation.Enum))].Object
	case s.XIntOrString:
		return []any{int64(0), int64(2), "100m", "1.5Gi", "0", "+1", ".5"}[g.IntN(7)]
	}
	switch s.Type {
	case "object":
		return g.fields(path, s, validation)
	case "array":
		return g.array(path, s, validation)
	case "string":
		return g.text(path, validation)
	case "integer":
		return g.integer(validation)
	case "boolean":
		return g.chance(0.5)
	}
	g.tb.Fatalf("%s has type %q, which the generator does not know", path, s.Type)
	return nil
}

func (g *generator) fields(path string, s *structuralschema.Structural, validation *structuralschema.ValueValidation) any {
	object := map[string]any{}
	for _, name := range sortedNames(s.Properties) {
		property := s.Properties[name]
		if path == "" && name != "spec" && name != "status" {
			continue
		}
		required := false
		for _, r := range validation.Required {
			required = required || r == name
		}
		if required || g.chance(g.density) {
			object[name] = g.value(path+"."+name, &property)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		for range g.count(0, limit(validation.MaxProperties, 8)) {
			object[g.name(9)] = g.value(path+".*", s.AdditionalProperties.Structural)
		}
	}
	if validation.MinProperties != nil && int64(len(object)) < *validation.MinProperties {
		name := sortedNames(s.Properties)[g.IntN(len(s.Properties))]
		property := s.Properties[name]
		object[name] = g.value(path+"."+name, &property)
	}
	return object
}

func (g *generator) array(path string, s *structuralschema.Structural, validation *structuralschema.ValueValidation) any {
	array, seen := []any{}, map[string]bool{}
	least := limit(validation.MinItems, 0)
	if validation.MinItems == nil {
		least = 0
	}
	for len(array) < least || len(array) < g.count(least, limit(validation.MaxItems, 256)) {
		item := g.value(path+"[]", s.Items)
		key := fmt.Sprint(item)
		if len(s.XListMapKeys) > 0 {
			key = fmt.Sprint(item.(map[string]any)[s.XListMapKeys[0]])
		}
		unique := s.XListType != nil && *s.XListType != "atomic" || strings.HasSuffix(path, "databases") // by a CEL rule
		if unique && seen[key] {
			continue
		}
		seen[key] = true
		array = append(array, item)
	}
	return array
}

func (g *generator) integer(validation *structuralschema.ValueValidation) any {
	least, most := int64(0), int64(1)<<53
	if validation.Format == "int32" {
		most = 1<<31 - 1
	}
	if validation.Minimum != nil {
		least = int64(*validation.Minimum)
	}
	if validation.Maximum != nil {
		most = int64(*validation.Maximum)
	}
	return []int64{least, most, least + g.Int64N(most-least+1)}[g.IntN(3)]
}

// texts are the texts that a pattern lets through, for every pattern of the schemas.
var texts = map[string]func(g *generator, most int) string{
	`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`:            (*generator).name,
	`^[-._a-zA-Z0-9]+$`:                           func(g *generator, most int) string { return g.letters("aZ09._-", most) },
	`^[^-./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*$`: func(g *generator, most int) string { return "a" + g.letters("a-b.ä\u00a0\"<€😀\u2028", most-1) },
	`^\S+$`:     func(g *generator, most int) string { return g.letters("a/:@.ä", most) },
	`^[^=]*$`:   (*generator).expression,
	`^[^\s=]+$`: (*generator).zone,
	`^[^/\x00-\x1f\x7f\\][^\x00-\x1f\x7f\\]*$`: func(g *generator, most int) string { return "a" + g.letters("a/ ä\"<", most-1) },
	`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`: func(g *generator, most int) string { return g.letters("aB", min(most, 99)) },
	`^(CRON_TZ=[^\s=]{1,64} )?[^=]{1,128}$`:    func(g *generator, _ int) string { return g.oldSchedule() },
	`^[^-./\\\x00-\x1f\x7f][^./\\\x00-\x1f\x7f]*\.[^./\\\x00-\x1f\x7f]+$`: func(g *generator, most int) string {
		return g.letters("aä", min(most, 129)/2) + "." + g.letters("bä\"", min(most, 129)/2)
	},
	`^([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$`: (*generator).host,
}

func (g *generator) text(path string, validation *structuralschema.ValueValidation) string {
	most := limit(validation.MaxLength, 64)
	switch pattern := validation.Pattern; {
	case validation.Format == "date-time":
		return []string{"2026-01-02T03:04:05Z", "1970-01-01T00:00:00Z", "2026-01-02T03:04:05+01:00"}[g.IntN(3)]
	case pattern == "":
		least := 0
		if validation.MinLength != nil {
			least = int(*validation.MinLength)
		}
		return g.letters("aZ0 -/=:.\"\\<ä\n", max(least, g.count(least, min(most, 300))))
	case texts[pattern] != nil:
		return texts[pattern](g, most)
	case strings.Contains(pattern, "6553[0-5]"):
		return g.oldHost()
	case strings.HasPrefix(pattern, `^([a-z0-9]([-a-z0-9]*`):
		return "example.com/" + g.letters("aB", 20)
	default:
		g.tb.Fatalf("%s has the pattern %s, which the generator does not know", path, pattern)
		return ""
	}
}

func (g *generator) host(_ int) string {
	return []string{
		"db", "mysql-primary.default.svc.cluster.local", "db.", "_a", "10.0.0.1", strings.Repeat("a", 253),
		"::", "::1", "2001:db8::1", "::ffff:10.0.0.1", "1:2:3:4:5:6:7:8", "a:b:1",
	}[g.IntN(12)]
}

func (g *generator) oldHost() string {
	host, port := g.host(0), []string{"", "1", "3306", "65535", "9"}[g.IntN(5)]
	switch v6 := strings.Contains(host, ":"); {
	case port == "":
		return host
	case v6:
		return "[" + host + "]:" + port
	}
	return host + ":" + port
}

func (g *generator) expression(most int) string {
	return []string{
		"0 2 * * *", "*/15 * * * MON-FRI", "@daily", "?", " 0 2 * * *", "CRON_TZ", "TZ", "0  2 * * * ", "\"\\<ä\t", strings.Repeat("*", most),
	}[g.IntN(10)]
}

func (g *generator) zone(most int) string {
	return []string{"UTC", "Europe/Berlin", "Etc/GMT+8", "america/New_York", "+02:00", "ä\"\\<&", "\u00a0", strings.Repeat("Z", most)}[g.IntN(8)]
}

func (g *generator) oldSchedule() string {
	if g.chance(0.5) {
		return g.expression(128)
	}
	return "CRON_TZ=" + g.zone(64) + " " + g.expression(128)
}

// name is a name of an object: short, or as long as it may be.
func (g *generator) name(most int) string {
	if g.chance(0.1) {
		return strings.Repeat("n", most)
	}
	return "n" + g.letters("a0", min(8, most-1))
}

// letters are 1 to most letters, often 1 or most.
func (g *generator) letters(alphabet string, most int) string {
	if most <= 0 {
		return ""
	}
	runes := []rune(alphabet)
	text := make([]rune, []int{1, most, 1 + g.IntN(most)}[g.IntN(3)])
	for i := range text {
		text[i] = runes[g.IntN(len(runes))]
	}
	return string(text)
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

// count is a number of things, seldom many.
func (g *generator) count(least, most int) int {
	if g.chance(0.01) {
		return most
	}
	return min(most, least+g.IntN(4))
}

// limit is a bound of the schema, otherwise a default.
func limit(bound *int64, otherwise int) int {
	if bound == nil {
		return otherwise
	}
	return int(*bound)
}
