// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/conversion"
	"example.com/backupjob-operator/webhooks"
)

// mostAdmission is P4's second aim.
const mostAdmission = 5 * time.Millisecond

// admission is P4. The questions about Secrets are left out: they are calls of
// the API server, which P2 has.
func (b *bench) admission(ctx context.Context) error {
	s, err := startServer(ctx)
	if err != nil {
		return err
	}
	for _, version := range []string{backupv1.GroupVersion.String(), backupv1alpha1.GroupVersion.String()} {
		err = errors.Join(err, b.admissionOf(ctx, s, version))
	}
	return errors.Join(err, s.stop())
}

func (b *bench) admissionOf(ctx context.Context, s *server, version string) error {
	hub, err := stored(backupv1.KindBackupJob)
	if err != nil {
		return err
	}
	raw, err := conversion.Convert(hub, version)
	if err != nil {
		return err
	}
	for _, operation := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update} {
		body, err := admissionReview(version, operation, raw)
		if err != nil {
			return err
		}
		took, err := b.interleave(ctx, perRound/2, []call{
			s.call("mutate", webhooks.PathMutateBackupJob, body), s.call("validate", webhooks.PathValidateBackupJob, body), s.call("allow", pathAllow, body),
		})
		if err != nil {
			return err
		}
		for i, path := range []string{"`/mutate`", "`/validate`"} {
			r := row{
				id: "P4", what: fmt.Sprintf("%s, %s of a BackupJob in %s", path, strings.ToLower(string(operation)), strings.TrimPrefix(version, backupv1.GroupName+"/")),
				ours: took[i].String(), peer: "a webhook that allows everything", theirs: took[2].String(), ratio: ratio(took[i], took[2]), aim: 1.5,
			}
			if took[i].quantile(.99) > mostAdmission {
				r.ours += fmt.Sprintf(" (**over %s**)", mostAdmission)
			}
			b.rows = append(b.rows, r)
		}
	}
	return nil
}

// admissionReview is what an API server asks about a write that changes one
// field of the spec.
func admissionReview(version string, operation admissionv1.Operation, raw []byte) ([]byte, error) {
	request := &admissionv1.AdmissionRequest{
		UID: "3f2c9f0e-6d3b-4c1e-9d55-0a8c5b7e1f42", Operation: operation, Namespace: "team-a", Name: "nightly",
		Kind:     metav1.GroupVersionKind{Group: backupv1.GroupName, Version: strings.TrimPrefix(version, backupv1.GroupName+"/"), Kind: backupv1.KindBackupJob},
		UserInfo: authenticationv1.UserInfo{Username: "developer", Groups: []string{"system:authenticated"}},
		Object:   runtime.RawExtension{Raw: raw},
	}
	if operation == admissionv1.Update {
		request.OldObject.Raw = []byte(strings.Replace(string(raw), `"maxRetries":3`, `"maxRetries":5`, 1))
	}
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Request: request,
	})
}
