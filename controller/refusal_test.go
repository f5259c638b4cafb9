// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	backupv1 "example.com/backupjob-operator/api/v1"
)

func TestRefusalsAreToldFromTemporaryTrouble(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	for name, tc := range map[string]struct {
		err  error
		want string // a reason; empty: temporary
	}{
		"a quota": {apierrors.NewForbidden(jobs, "a", errors.New("exceeded quota: none")), backupv1.ReasonRunForbidden},
		"a server that does not know our kinds yet": {apierrors.NewForbidden(jobs, "a", errors.New(
			`cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion backup.example.com/v1 Kind BackupJob: no matches for kind "BackupJob" in version "backup.example.com/v1"`)), ""},
		"an invalid Job":    {apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "a", nil), backupv1.ReasonRunInvalid},
		"too many requests": {apierrors.NewTooManyRequests("later", 1), ""},
		"a time-out":        {apierrors.NewServerTimeout(jobs, "create", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if c := refusalOf("a", tc.err); c != nil {
				got = c.Reason
			}
			if got != tc.want {
				t.Errorf("refusalOf(%v) = %q, want %q", tc.err, got, tc.want)
			}
		})
	}
}
