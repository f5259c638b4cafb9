// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy carries the shipped ValidatingAdmissionPolicies and their
// bindings, so that 'kubectl backup audit' can tell what a cluster has from
// what was installed.
package policy

import "embed"

// Manifests are the files as they are shipped, for the namespace
// backupjob-system and without a name prefix.
//
//go:embed invariants.yaml jobs.yaml status.yaml
var Manifests embed.FS
