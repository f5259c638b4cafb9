// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import corev1 "k8s.io/api/core/v1"

// Affinity says which nodes a run's Pods prefer or need. It has the fields of
// a Pod's own affinity; the types are written out here because those of a Pod
// have lists without a bound.
type Affinity struct {
	// nodeAffinity chooses nodes by their labels.
	// +optional
	NodeAffinity *NodeAffinity `json:"nodeAffinity,omitempty"`

	// podAffinity puts the Pods near others.
	// +optional
	PodAffinity *PodAffinity `json:"podAffinity,omitempty"`

	// podAntiAffinity keeps the Pods away from others.
	// +optional
	PodAntiAffinity *PodAffinity `json:"podAntiAffinity,omitempty"`
}

// NodeAffinity chooses nodes by their labels.
type NodeAffinity struct {
	// requiredDuringSchedulingIgnoredDuringExecution must hold for a node.
	// +optional
	Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`

	// preferredDuringSchedulingIgnoredDuringExecution are wishes with a
	// weight.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Preferred []PreferredSchedulingTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// NodeSelector is a list of terms of which one must hold.
type NodeSelector struct {
	// nodeSelectorTerms are the terms.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Terms []NodeSelectorTerm `json:"nodeSelectorTerms"`
}

// PreferredSchedulingTerm is a term with a weight.
type PreferredSchedulingTerm struct {
	// weight is 1 to 100.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`

	// preference is the term.
	// +required
	Preference NodeSelectorTerm `json:"preference"`
}

// NodeSelectorTerm holds if all its requirements hold.
type NodeSelectorTerm struct {
	// matchExpressions are requirements on a node's labels.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	MatchExpressions []SelectorRequirement `json:"matchExpressions,omitempty"`

	// matchFields are requirements on a node's fields.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	MatchFields []SelectorRequirement `json:"matchFields,omitempty"`
}

// SelectorRequirement compares one key with values.
type SelectorRequirement struct {
	// key is the label or field.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`

	// operator is In, NotIn, Exists, DoesNotExist, Gt or Lt.
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt
	Operator corev1.NodeSelectorOperator `json:"operator"`

	// values are what the key is compared with.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Values []string `json:"values,omitempty"`
}

// PodAffinity relates the Pods to others.
type PodAffinity struct {
	// requiredDuringSchedulingIgnoredDuringExecution must all hold.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Required []PodAffinityTerm `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`

	// preferredDuringSchedulingIgnoredDuringExecution are wishes with a
	// weight.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Preferred []WeightedPodAffinityTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// WeightedPodAffinityTerm is a term with a weight.
type WeightedPodAffinityTerm struct {
	// weight is 1 to 100.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`

	// podAffinityTerm is the term.
	// +required
	Term PodAffinityTerm `json:"podAffinityTerm"`
}

// PodAffinityTerm names Pods and the topology in which they count as near.
type PodAffinityTerm struct {
	// labelSelector chooses the Pods.
	// +optional
	LabelSelector *LabelSelector `json:"labelSelector,omitempty"`

	// namespaces are where the Pods are looked for. Empty means the object's
	// namespace.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	Namespaces []string `json:"namespaces,omitempty"`

	// topologyKey is the node label whose value makes nodes near.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	TopologyKey string `json:"topologyKey"`
}

// LabelSelector chooses objects by their labels.
type LabelSelector struct {
	// matchLabels must all be there.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`

	// matchExpressions must all hold.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	MatchExpressions []SelectorRequirement `json:"matchExpressions,omitempty"`
}
