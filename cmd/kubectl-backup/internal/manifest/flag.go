// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"

	"github.com/spf13/cobra"
)

// AddFlag adds -f, which may be given several times.
func AddFlag(cmd *cobra.Command, files *[]string) error {
	cmd.Flags().StringSliceVarP(files, "filename", "f", nil, "File or folder with the manifests, '-' for standard input. May be repeated.")
	var types []string
	for _, extension := range extensions {
		types = append(types, strings.TrimPrefix(extension, "."))
	}
	return cmd.MarkFlagFilename("filename", types...)
}
