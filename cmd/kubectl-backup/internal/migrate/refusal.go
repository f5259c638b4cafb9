// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"fmt"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
)

func describe(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s in namespace %s", cluster.ShortName(object.GetKind(), object.GetName()), object.GetNamespace())
}

// isRightMissing tells a user without the right to write from a webhook or
// policy that refuses one object: both are Forbidden, but only RBAC names no
// webhook, policy or plugin.
func isRightMissing(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Reason == metav1.StatusReasonForbidden && missingRight.MatchString(status.ErrStatus.Message)
}

var (
	missingRight = regexp.MustCompile(`User ".*" cannot \w+ resource`)
	ofAWebhook   = regexp.MustCompile(`admission webhook "([^"]+)"`)
	ofAPolicy    = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'`)
)

// adviceOnRefusal says what to do about an object whose no-op write is refused.
// Our own webhooks let each such write pass.
func adviceOnRefusal(object *unstructured.Unstructured, err error) string {
	edit := fmt.Sprintf("'kubectl edit -n %s %s.%s %s'", object.GetNamespace(),
		pluralOf(object.GetKind()), backupv1.GroupName, object.GetName())
	message := err.Error()
	if match := ofAWebhook.FindStringSubmatch(message); match != nil {
		return fmt.Sprintf("Correct what the webhook %q asks for with %s, or exempt the object from that webhook; then try again.", match[1], edit)
	}
	if match := ofAPolicy.FindStringSubmatch(message); match != nil {
		return fmt.Sprintf("Correct what the ValidatingAdmissionPolicy %q asks for with %s, or exempt the object from it; then try again.", match[1], edit)
	}
	if apierrors.IsInvalid(err) {
		return fmt.Sprintf("Correct the named fields with %s, or delete the object if nobody needs it; then try again.", edit)
	}
	return fmt.Sprintf("Find out who refuses it, and correct the object with %s; then try again.", edit)
}

func pluralOf(kind string) string {
	if k, ok := cluster.KindOf(kind); ok {
		return k.Plural
	}
	return kind
}
