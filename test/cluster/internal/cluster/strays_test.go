// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStraysAreOurProgramsOnThisCluster(t *testing.T) {
	l := Layout{Name: "one", Dir: "/cache/clusters/one"}
	c := Config{Programs: map[string]string{"etcd": "/cache/bin/etcd"}}
	listing := `
    1 /sbin/init
   10 /cache/bin/etcd --data-dir=/cache/clusters/one/data/etcd
   11 /cache/bin/etcd --data-dir=/cache/clusters/one-more/data/etcd
   12 less /cache/clusters/one/logs/etcd.log
   13 /usr/bin/etcd --data-dir=/cache/clusters/one/data/etcd
`
	if diff := cmp.Diff([]int{10}, strays(listing, l, c)); diff != "" {
		t.Error(diff)
	}
}
