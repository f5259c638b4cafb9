// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import "testing"

func BenchmarkJudge(b *testing.B) {
	for name, w := range writings {
		b.Run(name, func(b *testing.B) {
			raw := object(b, w.manifest)
			b.ReportAllocs()
			for b.Loop() {
				judged(b, raw, nil)
			}
		})
	}
}
