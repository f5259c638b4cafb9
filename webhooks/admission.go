// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// gate answers the reviews of one kind at one of the two webhooks.
type gate struct {
	judge      *Judge
	references *references
	metrics    *metrics
	log        logr.Logger
	clock      clock.PassiveClock
	kind       string
	route      string
	mutating   bool
}

// Handle implements admission.Handler.
func (g *gate) Handle(ctx context.Context, req admission.Request) (response admission.Response) {
	start := g.clock.Now()
	d := &decision{kind: g.kind, operation: operation(req.Operation)}
	defer func() {
		if cause := recover(); cause != nil {
			g.metrics.panics.WithLabelValues(g.route).Inc()
			g.log.Error(fmt.Errorf("panic: %v", cause), "Met a fault of the program", "uid", req.UID, "stack", string(debug.Stack()))
			*d = decision{kind: d.kind, operation: d.operation, reason: reasonPanic}
			response = refusal(apierrors.NewInternalError(errors.New(
				"the webhook met a fault of its own and refused the request; nothing was changed, its log says more")))
		}
		took := g.clock.Since(start)
		g.metrics.took(g.webhook(), g.kind, took)
		response.AuditAnnotations = d.annotations()
		// What /mutate accepts is decided by /validate.
		if !g.mutating || !response.Allowed {
			g.metrics.decided(d)
			d.log(g.log, &req, took)
		}
	}()
	return g.decide(ctx, &req, d)
}

func (g *gate) webhook() string {
	if g.mutating {
		return "mutate"
	}
	return "validate"
}

func (g *gate) decide(ctx context.Context, req *admission.Request, d *decision) admission.Response {
	if req.SubResource != "" || req.Operation == admissionv1.Delete || req.Operation == admissionv1.Connect {
		d.allowed, d.reason = true, reasonUnchanged
		return admission.Allowed("")
	}
	v, err := g.read(ctx, req)
	if err != nil {
		d.reason, d.err = reasonMalformed, err
		return refusal(apierrors.NewBadRequest("the request cannot be judged: " + cut(err.Error(), maxMessage)))
	}
	if v.Name == "" {
		v.Name = req.Name
	}
	g.authorize(ctx, req, v)
	d.judged(v)
	if !v.Allowed() {
		return refusal(v.Err())
	}
	response := admission.Allowed("")
	if !g.mutating {
		return response.WithWarnings(v.WarningTexts()...)
	}
	if len(v.Patch) > 0 {
		response.Patch, _ = json.Marshal(v.Patch) // texts and maps of them
		response.PatchType = new(admissionv1.PatchTypeJSONPatch)
	}
	return response
}

func (g *gate) read(ctx context.Context, req *admission.Request) (*Verdict, error) {
	v, err := g.judge.Judge(ctx, req.Object.Raw, req.OldObject.Raw)
	switch {
	case req.Operation != admissionv1.Create && req.Operation != admissionv1.Update:
		return nil, errors.New("it must be a create or an update")
	case err != nil:
		return nil, err
	case v.GVK.Kind != g.kind:
		return nil, fmt.Errorf("%s judges only %s", g.route, g.kind)
	case req.Operation == admissionv1.Update && v.Old == nil:
		return nil, errors.New("an update must come with the old object")
	}
	return v, nil
}

// authorize asks for the user's rights at /validate, on what will be stored.
// Where /mutate refuses already it asks too, so that the one answer that the
// user gets is whole.
func (g *gate) authorize(ctx context.Context, req *admission.Request, v *Verdict) {
	if g.mutating && (v.Allowed() || v.Effective.GetName() == "") {
		return
	}
	g.references.check(ctx, v, req.UserInfo, req.Namespace)
	if g.mutating {
		v.Faults = slices.DeleteFunc(v.Faults, func(f Fault) bool { return f.Type == field.ErrorTypeInternal })
	}
}

// refusal is the answer that makes kubectl print one line per fault.
func refusal(err *apierrors.StatusError) admission.Response {
	status := err.Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: false, Result: &status}}
}
