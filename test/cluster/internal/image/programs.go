// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package image

// Program is the image of one static program.
func Program(tag, name, file string) Spec {
	target := "/" + name
	return Spec{
		Tags:       []string{tag},
		Entries:    []Entry{{Target: target, Source: file}},
		Entrypoint: []string{target},
	}
}
