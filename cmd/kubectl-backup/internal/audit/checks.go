// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"
	"strings"
)

// check is one question about a snapshot.
type check struct {
	id, title string
	threats   []int
	needs     []string // resources without which it cannot be answered
	do        string
	run       func(*Snapshot, *Row)
}

type area struct {
	name   string
	checks []check
}

// areas are all checks in the order in which they are told.
var areas = []area{
	{"Webhooks", webhookChecks},
	{"Certificates", certificateChecks},
	{"Versions and conversion", conversionChecks},
	{"Second lock", lockChecks},
	{"Processes", processChecks},
	{"Network and namespace", namespaceChecks},
	{"Rights", rightsChecks},
}

// IDs are the names of all checks, in their order.
func IDs() []string {
	var ids []string
	for _, area := range areas {
		for _, c := range area.checks {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// Judge makes all checks. What is accepted is known to the caller and does not
// warn: ids of rows, and subjects such as Group:platform-admins.
func Judge(s *Snapshot, accepted []string) []Row {
	var rows []Row
	for _, area := range areas {
		for _, c := range area.checks {
			rows = append(rows, c.make(s, area.name, accepted))
		}
	}
	return rows
}

func (c check) make(s *Snapshot, area string, accepted []string) Row {
	row := Row{ID: c.id, Area: area, Title: c.title, Threats: c.threats, Checked: true}
	if row.Threats == nil {
		row.Threats = []int{}
	}
	var why []string
	for _, resource := range c.needs {
		if u, ok := s.Unread[resource]; ok {
			why = append(why, u.why)
		}
	}
	if len(why) > 0 {
		row.Checked, row.Status = false, Warn
		row.Seen = append([]string{"not checked"}, slices.Compact(why)...)
		row.Do = "Let someone with that right run the audit, or be granted it; get and list are enough."
		return row
	}
	with := *s
	with.accepted = accepted
	c.run(&with, &row)
	row.close(strings.ReplaceAll(c.do, "<namespace>", s.Namespace), slices.Contains(accepted, c.id))
	return row
}

// accepts reports whether a subject, as subjectText writes it, is one that the
// caller named.
func (s *Snapshot) accepts(subject string) bool { return slices.Contains(s.accepted, subject) }

// names joins a few names for a sentence.
func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
