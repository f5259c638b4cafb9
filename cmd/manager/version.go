// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"strings"
)

// version is set by the linker where a release is built. Everywhere else the
// build information says what there is to know.
var version string

// buildVersion is the version with the commit and the Go version, in a line.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return describe(version, &debug.BuildInfo{})
	}
	return describe(version, info)
}

func describe(release string, info *debug.BuildInfo) string {
	if release == "" {
		release = info.Main.Version
	}
	if release == "" || release == "(devel)" {
		release = "development"
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	parts := []string{release}
	if commit := settings["vcs.revision"]; commit != "" {
		if settings["vcs.modified"] == "true" {
			commit += " with changes"
		}
		parts = append(parts, "commit "+commit)
	}
	if info.GoVersion != "" {
		parts = append(parts, info.GoVersion)
	}
	return "backupjob-operator " + strings.Join(parts, ", ")
}
