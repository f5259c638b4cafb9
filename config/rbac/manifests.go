// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package rbac carries the shipped accounts, roles and bindings, so that
// 'kubectl backup audit' can tell what a cluster has from what was installed.
package rbac

import "embed"

// Manifests are the files as they are shipped, for the namespace
// backupjob-system and without a name prefix.
//
//go:embed controller.yaml webhook.yaml users.yaml
var Manifests embed.FS
