// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package store keeps backups on a volume.
//
// An object's backups lie in <root>/<namespace>/<name>. A backup is two
// files: the dump, <time>.sql[.zst|.gz], and its manifest, <time>.json, where
// time is the run's scheduled time in UTC. Only a manifest whose dump is
// there with the size that the manifest says makes a backup. Where another
// object (one of the same name and another kind, or an earlier one) already
// has a backup of that second, the name is <time>-<first part of the UID>.
//
// What is being written has a name that begins with a dot and carries the
// object's and the Pod's UID, and is locked. A backup comes to be in this
// order, each step on disk before the next:
//
//  1. the dump is written, flushed and read back under its temporary name;
//  2. the manifest is written under its temporary name;
//  3. the dump gets its final name;
//  4. the manifest gets its final name.
//
// Killed before 3, nothing has a final name. Killed between 3 and 4, the dump
// is whole, but no backup until the next start finds the manifest of step 2,
// checks the dump against it and does step 4. A backup is removed the other
// way round: first the dump, then the manifest, so what is left after a kill
// is a manifest that everyone recognises as naming nothing.
package store
