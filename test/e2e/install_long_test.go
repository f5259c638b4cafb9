// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && long

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A fresh install, twenty times", Label("long"), Serial, func() {
	It("has the first apply succeed each time", func(ctx context.Context) {
		DeferCleanup(func(ctx context.Context) { deploy(ctx, current) })
		for turn := range 20 {
			out, err := undeploy(ctx, "release", current)
			Expect(err).NotTo(HaveOccurred(), out)
			nothingLeft(ctx)
			install(ctx, project, operatorNamespace, turn)
		}
	})
})
