// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// maxMessage is the longest fault, with path and value.
	maxMessage = 300
	// maxValue is how much of a user's value is shown.
	maxValue = 64
	// maxFaults bounds an answer whatever was sent. No honest mistake comes
	// near it: the longest lists of the API have 256 items.
	maxFaults = 256
	// maxWarning and maxWarnings are what the server passes on without
	// cutting: 256 characters each and 4,096 together.
	maxWarning  = 255
	maxWarnings = 3900
)

// Fault is one thing that is wrong with an object.
type Fault struct {
	// Field is the path of the value, in the version in which the object was
	// written.
	Field string
	// Value is what was written there, cut to a readable length; nil where
	// there is nothing, nothing short, or nothing that may be shown.
	Value any
	// Message says what must be written.
	Message string
	// Type is the kind of fault.
	Type field.ErrorType

	at path
}

// String is the fault in one line, as kubectl shows it.
func (f Fault) String() string { return f.asError().Error() }

func (f Fault) asError() *field.Error {
	e := &field.Error{Type: f.Type, Field: f.Field, BadValue: f.Value, Detail: f.Message}
	if f.Value == nil {
		e.BadValue = field.OmitValueType{}
	}
	if over := utf8.RuneCountInString(e.Error()) - maxMessage; over > 0 {
		e.Detail = cut(e.Detail, max(utf8.RuneCountInString(e.Detail)-over, 1))
	}
	return e
}

// Warning is something true of an accepted object that its writer may not have
// meant.
type Warning struct {
	// Field is the path of the value, in the version in which the object was
	// written.
	Field string
	// Message begins with a verb.
	Message string

	at path
}

// String is the warning in one line, short enough for the server to pass on.
func (w Warning) String() string { return cut(w.Field+": "+w.Message, maxWarning) }

// Verdict is what the judgement of one write found.
type Verdict struct {
	// GVK is the version and kind in which the object was written.
	GVK schema.GroupVersionKind
	// Namespace and Name are those of the object. Name is empty where the
	// server has yet to generate it.
	Namespace, Name string
	// Faults are in the order of the API reference, at most one per field.
	// None means that the object is accepted.
	Faults []Fault
	// Warnings are in the same order.
	Warnings []Warning
	// Unknown are the fields that the schema does not know. They are no
	// faults: the server drops or refuses them before any webhook sees them.
	Unknown []string
	// Effective is the object as v1 with the schema's defaults, as far as its
	// types reach. Old is the same of the old object, nil on create.
	Effective, Old backupv1.Backup
	// Patch fills the defaults that depend on the object.
	Patch []Operation
	// Unchanged says that the write changes nothing.
	Unchanged bool
	// Ending says that the object is being deleted and keeps its spec.
	Ending bool
	// Ratcheted says that the object has faults which the old one had too.
	Ratcheted bool

	document   *document
	unanswered error // why a right could not be asked for
}

// Allowed reports whether the object is accepted.
func (v *Verdict) Allowed() bool { return len(v.Faults) == 0 }

// Err is the refusal as the API server would word it, with one cause per
// fault; nil if the object is accepted.
func (v *Verdict) Err() *apierrors.StatusError {
	if v.Allowed() {
		return nil
	}
	errs := make(field.ErrorList, 0, len(v.Faults))
	for i, fault := range v.Faults {
		if i == maxFaults {
			errs = append(errs, field.Invalid(field.NewPath("spec"), field.OmitValueType{},
				fmt.Sprintf("has %d more faults like these; correct these first", len(v.Faults)-i)))
			break
		}
		errs = append(errs, fault.asError())
	}
	return apierrors.NewInvalid(v.GVK.GroupKind(), v.Name, errs)
}

// WarningTexts are the warnings as the server passes them on to the user.
func (v *Verdict) WarningTexts() []string {
	texts, size := make([]string, 0, len(v.Warnings)), 0
	for i, warning := range v.Warnings {
		text := warning.String()
		if size += len(text); size > maxWarnings {
			return append(texts, fmt.Sprintf("and %d more warnings", len(v.Warnings)-i))
		}
		texts = append(texts, text)
	}
	return texts
}

// shown is what of a value may stand in a message.
func shown(value any) any {
	switch v := value.(type) {
	case string:
		return cutQuoted(v)
	case int64, float64, bool:
		return v
	}
	return nil
}

// cutQuoted cuts a text so that it has at most maxValue characters once it is
// quoted, which makes six of one control character.
func cutQuoted(text string) string {
	size, fits := 0, 0
	for i, r := range text {
		size += utf8.RuneCountInString(strconv.Quote(string(r))) - 2
		if size > maxValue {
			return text[:fits] + "…"
		}
		if size < maxValue {
			fits = i + utf8.RuneLen(r)
		}
	}
	return text
}

// cut shortens a text to a number of characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	return strings.TrimRight(string(runes[:most-1]), " ") + "…"
}

// names is a short list of what a verdict found, for the log.
func names[T fmt.Stringer](found []T) []string {
	const most = 20
	texts := make([]string, 0, min(len(found), most+1))
	for i, one := range found {
		if i == most {
			return append(texts, fmt.Sprintf("and %d more", len(found)-i))
		}
		texts = append(texts, one.String())
	}
	return texts
}
