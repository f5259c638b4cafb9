// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the old version of the API. It is served and
// deprecated, and it can hold everything that v1 can: the old flat fields stay
// as they were, and whatever they cannot say has an optional field that bears
// v1's name and type.
//
// +kubebuilder:object:generate=true
// +groupName=backup.example.com
package v1alpha1
