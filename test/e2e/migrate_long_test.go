// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && long

package e2e

import "time"

// migrated is how many objects are migrated.
const migrated = 10_000

// whole is how long a step over all of them may take on a busy machine.
const whole = 40 * time.Minute
