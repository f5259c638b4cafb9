// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var routesOf = map[string]struct{ mutate, validate string }{
	"BackupJob":   {PathMutateBackupJob, PathValidateBackupJob},
	"MySQLBackup": {PathMutateMySQLBackup, PathValidateMySQLBackup},
}

func TestARefusalIsA422WithOneCausePerFault(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	raw := object(t, mysqlAlpha, `{spec: {host: "db:0", backupSchedule: abc, retentionDays: 0, maxRetries: "3"}}`)
	for _, path := range []string{PathMutateMySQLBackup, PathValidateMySQLBackup} {
		response := d.review(t, path, writeOf(t, raw, nil))
		if response.Allowed || response.Patch != nil {
			t.Fatalf("%s: got %+v", path, response)
		}
		status := response.Result
		if status.Code != http.StatusUnprocessableEntity || status.Reason != metav1.StatusReasonInvalid ||
			!apierrors.IsInvalid(&apierrors.StatusError{ErrStatus: *status}) {
			t.Errorf("%s: got %d %s", path, status.Code, status.Reason)
		}
		want := &metav1.StatusDetails{Group: "backup.example.com", Kind: "MySQLBackup", Name: "nightly", Causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.host", Message: `Invalid value: "db:0": must have a port of 1 to 65535 behind the ':', such as 'db.example.com:3306'`},
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.backupSchedule", Message: `Invalid value: "abc": must have five fields (minute, hour, day of month, month, day of week) such as '0 2 * * *'; found 1 field`},
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.retentionDays", Message: "Invalid value: 0: must be 1 to 3650"},
			{Type: metav1.CauseTypeTypeInvalid, Field: "spec.maxRetries", Message: `Invalid value: "3": must be a number; write it without quotes`},
		}}
		if diff := cmp.Diff(want, status.Details); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if !strings.HasPrefix(status.Message, `MySQLBackup.backup.example.com "nightly" is invalid: [spec.host: Invalid value: "db:0": must`) {
			t.Errorf("%s: got %q", path, status.Message)
		}
		wantAudit := map[string]string{
			"decision": "denied", "reason": "Invalid",
			"faults": "spec.host (Invalid value), spec.backupSchedule (Invalid value), spec.retentionDays (Invalid value), spec.maxRetries (Invalid value)",
		}
		if diff := cmp.Diff(wantAudit, response.AuditAnnotations); diff != "" {
			t.Errorf("%s audit (-want +got):\n%s", path, diff)
		}
	}
}

func TestAnAcceptedWriteIsFilledThenWarnedOfAndDecidedOnce(t *testing.T) {
	for name, w := range writings {
		t.Run(name, func(t *testing.T) {
			d := open(t, Options{}, ServerOptions{})
			request := writeOf(t, object(t, w.manifest, set(w.schedule, "*/5 * * * *")), nil)
			request.DryRun = new(true)
			response := d.review(t, routesOf[request.Kind.Kind].mutate, request)
			if !response.Allowed || len(response.Warnings) > 0 || *response.PatchType != admissionv1.PatchTypeJSONPatch ||
				!strings.Contains(string(response.Patch), "nightly-credentials") || !strings.Contains(string(response.Patch), "nightly-backups") {
				t.Errorf("mutate: got %+v, patch %s", response, response.Patch)
			}
			response = d.review(t, routesOf[request.Kind.Kind].validate, request)
			if !response.Allowed || response.Patch != nil || len(response.Warnings) != 1 || !strings.HasPrefix(response.Warnings[0], w.schedule+": ") {
				t.Fatalf("validate: got %+v", response)
			}
			checkAccepted(t, d, request, response)
		})
	}
}

