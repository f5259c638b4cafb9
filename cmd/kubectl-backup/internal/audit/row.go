// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Status is the outcome of one check.
type Status string

// The outcomes, from the best to the worst.
const (
	Pass Status = "pass"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Row is one check and what it found. Its JSON form is documented in
// docs/security.md and only grows.
type Row struct {
	// ID names the check. It never changes.
	ID string `json:"id"`
	// Area is the part of the installation that the check looks at.
	Area string `json:"area"`
	// Title says what must hold.
	Title string `json:"title"`
	// Status is pass, warn or fail.
	Status Status `json:"status"`
	// Checked is false where the check could not be made; Status is warn
	// then, and Seen says why.
	Checked bool `json:"checked"`
	// Seen is what was found, the worst first.
	Seen []string `json:"seen"`
	// Do is what to do about a warn or a fail; empty for a pass.
	Do string `json:"do,omitempty"`
	// Threats are the numbers of the threats, in the model that
	// docs/security.md follows, that the check is about.
	Threats []int `json:"threats"`

	failed, warned, saw []string
}

func (r *Row) fail(format string, args ...any) { r.failed = append(r.failed, sprint(format, args)) }
func (r *Row) warn(format string, args ...any) { r.warned = append(r.warned, sprint(format, args)) }
func (r *Row) see(format string, args ...any)  { r.saw = append(r.saw, sprint(format, args)) }

// sprint keeps what a stranger wrote, such as the name of an object, from
// moving a cursor.
func sprint(format string, args []any) string {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// close sums up what was found.
func (r *Row) close(do string, accepted bool) {
	r.Seen = slices.Concat(r.failed, r.warned, r.saw)
	switch {
	case len(r.failed) > 0:
		r.Status, r.Do = Fail, do
	case len(r.warned) > 0 && accepted:
		r.Status = Pass
		r.Seen = append(r.Seen, "accepted with --accept "+r.ID)
	case len(r.warned) > 0:
		r.Status, r.Do = Warn, do
	default:
		r.Status = Pass
	}
	if r.Seen == nil {
		r.Seen = []string{}
	}
}

// Summary counts rows by outcome. Rows that were not checked are among those
// that warn.
type Summary struct {
	Pass       int `json:"pass"`
	Warn       int `json:"warn"`
	Fail       int `json:"fail"`
	NotChecked int `json:"notChecked"`
}

// Report is the answer of the command.
type Report struct {
	// CheckedAt is when the cluster was read, in UTC.
	CheckedAt time.Time `json:"checkedAt"`
	// Plugin is the version of this program, whose manifests the cluster was
	// compared with.
	Plugin string `json:"plugin"`
	// Server is the API server's URL.
	Server string `json:"server"`
	// Namespace is that of the operator.
	Namespace string `json:"namespace"`
	// Summary counts the rows.
	Summary Summary `json:"summary"`
	// Rows are in a fixed order.
	Rows []Row `json:"rows"`
	// MissingRights are what the user would need to have everything checked.
	MissingRights []string `json:"missingRights"`
}

func (r *Report) count() {
	r.Summary = Summary{}
	for _, row := range r.Rows {
		switch row.Status {
		case Fail:
			r.Summary.Fail++
		case Warn:
			r.Summary.Warn++
		default:
			r.Summary.Pass++
		}
		if !row.Checked {
			r.Summary.NotChecked++
		}
	}
}
