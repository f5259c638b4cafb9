// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"
)

func TestClusterNamesFitWhereTheyAreUsed(t *testing.T) {
	cases := map[string]bool{
		"demo":                  true,
		"e2e-1":                 true,
		"a":                     true,
		strings.Repeat("x", 30): true,
		strings.Repeat("x", 31): false,
		"":                      false,
		"-a":                    false,
		"a-":                    false,
		"Demo":                  false,
		"a/b":                   false,
		"..":                    false,
	}
	for name, valid := range cases {
		if _, err := NewLayout("/cache", name); (err == nil) != valid {
			t.Errorf("name %q: error %v, want it to be valid: %t", name, err, valid)
		}
	}
}

func TestClustersShareNothing(t *testing.T) {
	one, err := NewLayout("/cache", "one")
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewLayout("/cache", "two")
	if err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]func(Layout) string{
		"folder":         func(l Layout) string { return l.Dir },
		"sockets":        func(l Layout) string { return l.Run },
		"namespace":      Layout.NamespacePath,
		"control group":  Layout.cgroup,
		"keeper's lock":  Layout.keeperLock,
		"operation lock": Layout.operationLock,
	} {
		if place(one) == place(two) {
			t.Errorf("both have the %s %s", name, place(one))
		}
	}
}