// checkAccepted looks at what is left of one accepted request with a warning.
func checkAccepted(t *testing.T, d *door, request *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) {
	t.Helper()
	if got := response.AuditAnnotations; got["decision"] != "allowed" || got["reason"] != "Valid" || got["warnings"] != response.Warnings[0] {
		t.Errorf("got the audit annotations %v", got)
	}
	decisions := d.log.decisions(t)
	if len(decisions) != 1 || decisions[0]["duration"] == nil {
		t.Fatalf("got the decisions %v, want one with its duration", decisions)
	}
	delete(decisions[0], "duration")
	want := map[string]any{
		"logger": "admission", "level": 0.0, "msg": "Decided", "uid": string(request.UID), "user": "developer",
		"groups": []any{"shop", "system:authenticated"}, "operation": "CREATE", "kind": request.Kind.Kind, "version": request.Kind.Version,
		"namespace": "shop", "name": "nightly", "dryRun": true, "allowed": true, "reason": "Valid",
		"faults": []any{}, "warnings": []any{response.Warnings[0]},
	}
	if diff := cmp.Diff(want, decisions[0]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	labels := map[string]string{"kind": request.Kind.Kind, "version": request.Kind.Version, "operation": "CREATE", "result": "allowed", "reason": "Valid"}
	if n := d.metric(t, "backupjob_admission_decisions_total", labels); n != 1 {
		t.Errorf("got %v decisions counted, want 1", n)
	}
	if n := d.metric(t, "backupjob_admission_duration_seconds", nil); n != 2 {
		t.Errorf("got %v calls timed, want 2", n)
	}
}

func TestReasonsOfDecisions(t *testing.T) {
	bad := `{spec: {schedule: abc}}`
	cases := map[string]struct {
		old, new string
		review   *rights
		allowed  bool
		reason   string
	}{
		"valid":      {"", `{}`, nil, true, "Valid"},
		"unchanged":  {bad, bad, nil, true, "Unchanged"},
		"old faults": {bad, `{spec: {schedule: abc, suspend: true}}`, nil, true, "OldFaults"},
		"ending":     {deleted, `{metadata: {finalizers: []}}`, nil, true, "BeingDeleted"},
		"invalid":    {"", bad, nil, false, "Invalid"},
		"forbidden":  {"", `{}`, &rights{}, false, "Forbidden"},
		"unanswered": {"", `{}`, &rights{fails: true}, false, "Unanswered"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := Options{}
			if c.review != nil {
				options.Reviewer = c.review
			}
			d := open(t, options, ServerOptions{})
			var old []byte
			if c.old != "" {
				old = object(t, jobV1, c.old)
			}
			response := d.review(t, PathValidateBackupJob, writeOf(t, object(t, jobV1, c.new), old))
			if response.Allowed != c.allowed || response.AuditAnnotations["reason"] != c.reason {
				t.Errorf("got %v, %v", response.Allowed, response.AuditAnnotations)
			}
			if line := d.log.decisions(t)[0]; line["reason"] != c.reason || (c.reason == "Unanswered") != (line["cause"] != nil) {
				t.Errorf("got %v", line)
			}
		})
	}
}

func TestARefusalByMutateHoldsTheMissingRightsToo(t *testing.T) {
	review := &rights{}
	d := open(t, Options{Reviewer: review}, ServerOptions{})
	response := d.review(t, PathMutateBackupJob, writeOf(t, object(t, jobV1, `{spec: {schedule: abc}}`), nil))
	if causes := response.Result.Details.Causes; len(causes) != 2 || causes[0].Field != "spec.source.credentialsSecretRef.name" ||
		string(causes[0].Type) != "FieldValueForbidden" {
		t.Errorf("got %+v", causes)
	}
	if n := d.metric(t, "backupjob_admission_reference_checks_total", map[string]string{"result": "denied"}); n != 1 {
		t.Errorf("got %v reference checks counted", n)
	}

	review.fails, review.asked = true, nil
	response = d.review(t, PathMutateBackupJob, writeOf(t, object(t, jobV1, `{spec: {schedule: abc}}`), nil))
	if causes := response.Result.Details.Causes; len(causes) != 1 {
		t.Errorf("an answer that does not come adds nothing to a refusal, got %+v", causes)
	}

	review.asked = nil
	if response = d.review(t, PathMutateBackupJob, writeOf(t, object(t, jobV1), nil)); !response.Allowed || len(review.asked) > 0 {
		t.Errorf("mutate must leave the question to validate, got %+v, asked %v", response, review.asked)
	}
}

