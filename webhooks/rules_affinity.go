// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// judgeAffinity judges what the API server would refuse in the Pods of a run.
func judgeAffinity(b backupv1.Backup, r *report) {
	pod := b.Policy().PodTemplate
	if pod == nil || pod.Affinity == nil {
		return
	}
	at := podPath.Child("affinity")
	if nodes := pod.Affinity.NodeAffinity; nodes != nil {
		r.nodeAffinity(at.Child("nodeAffinity"), nodes)
	}
	r.podAffinity(at.Child("podAffinity"), pod.Affinity.PodAffinity)
	r.podAffinity(at.Child("podAntiAffinity"), pod.Affinity.PodAntiAffinity)
}

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func (r *report) nodeAffinity(at *field.Path, nodes *backupv1.NodeAffinity) {
	if nodes.Required != nil {
		for i := range nodes.Required.Terms {
			r.nodeTerm(at.Child(required, "nodeSelectorTerms").Index(i), &nodes.Required.Terms[i])
		}
	}
	for i := range nodes.Preferred {
		r.nodeTerm(at.Child(preferred).Index(i).Child("preference"), &nodes.Preferred[i].Preference)
	}
}

func (r *report) nodeTerm(at *field.Path, term *backupv1.NodeSelectorTerm) {
	for i := range term.MatchExpressions {
		r.requirement(at.Child("matchExpressions").Index(i), &term.MatchExpressions[i], true)
	}
	for i := range term.MatchFields {
		at, wanted := at.Child("matchFields").Index(i), &term.MatchFields[i]
		if wanted.Key != "metadata.name" {
			r.add(at.Child("key"), "must be 'metadata.name', the only field of a node that can be matched")
		}
		in := wanted.Operator == corev1.NodeSelectorOpIn || wanted.Operator == corev1.NodeSelectorOpNotIn
		if !in {
			r.add(at.Child("operator"), "must be 'In' or 'NotIn' for a field")
		} else if len(wanted.Values) != 1 {
			r.add(at.Child("values"), "must have exactly one value for a field")
		}
	}
}

// requirement judges a comparison of labels; only those of nodes can be
// compared as numbers.
func (r *report) requirement(at *field.Path, wanted *backupv1.SelectorRequirement, node bool) {
	r.add(at.Child("key"), keyWords(wanted.Key, false))
	values := at.Child("values")
	switch wanted.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(wanted.Values) == 0 {
			r.add(values, "must have a value with the operator '"+string(wanted.Operator)+"'")
		}
		for i, value := range wanted.Values {
			r.add(values.Index(i), labelWords(value))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(wanted.Values) > 0 {
			r.add(values, "must be left out with the operator '"+string(wanted.Operator)+"'")
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		switch {
		case !node:
			r.add(at.Child("operator"), "must be 'In', 'NotIn', 'Exists' or 'DoesNotExist' for the labels of Pods")
		case len(wanted.Values) != 1 || !isNumber(wanted.Values[0]):
			r.add(values, "must have exactly one whole number with the operator '"+string(wanted.Operator)+"'")
		}
	}
}

func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

func (r *report) podAffinity(at *field.Path, pods *backupv1.PodAffinity) {
	if pods == nil {
		return
	}
	for i := range pods.Required {
		r.podTerm(at.Child(required).Index(i), &pods.Required[i])
	}
	for i := range pods.Preferred {
		r.podTerm(at.Child(preferred).Index(i).Child("podAffinityTerm"), &pods.Preferred[i].Term)
	}
}

func (r *report) podTerm(at *field.Path, term *backupv1.PodAffinityTerm) {
	r.add(at.Child("topologyKey"), keyWords(term.TopologyKey, false))
	for i, namespace := range term.Namespaces {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			r.add(at.Child("namespaces").Index(i), "must be the name of a namespace")
		}
	}
	if term.LabelSelector == nil {
		return
	}
	at = at.Child("labelSelector")
	r.labels(at.Child("matchLabels"), term.LabelSelector.MatchLabels, false)
	for i := range term.LabelSelector.MatchExpressions {
		r.requirement(at.Child("matchExpressions").Index(i), &term.LabelSelector.MatchExpressions[i], false)
	}
}
