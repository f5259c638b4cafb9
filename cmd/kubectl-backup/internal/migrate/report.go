// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"time"
)

// Report is what every command answers; -o json prints it as it stands. Fields
// are only added, never renamed or given another meaning.
type Report struct {
	// Command is plan, run, verify, finish or undo.
	Command string `json:"command"`
	// DryRun is true if nothing was changed because of --dry-run.
	DryRun bool `json:"dryRun"`
	// OK is true if the command reached its end and nothing stands in the way
	// of the next one. The exit code is 0 then, else 1.
	OK bool `json:"ok"`
	// Resources are our two kinds.
	Resources []*Resource `json:"resources"`
	// Managers own fields in v1alpha1, by resource and name. Only plan and
	// finish look for them.
	Managers []*Manager `json:"managers,omitempty"`
	// Checks are what was found about the cluster as a whole.
	Checks []Check `json:"checks,omitempty"`
	// Problems are the objects that stand in the way.
	Problems []Problem `json:"problems,omitempty"`
	// Notes say what was done, or with DryRun what would be.
	Notes []string `json:"notes,omitempty"`
	// Next says what to do now.
	Next []string `json:"next,omitempty"`
}

// Resource is one of our kinds.
type Resource struct {
	// Name is the plural, such as backupjobs.
	Name string `json:"name"`
	Kind string `json:"kind"`
	// StoredVersions are the versions in which objects may be stored.
	StoredVersions []string `json:"storedVersions"`
	// ServedVersions are those that clients can ask for.
	ServedVersions []string `json:"servedVersions"`
	// Objects is how many objects were read.
	Objects int64 `json:"objects"`
	// Accepted is how many would take a write that changes nothing (plan).
	Accepted int64 `json:"accepted,omitempty"`
	// Refused is how many would not (plan) or did not (run, finish).
	Refused int64 `json:"refused,omitempty"`
	// Different is how many do not read the same in both versions (plan,
	// verify, finish).
	Different int64 `json:"different,omitempty"`
	// Written is how many were stored anew (run) or had managedFields
	// rewritten (finish). With the cluster's own migration it is what was seen
	// of it.
	Written int64 `json:"written,omitempty"`
	// Method is how run migrates: StorageVersionMigration or Writes.
	Method string `json:"method,omitempty"`
	// Checksum is over the name and the spec of every object in both versions,
	// with v1's defaults filled in. Two that are equal prove that nothing was lost or changed in between.
	Checksum string `json:"checksum,omitempty"`
	// Seconds is how long this kind took.
	Seconds float64 `json:"seconds,omitempty"`
}

// Manager is who owns fields of v1alpha1 by managedFields.
type Manager struct {
	Name string `json:"name"`
	// Operation is Apply or Update.
	Operation   string `json:"operation"`
	Subresource string `json:"subresource,omitempty"`
	// Resource is the plural of the kind.
	Resource string `json:"resource"`
	// Objects is in how many objects.
	Objects int64 `json:"objects"`
	// LastTime is when it last changed a field of one.
	LastTime *time.Time `json:"lastTime,omitempty"`
}

// The results of checks.
const (
	ResultOK      = "OK"
	ResultWarning = "Warning"
	// ResultUnknown means that it could not be looked at.
	ResultUnknown = "Unknown"
	// ResultBlocked means that nothing must go on before it is put right.
	ResultBlocked = "Blocked"
)

// Check is one thing that was looked at.
type Check struct {
	Name    string `json:"name"`
	Result  string `json:"result"`
	Message string `json:"message"`
	// Advice is what to do about it; empty for OK.
	Advice string `json:"advice,omitempty"`
}

// The reasons of problems.
const (
	// ReasonRefused means that a write that changes nothing is refused.
	ReasonRefused = "Refused"
	// ReasonUnanswered means that the server had no answer for it.
	ReasonUnanswered = "Unanswered"
	// ReasonDifferent means that the two versions do not say the same.
	ReasonDifferent = "Different"
	// ReasonUnreadable means that its managedFields cannot be read.
	ReasonUnreadable = "Unreadable"
)

// Problem is an object that stands in the way.
type Problem struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
	Advice    string `json:"advice"`
}

func (r *Report) check(name, result, message, advice string) {
	r.Checks = append(r.Checks, Check{Name: name, Result: result, Message: message, Advice: advice})
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Report) next(format string, args ...any) {
	r.Next = append(r.Next, fmt.Sprintf(format, args...))
}

// blocked says whether something stands in the way.
func (r *Report) blocked() bool {
	for _, c := range r.Checks {
		if c.Result == ResultBlocked {
			return true
		}
	}
	return len(r.Problems) > 0
}
