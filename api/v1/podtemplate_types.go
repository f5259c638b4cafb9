// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import corev1 "k8s.io/api/core/v1"

// PodTemplate is the closed list of what a user may change in the Pods of a
// run. It has no volumes, containers or commands, and nothing privileged.
type PodTemplate struct {
	// labels are added to the Pods. Keys of backup.example.com/,
	// batch.kubernetes.io/ and app.kubernetes.io/ are refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('backup.example.com/') && !k.startsWith('batch.kubernetes.io/') && !k.startsWith('app.kubernetes.io/'))",message="must not contain keys of backup.example.com/, batch.kubernetes.io/ or app.kubernetes.io/"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// annotations are added to the Pods. Keys of backup.example.com/,
	// batch.kubernetes.io/ and app.kubernetes.io/ are refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('backup.example.com/') && !k.startsWith('batch.kubernetes.io/') && !k.startsWith('app.kubernetes.io/'))",message="must not contain keys of backup.example.com/, batch.kubernetes.io/ or app.kubernetes.io/"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// image is the image with the database's client tools. Unset means the
	// operator's setting for the engine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image *string `json:"image,omitempty"`

	// imagePullPolicy is Always, IfNotPresent or Never. Unset means what
	// Kubernetes derives from the image's tag.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets name the Secrets with which the image is pulled. At
	// most 8.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []SecretReference `json:"imagePullSecrets,omitempty"`

	// resources are the requests and limits of the container that makes the
	// backup.
	// +optional
	Resources *Resources `json:"resources,omitempty"`

	// nodeSelector are the labels that a node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// tolerations are the taints that the Pods tolerate. At most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity says which nodes the Pods prefer or need.
	// +optional
	Affinity *Affinity `json:"affinity,omitempty"`

	// priorityClassName is the Pods' priority class.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	PriorityClassName *string `json:"priorityClassName,omitempty"`

	// serviceAccountName is the ServiceAccount that the Pods run as. Its
	// token is never mounted.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	ServiceAccountName *string `json:"serviceAccountName,omitempty"`

	// runAsUser is the numeric user that the containers run as. 0, root, is
	// refused.
	// +optional
	// +kubebuilder:default=65532
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// fsGroup is the numeric group that owns the volumes. 0, root, is
	// refused.
	// +optional
	// +kubebuilder:default=65532
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	FSGroup *int64 `json:"fsGroup,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// AnnotationValue is the value of an annotation of the Pods.
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string

// SecretReference names a Secret in the object's namespace.
type SecretReference struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	Name string `json:"name"`
}

// Resources are the requests and limits of a container. Quantities are bounded
// because reading one with a large exponent takes a server minutes.
type Resources struct {
	// limits are the most that the container may use, such as cpu: 500m and
	// memory: 1Gi. Quantities have at most 32 characters and no exponent.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, type(self[k]) != string || size(self[k]) <= 32)",message="must have quantities of at most 32 characters, such as '500m' or '1Gi'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, type(self[k]) != string || !self[k].contains('e') && !self[k].contains('E'))",message="must have quantities without an exponent, such as '500m' or '1Gi'"
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// requests are what the container is given at least, such as cpu: 100m and
	// memory: 128Mi. Quantities have at most 32 characters and no exponent.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, type(self[k]) != string || size(self[k]) <= 32)",message="must have quantities of at most 32 characters, such as '500m' or '1Gi'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, type(self[k]) != string || !self[k].contains('e') && !self[k].contains('E'))",message="must have quantities without an exponent, such as '500m' or '1Gi'"
	Requests corev1.ResourceList `json:"requests,omitempty"`
}
