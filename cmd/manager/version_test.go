// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"testing"
)

func TestDescribe(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: modified}}
	}
	cases := map[string]struct {
		release string
		info    debug.BuildInfo
		want    string
	}{
		"a release says what the linker was told": {
			"v0.1.0", debug.BuildInfo{GoVersion: "go1.26.8"}, "backupjob-operator v0.1.0, go1.26.8"},
		"go install says the module's version": {
			"", debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v0.2.0"}}, "backupjob-operator v0.2.0, go1.26.8"},
		"a clean checkout says its commit": {
			"", debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"}, Settings: vcs("false")},
			"backupjob-operator development, commit 0123abc, go1.26.8"},
		"a changed checkout says that, too": {
			"", debug.BuildInfo{Settings: vcs("true")}, "backupjob-operator development, commit 0123abc with changes"},
		"a binary without build information says nothing wrong": {
			"", debug.BuildInfo{}, "backupjob-operator development"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := describe(tc.release, &tc.info); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
