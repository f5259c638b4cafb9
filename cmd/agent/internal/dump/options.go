// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/backupjob-operator/api/agent"
)

// Options say what goes into a dump.
type Options struct {
	// Databases are named one by one; none means all.
	Databases         []string
	SingleTransaction bool
	Routines          bool
	Triggers          bool
	Events            bool
	// IgnoreTables are written db.table.
	IgnoreTables []string
	// SetGTIDPurged is one of the agent.GTIDPurged… values; empty is Auto.
	SetGTIDPurged string
}

// Validate refuses what no dump tool could be told. The webhook has refused
// it before; the agent does not rely on that.
func (o Options) Validate() error {
	var errs []error
	for _, name := range o.Databases {
		if err := checkName(name); err != nil {
			errs = append(errs, fmt.Errorf("the database name %q %w", name, err))
		}
	}
	for _, table := range o.IgnoreTables {
		db, name, found := strings.Cut(table, ".")
		if !found || checkName(db) != nil || checkName(name) != nil {
			errs = append(errs, fmt.Errorf("the table to ignore %q must be written as database.table", table))
		}
	}
	switch o.SetGTIDPurged {
	case "", agent.GTIDPurgedAuto, agent.GTIDPurgedOn, agent.GTIDPurgedOff:
	default:
		errs = append(errs, fmt.Errorf("setGTIDPurged is %q and must be %s, %s or %s",
			o.SetGTIDPurged, agent.GTIDPurgedAuto, agent.GTIDPurgedOn, agent.GTIDPurgedOff))
	}
	return errors.Join(errs...)
}

// maxName is the longest name that the servers allow, in characters.
const maxName = 64

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("must not be empty")
	case !utf8.ValidString(name):
		return errors.New("must be UTF-8")
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("must have at most %d characters", maxName)
	case strings.HasPrefix(name, "-"):
		return errors.New("must not begin with '-'")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("must not hold control characters")
	}
	return nil
}
