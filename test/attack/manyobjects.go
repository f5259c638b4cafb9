// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/backupjob-operator/webhooks"
)

const (
	objects     = 50000
	reviewHead  = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"backup.example.com/v1","objects":[`
	reviewTail  = `]}}`
	objectStart = `{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob","metadata":{"name":"a","namespace":"b","annotations":{"a":"`
	objectEnd   = `"}},"spec":{"databaseHost":"db:3306","schedule":"0 2 * * *","secretRef":"s","retentionDays":7}},`
)

// manyObjects has 50,000 objects of 2.5 KiB converted, which is about what a
// review has room for. Whoever is told to come again does.
func manyObjects(ctx context.Context, t Target) error {
	object := objectStart + strings.Repeat("a", 2300) + objectEnd
	size := objects*int64(len(object)) - 1 // without the last comma
	for ctx.Err() == nil {
		body := io.MultiReader(strings.NewReader(reviewHead), io.LimitReader(&repeated{text: object}, size), strings.NewReader(reviewTail))
		code, err := t.post(ctx, webhooks.PathConvert, body, size+int64(len(reviewHead)+len(reviewTail)))
		switch {
		case err != nil || code == http.StatusServiceUnavailable: // it may hang up on what it does not read
		case code != http.StatusOK:
			return fmt.Errorf("the server answered %d", code)
		default:
			return nil
		}
	}
	return ctx.Err()
}
