// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
)

// unexplained is what is said where the rules have no words of their own.
const unexplained = "must be as 'kubectl explain' describes this field"

// hints say what stands behind the bounds of a number.
var hints = map[string]string{"runAsUser": "; 0 is root", "fsGroup": "; 0 is root"}

// explain puts what the schema objects to into our words. What is allowed is
// read from the schema itself, so it is said nowhere else.
func (v *version) explain(object map[string]any, e *openapierrors.Validation) finding {
	at := v.shape.parse(e.Name)
	node := v.node(at)
	if node == nil {
		node = &structuralschema.Structural{}
	}
	limits := node.ValueValidation
	if limits == nil {
		limits = &structuralschema.ValueValidation{}
	}
	value, _ := at.find(object)
	f := finding{at: at, kind: field.ErrorTypeInvalid}
	switch e.Code() {
	case openapierrors.InvalidTypeCode:
		f.kind, f.message = field.ErrorTypeTypeInvalid, typeWords(node, value)
	case openapierrors.RequiredFailCode:
		f.kind, f.message = field.ErrorTypeRequired, requiredWords(limits)
	case openapierrors.EnumFailCode:
		f.kind, f.message = field.ErrorTypeNotSupported, "must be "+enumWords(limits.Enum)
	case openapierrors.MinFailCode, openapierrors.MaxFailCode:
		f.message = rangeWords(limits) + hints[at.last()]
	case openapierrors.TooLongFailCode, openapierrors.TooShortFailCode:
		f.message = countWords("character", limits.MinLength, limits.MaxLength)
	case openapierrors.MaxItemsFailCode, openapierrors.MinItemsFailCode:
		f.message = countWords("item", limits.MinItems, limits.MaxItems)
	case openapierrors.TooFewPropertiesCode, openapierrors.TooManyPropertiesCode:
		f.message = countWords("key", limits.MinProperties, limits.MaxProperties)
	default: // patterns above all, which would help nobody
		f.message, f.rank = lastWords(node, at, value), rankLast
	}
	return f
}

// lastWords explains a pattern where no rule has words of its own.
func lastWords(node *structuralschema.Structural, at path, value any) string {
	text, _ := value.(string)
	if node.XIntOrString {
		return typeWords(node, value)
	}
	if wrong := checkDatabase(text); wrong != "" && at.through("databases") {
		return wrong
	}
	return unexplained
}

var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

func typeWords(node *structuralschema.Structural, value any) string {
	text, isText := value.(string)
	switch {
	case node.XIntOrString:
		return "must be a number or a quantity such as '500m' or '1Gi'"
	case node.Type == "string" && value != nil:
		return "must be text; write it in quotes"
	case node.Type == "integer" && isText && wholeNumber.MatchString(text):
		return "must be a number; write it without quotes"
	case node.Type == "integer" && isWhole(value) && node.ValueValidation != nil:
		return rangeWords(node.ValueValidation) // beyond what the type can hold
	case node.Type == "integer":
		return "must be a whole number"
	case node.Type == "boolean" && (text == "true" || text == "false"):
		return "must be true or false; write it without quotes"
	case node.Type == "boolean":
		return "must be true or false"
	case node.Type == "array":
		return "must be a list, also if it holds one item"
	case node.Type == "object":
		return "must hold fields, each written as 'name: value'"
	}
	return "must be text"
}

func isWhole(value any) bool {
	number, isFloat := value.(float64)
	_, isInt := value.(int64)
	return isInt || isFloat && number == math.Trunc(number)
}

func requiredWords(limits *structuralschema.ValueValidation) string {
	if len(limits.Required) == 0 {
		return "must be set"
	}
	return "must be set, with " + list(limits.Required, "`", " and ")
}

func enumWords(allowed []structuralschema.JSON) string {
	names := make([]string, len(allowed))
	for i, one := range allowed {
		names[i] = fmt.Sprint(one.Object)
	}
	return list(names, "'", " or ")
}

// list writes names in quotes, as a sentence does.
func list(names []string, quote, last string) string {
	text := quote + strings.Join(names, quote+", "+quote) + quote
	if at := strings.LastIndex(text, ", "); at >= 0 {
		text = text[:at] + last + text[at+2:]
	}
	return text
}

func rangeWords(limits *structuralschema.ValueValidation) string {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch low, high := limits.Minimum, limits.Maximum; {
	case low != nil && high != nil:
		return "must be " + number(low) + " to " + number(high)
	case low != nil:
		return "must be at least " + number(low)
	case high != nil:
		return "must be at most " + number(high)
	}
	return "must be a smaller number" // the bounds of the type itself
}

func countWords(noun string, low, high *int64) string {
	few := int64(0)
	if low != nil {
		few = *low
	}
	switch {
	case high == nil && few <= 1:
		return "must not be empty"
	case high == nil:
		return fmt.Sprintf("must have at least %d %ss", few, noun)
	case few == 0:
		return fmt.Sprintf("must have at most %d %ss", *high, noun)
	}
	return fmt.Sprintf("must have %d to %d %ss", few, *high, noun)
}
