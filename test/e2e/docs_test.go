// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// commands are the blocks of shell of a page below a heading, in order, as a
// reader copies them. A block may be indented, as in a list.
func commands(page, heading string) []string {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	Expect(err).NotTo(HaveOccurred())
	_, text, found := strings.Cut(string(data), "\n"+heading+"\n")
	Expect(found).To(BeTrue(), "%s has no heading %q", page, heading)
	level, _, _ := strings.Cut(heading, " ")
	text, _, _ = strings.Cut(text, "\n"+level+" ")
	var blocks []string
	fence, indent := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " ")
		isFence := strings.HasPrefix(trimmed, "```")
		switch {
		case isFence && fence == "":
			fence, indent = strings.TrimSpace(trimmed), line[:len(line)-len(trimmed)]
			if fence == "```" { // another language has its name there
				blocks = append(blocks, "")
			}
		case isFence:
			fence = ""
		case fence == "```":
			blocks[len(blocks)-1] += strings.TrimPrefix(line, indent)
		}
	}
	return blocks
}

// follow runs a block of a page in a folder.
func follow(ctx context.Context, folder, block string) string {
	GinkgoHelper()
	cmd := command(ctx, "bash", "-euo", "pipefail", "-c", block)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", block, out)
	return string(out)
}

// project is the folder in which a reader of the docs stands.
const project = "../.."
