// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"

	"example.com/backupjob-operator/webhooks"
)

// deepJSON sends an object with lists in lists: many as deep as they may be,
// some deeper behind what is looked at first, as deep as libraries go, deeper,
// and as deep as a review has room for.
func deepJSON(ctx context.Context, t Target) error {
	shapes := []struct{ blanks, lists, depth, code int }{
		{0, 30, 990, http.StatusOK},
		{64 << 10, 100, 9000, http.StatusOK},
		{0, 1, 9000, http.StatusBadRequest},
		{0, 1, 25000, http.StatusBadRequest},
		{0, 1, 1900000, http.StatusBadRequest},
	}
	shape := shapes[rand.IntN(len(shapes))] //nolint:gosec // any order will do
	list := strings.Repeat("[", shape.depth) + strings.Repeat("]", shape.depth)
	object := fmt.Sprintf(`{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob","metadata":{"name":"a","namespace":"b"},"spec":{"a":%s[0%s]}}`,
		strings.Repeat(" ", shape.blanks), strings.Repeat(","+list, shape.lists))
	path, review := webhooks.PathValidateBackupJob, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE","namespace":"b","name":"a","kind":{"group":"backup.example.com","version":"v1alpha1","kind":"BackupJob"},"object":%s}}`
	if rand.IntN(2) == 0 { //nolint:gosec // any order will do
		path, review = webhooks.PathConvert, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"backup.example.com/v1","objects":[%s]}}`
	}
	body := fmt.Sprintf(review, object)
	code, err := t.post(ctx, path, strings.NewReader(body), int64(len(body)))
	hungUp := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)
	switch {
	case hungUp && (shape.code != http.StatusOK || shape.blanks > 0):
		return nil // before it had sent all
	case err != nil || code == shape.code || code == http.StatusServiceUnavailable: // others of the kind are read
		return err
	}
	return fmt.Errorf("the server answered %d at a depth of %d", code, shape.depth)
}
