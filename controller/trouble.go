// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// podPatience is how long a Job may be without a Pod before that is trouble.
	podPatience = 30 * time.Second
	runWaits    = "The run waits: "
)

// What the kubelet and the scheduler say of a thing that is missing.
var (
	secretMissing = regexp.MustCompile(`secret "([^"]+)" not found`)
	keyMissing    = regexp.MustCompile(`couldn't find key (\S+) in Secret [^/]+/(\S+)`)
	claimMissing  = regexp.MustCompile(`persistentvolumeclaim "([^"]+)" not found`)
)

// troubleOf says what keeps an active run from going on, nil if nothing does.
// It reads the Pods' own status: that needs no right to read Secrets, claims or
// Events, and names what Kubernetes itself stumbled over.
func troubleOf(f *facts, j job, pods []corev1.Pod) *metav1.Condition {
	if len(pods) == 0 && !j.started.IsZero() && !j.leaving {
		if at := j.started.Add(podPatience); f.now.Before(at) {
			f.look = at
			return nil
		}
		return trouble(backupv1.ReasonPodNotCreated, "its Job has no Pod", "kubectl -n %s describe job %s", f.backup.GetNamespace(), j.name)
	}
	for i := range pods {
		if t := podTrouble(f.backup, j.name, &pods[i]); t != nil {
			return t
		}
	}
	return nil
}

func podTrouble(b backupv1.Backup, job string, pod *corev1.Pod) *metav1.Condition {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodPending {
		return nil
	}
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse {
			continue
		}
		if missing := claimMissing.FindStringSubmatch(c.Message); missing != nil {
			return claimNotFound(b, missing[1])
		}
		if c.Reason == corev1.PodReasonUnschedulable {
			return trouble(backupv1.ReasonUnschedulable, "no node takes its Pod: "+strings.TrimRight(c.Message, "."), "kubectl -n %s describe pod %s", b.GetNamespace(), pod.Name)
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.State.Waiting == nil {
			continue
		}
		switch w := c.State.Waiting; w.Reason {
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return containerTrouble(b, pod.Name, w.Message)
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
			return imagePullFailed(b, job, pod.Name, c.Image)
		}
	}
	return nil
}

func containerTrouble(b backupv1.Backup, pod, message string) *metav1.Condition {
	if missing := secretMissing.FindStringSubmatch(message); missing != nil {
		return secretNotFound(b, missing[1])
	}
	if missing := keyMissing.FindStringSubmatch(message); missing != nil {
		return trouble(backupv1.ReasonSecretKeyNotFound, fmt.Sprintf("the Secret %q has no key %q", missing[2], missing[1]),
			`kubectl -n %s patch secret %s -p '{"stringData":{"%s":"VALUE"}}'`, b.GetNamespace(), missing[2], missing[1])
	}
	return trouble(backupv1.ReasonContainerNotStarted, "the node cannot start the run's container: "+message,
		"kubectl -n %s describe pod %s", b.GetNamespace(), pod)
}

func secretNotFound(b backupv1.Backup, secret string) *metav1.Condition {
	_, username, password := credentialsOf(b)
	return trouble(backupv1.ReasonSecretNotFound, fmt.Sprintf("the Secret %q is missing", secret),
		"kubectl -n %s create secret generic %s --from-literal=%s=USER --from-literal=%s=PASSWORD", b.GetNamespace(), secret, username, password)
}

func claimNotFound(b backupv1.Backup, claim string) *metav1.Condition {
	return trouble(backupv1.ReasonClaimNotFound, fmt.Sprintf("the PersistentVolumeClaim %q is missing", claim),
		`echo '{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"%s"},"spec":{"accessModes":["ReadWriteOnce"],`+
			`"resources":{"requests":{"storage":"10Gi"}}}}' | kubectl -n %s create -f -`, claim, b.GetNamespace())
}

// imagePullFailed leaves the registry's words out: they change with every try.
func imagePullFailed(b backupv1.Backup, job, pod, image string) *metav1.Condition {
	return trouble(backupv1.ReasonImagePullFailed, fmt.Sprintf("the image %q cannot be pulled (kubectl -n %s describe pod %s says why); "+
		"put it there, or correct spec.podTemplate and end this run", image, b.GetNamespace(), pod),
		"kubectl -n %s delete job %s", b.GetNamespace(), job)
}

func trouble(reason, what, command string, args ...any) *metav1.Condition {
	return condition(backupv1.ConditionBackupSucceeded, metav1.ConditionFalse, reason, runWaits+"%s. Next: %s", what, fmt.Sprintf(command, args...))
}
