// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"example.com/backupjob-operator/webhooks"
)

// deepJSON sends an object with lists in lists: many as deep as they may be, one
// as deep as libraries go, deeper, and as deep as a review has room for.
func deepJSON(ctx context.Context, t Target) error {
	const object = `{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob","metadata":{"name":"a","namespace":"b"},"spec":{"a":%s}}`
	shapes := []struct{ lists, depth int }{{30, 990}, {1, 9000}, {1, 25000}, {1, 1900000}}
	shape := shapes[rand.IntN(len(shapes))] //nolint:gosec // any order will do
	path, review := webhooks.PathValidateBackupJob, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE","namespace":"b","name":"a","kind":{"group":"backup.example.com","version":"v1alpha1","kind":"BackupJob"},"object":%s}}`
	if rand.IntN(2) == 0 { //nolint:gosec // any order will do
		path, review = webhooks.PathConvert, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"backup.example.com/v1","objects":[%s]}}`
	}
	list := strings.Repeat("[", shape.depth) + strings.Repeat("]", shape.depth)
	body := fmt.Sprintf(review, fmt.Sprintf(object, "[0"+strings.Repeat(","+list, shape.lists)+"]"))
	code, err := t.post(ctx, path, strings.NewReader(body), int64(len(body)))
	if err == nil && code == http.StatusInternalServerError {
		return fmt.Errorf("the server met a fault of its own at a depth of %d", shape.depth)
	}
	return nil // or it was hung up on, before it had sent all
}
