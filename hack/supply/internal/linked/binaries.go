// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package linked knows which modules the shipped binaries are made of, and
// under which licences those are.
package linked

// Binary is a program that is shipped.
type Binary struct {
	// Name is that of the file.
	Name string
	// Platforms are those that it is built for, as GOOS/GOARCH.
	Platforms []string
}

// Package is the main package, as seen from the root of the repository.
func (b Binary) Package() string { return "./cmd/" + b.Name }

// Binaries are the programs of the image, and the plugin.
func Binaries() []Binary {
	image := []string{"linux/amd64", "linux/arm64"}
	return []Binary{
		{Name: "manager", Platforms: image},
		{Name: "agent", Platforms: image},
		{Name: "kubectl-backup", Platforms: append(image, "darwin/amd64", "darwin/arm64", "windows/amd64")},
	}
}
