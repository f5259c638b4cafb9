// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/backupjob-operator/api/agent"
)

// maxLocation is how long a location the status holds.
const maxLocation = 1024

// report is what the Pod of a finished run says of its end.
type report struct {
	found  bool
	result agent.Result
	words  string // why it failed
}

// reportOf finds the newest attempt that ended like the run did.
func reportOf(pods []corev1.Pod, how state) report {
	var ends []corev1.ContainerStateTerminated
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Message != "" { // evicted, or its node is lost
			ends = append(ends, corev1.ContainerStateTerminated{ExitCode: 1, Reason: pod.Status.Reason, Message: pod.Status.Message})
		}
		for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if t := c.State.Terminated; t != nil && (t.ExitCode != 0 || c.Name == mainContainer) {
				ends = append(ends, *t)
			}
		}
	}
	ends = slices.DeleteFunc(ends, func(t corev1.ContainerStateTerminated) bool { return (t.ExitCode == 0) != (how == succeeded) })
	if len(ends) == 0 {
		return report{}
	}
	last := slices.MaxFunc(ends, func(a, b corev1.ContainerStateTerminated) int { return a.FinishedAt.Compare(b.FinishedAt.Time) })
	result, err := agent.DecodeResult(last.Message)
	return report{found: err == nil || how == failed, result: plausible(result), words: wordsOf(last, result)}
}

// plausible is what the status can hold: the image is the user's, so the
// report may be anything.
func plausible(r agent.Result) agent.Result {
	r.SizeBytes = max(r.SizeBytes, 0)
	if len(r.SHA256) > sha256.Size*2 {
		r.SHA256 = ""
	}
	if len(r.Location) > maxLocation {
		r.Location = ""
	}
	return r
}

// wordsOf says in one line why an attempt failed: in the agent's words if it
// had any, else in the container's last line.
func wordsOf(t corev1.ContainerStateTerminated, result agent.Result) string {
	if t.Reason == "OOMKilled" {
		return "it needed more memory than its limit; raise spec.podTemplate.resources.limits.memory"
	}
	lines := strings.Split(strings.TrimSpace(t.Message), "\n")
	return cmp.Or(result.Error, strings.TrimSpace(lines[len(lines)-1]), t.Reason, fmt.Sprintf("exit code %d", t.ExitCode))
}
