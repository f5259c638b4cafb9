// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

const (
	// timeLayout is the scheduled time in a file's name, to the second, in
	// UTC, without characters that a file system may refuse.
	timeLayout = "20060102T150405Z"

	dumpSuffix     = ".sql"
	manifestSuffix = ".json"
	tempPrefix     = ".tmp-"
)

// Owner is the object whose backups are meant.
type Owner struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Run is one run of an object, and the attempt that carries it out.
type Run struct {
	Owner Owner
	// Scheduled is the run's time. Every attempt of the run has the same.
	Scheduled time.Time
	// Attempt is unique to the attempt: the Pod's UID.
	Attempt string
}

// base is the name that a run's files share, without the endings.
func (r Run) base() string { return r.Scheduled.UTC().Format(timeLayout) }

// ownBase is the name that a run's files share where another object has
// taken the plain one.
func (r Run) ownBase() string {
	short, _, _ := strings.Cut(r.Owner.UID, "-")
	return r.base() + "-" + short
}

// tempName is the name of a file of this attempt while it is being written.
func (r Run) tempName(suffix string) string {
	return r.tempPrefix() + r.Attempt + suffix
}

// tempPrefix begins the names of all temporary files of this run.
func (r Run) tempPrefix() string { return ownerTempPrefix(r.Owner.UID) + r.base() + "-" }

// ownerTempPrefix begins the names of all temporary files of an object.
func ownerTempPrefix(uid string) string { return tempPrefix + uid + "-" }

// checkPathPart refuses what would not be one folder below the root.
func checkPathPart(what, value string) error {
	if value == "" || value == "." || value == ".." || strings.ContainsAny(value, "/\\\x00") {
		return fmt.Errorf("the object's %s %q cannot be the name of a folder", what, value)
	}
	return nil
}

// IsFileName tells whether name can be a backup's file: one plain name in
// the object's folder.
func IsFileName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && filepath.Base(name) == name && !strings.ContainsAny(name, "\\\x00")
}
