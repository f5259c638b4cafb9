// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/cert"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestJudgeBundle(t *testing.T) {
	bundle, _, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	certificates, err := cert.ParseCertsPEM(bundle)
	if err != nil {
		t.Fatal(err)
	}
	end := latest(certificates)
	for name, tc := range map[string]struct {
		bundle []byte
		at     time.Time
		result string
		says   string
	}{
		"valid":      {bundle, end.Add(-expiresSoon), ResultOK, "valid until"},
		"ends soon":  {bundle, end.Add(-expiresSoon + 1), ResultWarning, "ends 20"},
		"has ended":  {bundle, end, ResultBlocked, "ended 20"},
		"missing":    {nil, end, ResultBlocked, "no CA bundle"},
		"is no text": {[]byte("Cg=="), end, ResultBlocked, "holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &migration{clock: clocktesting.NewFakeClock(tc.at)}
			result, message, advice := m.judgeBundle(tc.bundle)
			if result != tc.result || !strings.Contains(message, tc.says) || (advice == "") != (result == ResultOK) {
				t.Errorf("got %s %q %q", result, message, advice)
			}
		})
	}
}

func TestAppliers(t *testing.T) {
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsV1: &metav1.FieldsV1{}}
		e.FieldsV1.SetRawString(fields)
		return e
	}
	const versions = `{"f:spec":{"f:versions":{}}}`
	s := &subject{crd: &apiextensionsv1.CustomResourceDefinition{}}
	s.crd.ManagedFields = []metav1.ManagedFieldsEntry{
		entry("argocd-controller", metav1.ManagedFieldsOperationApply, versions),
		entry("argocd-controller", metav1.ManagedFieldsOperationApply, versions),
		entry("kubectl-client-side-apply", metav1.ManagedFieldsOperationUpdate,
			`{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{"f:versions":{}}}`),
		entry("kubectl-create", metav1.ManagedFieldsOperationUpdate, versions),
		entry("cainjector", metav1.ManagedFieldsOperationApply, `{"f:spec":{"f:conversion":{}}}`),
		entry(fieldManager, metav1.ManagedFieldsOperationApply, versions),
		{Manager: "nothing", Operation: metav1.ManagedFieldsOperationApply},
	}
	if diff := cmp.Diff([]string{"argocd-controller", "kubectl-client-side-apply"}, s.appliers()); diff != "" {
		t.Error(diff)
	}
}

func TestAdviceOnRefusal(t *testing.T) {
	resource := schema.GroupResource{Group: "backup.example.com", Resource: "backupjobs"}
	object := anObject("team-a", "nightly")
	const edit = "'kubectl edit -n team-a backupjobs.backup.example.com nightly'"
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"a webhook":  {apierrors.NewForbidden(resource, "nightly", errors.New(`admission webhook "a.b.c" denied the request: no`)), []string{`webhook "a.b.c"`, edit}},
		"a policy":   {apierrors.NewInvalid(schema.GroupKind{}, "nightly", field.ErrorList{field.Invalid(nil, 1, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no")}), []string{`ValidatingAdmissionPolicy "p"`, edit}},
		"the schema": {apierrors.NewInvalid(schema.GroupKind{}, "nightly", nil), []string{"Correct the named fields", edit}},
		"who knows":  {errors.New("no"), []string{"Find out who", edit}},
	} {
		t.Run(name, func(t *testing.T) {
			got := adviceOnRefusal(object, tc.err)
			if slices.ContainsFunc(tc.want, func(text string) bool { return !strings.Contains(got, text) }) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestAMissingRightIsNoRefusedObject: both are Forbidden.
func TestAMissingRightIsNoRefusedObject(t *testing.T) {
	resource := schema.GroupResource{Group: "backup.example.com", Resource: "backupjobs"}
	for message, want := range map[string]bool{
		`User "jane" cannot patch resource "backupjobs" in API group "backup.example.com" in the namespace "a"`: true,
		`admission webhook "a.b.c" denied the request: no`:                                                      false,
	} {
		if got := isRightMissing(apierrors.NewForbidden(resource, "a", errors.New(message))); got != want {
			t.Errorf("%s: got %t", message, got)
		}
	}
}
