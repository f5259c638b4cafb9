// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// GroupVersion is the group and version of this package.
var GroupVersion = schema.GroupVersion{Group: backupv1.GroupName, Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the types of this package.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &BackupJob{}, &BackupJobList{}, &MySQLBackup{}, &MySQLBackupList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