func TestAnObjectWithoutANameYetIsNotFilled(t *testing.T) {
	d := open(t, Options{Reviewer: &rights{}}, ServerOptions{})
	generated := `{metadata: {name: null, generateName: nightly-}}`
	response := d.review(t, PathMutateBackupJob, writeOf(t, object(t, jobV1, generated), nil))
	if !response.Allowed || response.Patch != nil {
		t.Errorf("got %+v, patch %s", response, response.Patch)
	}
	response = d.review(t, PathMutateBackupJob, writeOf(t, object(t, jobV1, generated, `{spec: {schedule: abc}}`), nil))
	if response.Allowed || len(response.Result.Details.Causes) != 1 {
		t.Errorf("got %+v", response)
	}
}

func TestWhatCannotBeJudgedIsRefusedClearly(t *testing.T) {
	job := object(t, jobV1)
	cases := map[string]struct {
		path    string
		request func(*admissionv1.AdmissionRequest)
		allowed bool
		says    string
	}{
		"no object":            {PathValidateBackupJob, func(r *admissionv1.AdmissionRequest) { r.Object.Raw = nil }, false, "must be a JSON object of kind BackupJob"},
		"an object of no kind": {PathValidateBackupJob, func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte("{}") }, false, "must be a JSON object of kind BackupJob"},
		"the other kind":       {PathValidateMySQLBackup, func(*admissionv1.AdmissionRequest) {}, false, "judges only MySQLBackup"},
		"no old object":        {PathMutateBackupJob, func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Update }, false, "must come with the old object"},
		"an old object of no kind": {PathMutateBackupJob, func(r *admissionv1.AdmissionRequest) {
			r.Operation, r.OldObject.Raw = admissionv1.Update, []byte(`{"kind": "Pod"}`)
		}, false, "old object: must be a JSON object"},
		"an old object of the other kind": {PathMutateBackupJob, func(r *admissionv1.AdmissionRequest) {
			r.Operation, r.OldObject.Raw = admissionv1.Update, object(t, mysqlV1)
		}, false, "old object: must be a JSON object"},
		"a delete":            {PathValidateBackupJob, func(r *admissionv1.AdmissionRequest) { r.Operation, r.Object.Raw = admissionv1.Delete, nil }, true, ""},
		"a status":            {PathValidateBackupJob, func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" }, true, ""},
		"a made up operation": {PathValidateBackupJob, func(r *admissionv1.AdmissionRequest) { r.Operation = "FOO" }, false, "must be a create or an update"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := open(t, Options{}, ServerOptions{})
			request := writeOf(t, job, nil)
			c.request(request)
			response := d.review(t, c.path, request)
			if response.Allowed != c.allowed || !strings.Contains(response.Result.Message, c.says) {
				t.Errorf("got %+v", response)
			}
			if !c.allowed && response.Result.Code != http.StatusBadRequest {
				t.Errorf("got the code %d", response.Result.Code)
			}
		})
	}
}

func TestAPanicRefusesTheRequestAndNothingElse(t *testing.T) {
	d := open(t, Options{Reviewer: panicking{}}, ServerOptions{})
	response := d.review(t, PathValidateBackupJob, writeOf(t, object(t, jobV1), nil))
	if response.Allowed || response.Result.Code != http.StatusInternalServerError || !strings.Contains(response.Result.Message, "a fault of its own") {
		t.Errorf("got %+v", response)
	}
	if strings.Contains(response.Result.Message, "hunter2") {
		t.Errorf("what panicked must not be told: %s", response.Result.Message)
	}
	if n := d.metric(t, "backupjob_webhook_panics_total", map[string]string{"route": PathValidateBackupJob}); n != 1 {
		t.Errorf("got %v panics counted", n)
	}
	if line := d.log.decisions(t)[0]; line["allowed"] != false || line["reason"] != "Panic" {
		t.Errorf("got %v", line)
	}
	if response = d.review(t, PathMutateBackupJob, writeOf(t, object(t, jobV1), nil)); !response.Allowed {
		t.Errorf("the next request must be served, got %+v", response)
	}
}

type panicking struct{ Reviewer }
