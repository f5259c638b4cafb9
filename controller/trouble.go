// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// podPatience is how long a Job may be without a Pod before that is trouble.
	podPatience = 30 * time.Second
	// podRetry is how soon the Job's events are read again: nothing else tells
	// that a Pod cannot be created for another reason now.
	podRetry = time.Minute
	runWaits = "The run waits: "
)

// What the kubelet and the scheduler say of a thing that is missing.
var (
	secretMissing = regexp.MustCompile(`secret "([^"]+)" not found`)
	keyMissing    = regexp.MustCompile(`couldn't find key (\S+) in Secret [^/]+/(\S+)`)
	claimMissing  = regexp.MustCompile(`persistentvolumeclaim "([^"]+)" not found`)
	// The Pod's name has another end at every try.
	creationFailed = regexp.MustCompile(`^Error creating: (pods "[^"]*" is forbidden: )?`)
	accountMissing = regexp.MustCompile(`serviceaccount "([^"]+)" not found`)
	classMissing   = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)
)

// troubleOf says what keeps an active run from going on, nil if nothing does.
// It reads the Pods' own status: that needs no right to read Secrets or claims,
// and names what Kubernetes itself stumbled over.
func (r *reconciler) troubleOf(ctx context.Context, f *facts, j job, pods []corev1.Pod) (*metav1.Condition, error) {
	if len(pods) == 0 && !j.started.IsZero() && !j.leaving {
		if at := j.started.Add(podPatience); f.now.Before(at) {
			f.look = soonest(f.look, at)
			return nil, nil
		}
		f.look = soonest(f.look, f.now.Add(podRetry))
		return r.podNotCreated(ctx, f.backup, j)
	}
	for i := range pods {
		if t := podTrouble(f.backup, j.name, &pods[i]); t != nil {
			return t, nil
		}
	}
	return attemptFailed(f.backup, pods), nil
}

// attemptFailed says how the last attempt of a run ended that tries again.
func attemptFailed(b backupv1.Backup, pods []corev1.Pod) *metav1.Condition {
	over := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodFailed })
	all := int(b.Policy().Retries()) + 1
	if last := reportOf(over, failed); last.found && len(over) < all {
		return condition(backupv1.ConditionBackupSucceeded, metav1.ConditionFalse, backupv1.ReasonAttemptFailed,
			"Of the run's %d attempts %d failed, the last one with: %s", all, len(over), last.words)
	}
	return nil
}

// podNotCreated says why the Job has no Pod. Nothing but the Job's events does.
func (r *reconciler) podNotCreated(ctx context.Context, b backupv1.Backup, j job) (*metav1.Condition, error) {
	var list corev1.EventList
	err := r.reader.List(ctx, &list, client.InNamespace(b.GetNamespace()), client.MatchingFields{"involvedObject.uid": string(j.uid), "reason": "FailedCreate"})
	if err != nil {
		return nil, fmt.Errorf("list the events of Job %s: %w", j.name, err)
	}
	describe := fmt.Sprintf("kubectl -n %s describe job %s", b.GetNamespace(), j.name)
	if len(list.Items) == 0 {
		return trouble(backupv1.ReasonPodNotCreated, "its Job has no Pod", "%s", describe), nil
	}
	seen := func(e corev1.Event) time.Time { return later(e.LastTimestamp.Time, e.EventTime.Time) }
	last := slices.MaxFunc(list.Items, func(a, b corev1.Event) int { return seen(a).Compare(seen(b)) })
	why, next := creationFailed.ReplaceAllString(last.Message, ""), describe
	if missing := accountMissing.FindStringSubmatch(why); missing != nil {
		why, next = fmt.Sprintf("the ServiceAccount %q is missing", missing[1]), fmt.Sprintf("kubectl -n %s create serviceaccount %s", b.GetNamespace(), missing[1])
	} else if missing := classMissing.FindStringSubmatch(why); missing != nil {
		why, next = fmt.Sprintf("the PriorityClass %q is missing; create it, or correct spec.podTemplate and end this run", missing[1]), fmt.Sprintf("kubectl -n %s delete job %s", b.GetNamespace(), j.name)
	} else if strings.Contains(why, "quota") {
		next = fmt.Sprintf("kubectl -n %s describe resourcequota", b.GetNamespace())
	}
	return trouble(backupv1.ReasonPodNotCreated, "its Job can create no Pod: "+why, "%s", next), nil
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
