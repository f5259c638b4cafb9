// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/config/crd"
)

// goTypes are the types behind the versions of our kinds.
var goTypes = map[schema.GroupVersionKind]reflect.Type{
	backupv1.GroupVersion.WithKind(backupv1.KindBackupJob):         reflect.TypeFor[backupv1.BackupJob](),
	backupv1.GroupVersion.WithKind(backupv1.KindMySQLBackup):       reflect.TypeFor[backupv1.MySQLBackup](),
	backupv1alpha1.GroupVersion.WithKind(backupv1.KindBackupJob):   reflect.TypeFor[backupv1alpha1.BackupJob](),
	backupv1alpha1.GroupVersion.WithKind(backupv1.KindMySQLBackup): reflect.TypeFor[backupv1alpha1.MySQLBackup](),
}

// version is one version of one kind, as the server would check it.
type version struct {
	gvk         schema.GroupVersionKind
	shape       *shape
	structural  *structuralschema.Structural
	schema      validation.SchemaValidator
	cel         *cel.Validator
	celMessages map[string]bool
}

// loadVersions prepares the embedded CRDs the way the server does.
func loadVersions() (map[schema.GroupVersionKind]*version, error) {
	definitions, err := crd.CRDs()
	if err != nil {
		return nil, err
	}
	versions := map[schema.GroupVersionKind]*version{}
	for _, definition := range definitions {
		for _, v := range definition.Spec.Versions {
			gvk := schema.GroupVersionKind{Group: definition.Spec.Group, Version: v.Name, Kind: definition.Spec.Names.Kind}
			if versions[gvk], err = newVersion(gvk, v.Schema); err != nil {
				return nil, fmt.Errorf("prepare the schema of %s: %w", gvk, err)
			}
		}
	}
	return versions, nil
}

func newVersion(gvk schema.GroupVersionKind, published *apiextensionsv1.CustomResourceValidation) (*version, error) {
	goType, ok := goTypes[gvk]
	if !ok || published == nil {
		return nil, errors.New("no Go type or no schema")
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(published, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy() // the next line would write into the definition
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	v := &version{
		gvk: gvk, shape: shapeOf(goType), structural: structural, schema: validator,
		cel: cel.NewValidator(structural, true, celconfig.PerCallLimit), celMessages: map[string]bool{},
	}
	collectMessages(structural, v.celMessages)
	return v, nil
}

func collectMessages(s *structuralschema.Structural, into map[string]bool) {
	for _, rule := range s.XValidations {
		into[rule.Message] = true
	}
	for name := range s.Properties {
		inner := s.Properties[name]
		collectMessages(&inner, into)
	}
	if s.Items != nil {
		collectMessages(s.Items, into)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		collectMessages(s.AdditionalProperties.Structural, into)
	}
}

// prepare drops unknown fields and nulls from object and fills the schema's
// defaults, as the server does before it stores or shows anything. It returns
// the paths of the unknown fields.
func (v *version) prepare(object map[string]any) []string {
	unknown := pruning.PruneWithOptions(object, v.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, v.structural)
	defaulting.Default(object, v.structural)
	return unknown
}

// check returns what the server would object to in a prepared object, in our
// words.
func (v *version) check(ctx context.Context, object map[string]any) []finding {
	var found []finding
	for _, err := range v.schema.Validate(object).Errors {
		if e, ok := errors.AsType[*openapierrors.Validation](err); ok {
			found = append(found, v.explain(object, e))
		}
	}
	for _, err := range listtype.ValidateListSetsAndMaps(nil, v.structural, object) {
		if err.Type == field.ErrorTypeDuplicate {
			found = append(found, repeated(v.shape.parse(err.Field)))
		}
	}
	return append(found, v.checkRules(ctx, object)...)
}

// checkRules runs the CEL rules. A rule that cannot be computed, because what
// it looks at is missing or of a wrong type, says nothing: the schema has
// already said what is wrong there.
func (v *version) checkRules(ctx context.Context, object map[string]any) []finding {
	if v.cel == nil {
		return nil
	}
	var found []finding
	errs, _ := v.cel.Validate(ctx, nil, v.structural, object, nil, celconfig.RuntimeCELCostBudget)
	for _, err := range errs {
		if !v.celMessages[err.Detail] {
			continue
		}
		at := v.shape.parse(strings.TrimPrefix(err.Field, "<nil>"))
		if err.Detail == eachOnce {
			found = append(found, repetitions(object, at)...)
			continue
		}
		if len(at) == 0 {
			at = path{{name: "metadata"}, {name: "name"}} // the only thing that a rule of the root can see
		}
		found = append(found, finding{at: at, kind: field.ErrorTypeInvalid, message: err.Detail, rule: true})
	}
	return found
}

// eachOnce is the message of the rule that keeps an atomic list of names a set.
const eachOnce = "must name each database only once"

// repetitions are the items of a list of texts that it has already.
func repetitions(object map[string]any, list path) []finding {
	value, _ := list.find(object)
	items, _ := value.([]any)
	var found []finding
	for i, item := range items {
		if text, ok := item.(string); ok && slices.Contains(items[:i], any(text)) {
			found = append(found, repeated(append(slices.Clone(list), step{index: i, kind: stepIndex})))
		}
	}
	return found
}

// repeated is an item that its list has already.
func repeated(at path) finding {
	return finding{at: at, kind: field.ErrorTypeDuplicate, message: "must be listed only once"}
}

// node returns the schema of the value at p, nil where there is none.
func (v *version) node(p path) *structuralschema.Structural {
	s := v.structural
	for _, next := range p {
		switch {
		case s == nil:
			return nil
		case next.kind == stepIndex:
			s = s.Items
		case next.kind == stepKey && s.AdditionalProperties != nil:
			s = s.AdditionalProperties.Structural
		default:
			inner, ok := s.Properties[next.name]
			if !ok {
				return nil
			}
			s = &inner
		}
	}
	return s
}
