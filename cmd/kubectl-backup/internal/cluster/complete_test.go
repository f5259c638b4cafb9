// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestNamesAreOfferedAsTheyMayBeWritten(t *testing.T) {
	for typed, want := range map[string][]cobra.Completion{
		"":       {"bj/both", "bj/nightly", "mb/both", "mb/shop"},
		"bj":     {"bj/both", "bj/nightly"},
		"mb/":    {"mb/both", "mb/shop"},
		"ni":     {"nightly"},
		"bo":     {}, // of two kinds
		"mb/nig": {},
	} {
		got := offered([]cobra.Completion{"bj/both", "bj/nightly", "mb/both", "mb/shop"}, typed)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: want -, got +:\n%s", typed, diff)
		}
	}
}
