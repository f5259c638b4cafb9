// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	labelKey = "must have a key such as 'team' or 'example.com/team': " +
		"at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
	labelValue = "must be empty, or at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
	reserved   = "must not be set here: keys of backup.example.com/, batch.kubernetes.io/ and app.kubernetes.io/ " +
		"are written by the operator"
)

var reservedPrefixes = []string{backupv1.GroupName + "/", "batch.kubernetes.io/", "app.kubernetes.io/"}

func judgePodLabels(b backupv1.Backup, r *report) {
	pod := b.Policy().PodTemplate
	if pod == nil {
		return
	}
	r.labels(podPath.Child("labels"), pod.Labels, true)
	r.labels(podPath.Child("nodeSelector"), pod.NodeSelector, false)
	annotations := podPath.Child("annotations")
	for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
		// The server compares the keys of annotations in lower case.
		r.hide(annotations.Key(key), keyWords(strings.ToLower(key), true))
	}
}

// labels judges a map of labels; ours are refused where they would be written.
func (r *report) labels(at *field.Path, labels map[string]backupv1.LabelValue, written bool) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if wrong := keyWords(key, written); wrong != "" {
			r.hide(at.Key(key), wrong)
		} else {
			r.add(at.Key(key), labelWords(string(labels[key])))
		}
	}
}

func keyWords(key string, written bool) string {
	if written && slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
		return reserved
	}
	if len(validation.IsQualifiedName(key)) > 0 {
		return labelKey
	}
	return ""
}

func labelWords(value string) string {
	if len(validation.IsValidLabelValue(value)) > 0 {
		return labelValue
	}
	return ""
}

// imageReference is a repository, with a registry in front or not, and a tag
// or a digest or both.
var imageReference = regexp.MustCompile(`^(` + imageHost + `/)?` + imagePart + `(/` + imagePart + `)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?` +
	`(@[a-z0-9]+([.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,128})?$`)

const (
	imageHost = `([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?`
	imagePart = `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
)

func judgeImage(b backupv1.Backup, r *report) {
	pod := b.Policy().PodTemplate
	if pod == nil || pod.Image == nil || imageReference.MatchString(*pod.Image) {
		return
	}
	at := podPath.Child("image")
	switch image := *pod.Image; {
	case strings.Contains(image, "@"): // may be credentials
		r.hide(at, "must be an image with a tag, a digest such as '@sha256:…' or both, and no credentials")
	case strings.Contains(image, "://"):
		r.add(at, "must not have a scheme; write it as 'registry.example.com/mysql:8.4'")
	case imageReference.MatchString(strings.ToLower(image)):
		r.add(at, "must have its repository in lower case, such as 'registry.example.com/mysql:8.4'")
	default:
		r.add(at, "must be an image with a tag or digest, such as 'registry.example.com/mysql:8.4'")
	}
}

func judgeResources(b backupv1.Backup, r *report) {
	pod := b.Policy().PodTemplate
	if pod == nil || pod.Resources == nil {
		return
	}
	at := podPath.Child("resources")
	r.quantities(at.Child("limits"), pod.Resources.Limits)
	r.quantities(at.Child("requests"), pod.Resources.Requests)
	for name, request := range pod.Resources.Requests {
		if limit, ok := pod.Resources.Limits[name]; ok && request.Cmp(limit) > 0 {
			r.add(at.Child("requests").Key(string(name)), "must be at most the limit, which is '"+limit.String()+"'")
		}
	}
}

func (r *report) quantities(at *field.Path, resources corev1.ResourceList) {
	for name, quantity := range resources {
		switch at := at.Key(string(name)); {
		case len(validation.IsQualifiedName(string(name))) > 0:
			r.hide(at, "must be the name of a resource such as 'cpu' or 'memory'")
		case quantity.Sign() < 0:
			r.add(at, "must be at least 0")
		}
	}
}

func judgeTolerations(b backupv1.Backup, r *report) {
	pod := b.Policy().PodTemplate
	if pod == nil {
		return
	}
	for i := range pod.Tolerations {
		r.toleration(podPath.Child("tolerations").Index(i), &pod.Tolerations[i])
	}
}

func (r *report) toleration(at *field.Path, t *corev1.Toleration) {
	operators := []string{"Exists", "Equal", "Lt", "Gt"}
	switch {
	case t.Operator != "" && !slices.Contains(operators, string(t.Operator)):
		r.add(at.Child("operator"), "must be "+list(operators, "'", " or "))
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		r.add(at.Child("value"), "must be empty with the operator 'Exists'")
	case t.Operator != corev1.TolerationOpExists && t.Key == "":
		r.add(at.Child("operator"), "must be 'Exists' where there is no `key`")
	case t.Operator != corev1.TolerationOpExists:
		r.add(at.Child("value"), labelWords(t.Value))
	}
	if t.Key != "" {
		r.add(at.Child("key"), keyWords(t.Key, false))
	}
	effects := []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
	if t.Effect != "" && !slices.Contains(effects, string(t.Effect)) {
		r.add(at.Child("effect"), "must be "+list(effects, "'", " or "))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		r.add(at.Child("tolerationSeconds"), "must not be set unless `effect` is 'NoExecute'")
	}
}
