// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"strings"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Reasons of decisions. They are values of a metric's label, so they are few.
const (
	reasonValid      = "Valid"
	reasonUnchanged  = "Unchanged"
	reasonEnding     = "BeingDeleted"
	reasonRatcheted  = "OldFaults"
	reasonInvalid    = "Invalid"
	reasonForbidden  = "Forbidden"
	reasonUnanswered = "Unanswered"
	reasonMalformed  = "Malformed"
	reasonPanic      = "Panic"
)

// maxAnnotation bounds what one decision adds to the audit log.
const maxAnnotation = 2048

// decision is what was decided about a request, for the log, the metrics and
// the audit log.
type decision struct {
	kind, version, operation string
	allowed                  bool
	reason                   string
	verdict                  *Verdict // nil where nothing could be judged
	err                      error    // what kept it from being judged
}

// operation is the value of a label, so it must be one of few.
func operation(o admissionv1.Operation) string {
	switch o {
	case admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect:
		return string(o)
	}
	return "Unknown"
}

// judged takes over what the verdict says.
func (d *decision) judged(v *Verdict) {
	d.version, d.verdict, d.err = v.GVK.Version, v, v.unanswered
	d.allowed, d.reason = v.Allowed(), reasonValid
	switch {
	case !d.allowed:
		d.reason = refusalReason(v.Faults)
	case v.Unchanged:
		d.reason = reasonUnchanged
	case v.Ending:
		d.reason = reasonEnding
	case v.Ratcheted:
		d.reason = reasonRatcheted
	}
}

// refusalReason is the gravest of the faults' types.
func refusalReason(faults []Fault) string {
	reason := reasonUnanswered
	for _, f := range faults {
		switch f.Type {
		case field.ErrorTypeForbidden:
			return reasonForbidden
		case field.ErrorTypeInternal:
		default:
			reason = reasonInvalid
		}
	}
	return reason
}

// log writes the one line of the decision.
func (d *decision) log(log logr.Logger, req *admission.Request, took time.Duration) {
	values := []any{
		"uid", req.UID, "user", req.UserInfo.Username, "groups", req.UserInfo.Groups,
		"operation", d.operation, "kind", d.kind, "version", d.version,
		"namespace", req.Namespace, "name", req.Name, "dryRun", req.DryRun != nil && *req.DryRun,
		"allowed", d.allowed, "reason", d.reason, "duration", took.String(),
	}
	if d.verdict != nil {
		values = append(values, "faults", names(d.verdict.Faults), "warnings", names(d.verdict.Warnings))
	}
	if d.err != nil {
		values = append(values, "cause", cut(d.err.Error(), maxMessage))
	}
	log.Info("Decided", values...)
}

// annotations are the same for the API server's audit log, which knows the
// request already. It puts the webhook's name in front of the keys.
func (d *decision) annotations() map[string]string {
	annotations := map[string]string{"decision": "denied", "reason": d.reason}
	if d.allowed {
		annotations["decision"] = "allowed"
	}
	if d.verdict == nil {
		return annotations
	}
	places := make([]string, 0, len(d.verdict.Faults))
	for _, f := range d.verdict.Faults {
		places = append(places, f.Field+" ("+f.Type.String()+")")
	}
	if len(places) > 0 {
		annotations["faults"] = cut(strings.Join(places, ", "), maxAnnotation)
	}
	if len(d.verdict.Warnings) > 0 {
		annotations["warnings"] = cut(strings.Join(names(d.verdict.Warnings), "; "), maxAnnotation)
	}
	return annotations
}
