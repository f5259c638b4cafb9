// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && !long

package e2e

// migrated is how many objects are migrated; 'make test-long' has another number.
const migrated = 300
