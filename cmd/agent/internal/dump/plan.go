// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/backupjob-operator/cmd/agent/internal/mysql"
)

// Plan is a dump that can start: everything that can be known to fail has
// been looked at.
type Plan struct {
	// Databases are those in the dump.
	Databases []string
	// All says that they were not named one by one.
	All bool

	client *mysql.Client
	args   []string
}

// Prepare looks at the server, its databases and the user's grants.
func Prepare(ctx context.Context, client *mysql.Client, o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	visible, err := client.Databases(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the databases: %w", err)
	}
	databases, err := choose(o.Databases, visible)
	if err != nil {
		return nil, err
	}
	p := pair{client: client.Tools.Version, server: client.Server}
	if err := p.checkVersions(o); err != nil {
		return nil, err
	}
	if err := p.checkContent(ctx, client, databases); err != nil {
		return nil, err
	}
	if err := checkGrants(ctx, client, o, databases); err != nil {
		return nil, err
	}
	return &Plan{Databases: databases, All: len(o.Databases) == 0, client: client, args: arguments(p, o, databases)}, nil
}

// Run dumps into w.
func (p *Plan) Run(ctx context.Context, w io.Writer) error { return p.client.Dump(ctx, w, p.args...) }

// system are the databases of the server itself.
var system = []string{"information_schema", "mysql", "performance_schema", "sys"}

// choose returns the databases to dump, or says which of them is not there.
func choose(wanted, visible []string) ([]string, error) {
	if len(wanted) > 0 {
		var missing []string
		for _, name := range wanted {
			// A server may fold the names' case, so only their letters count.
			if !slices.ContainsFunc(visible, func(v string) bool { return strings.EqualFold(v, name) }) {
				missing = append(missing, "'"+name+"'")
			}
		}
		if len(missing) > 0 {
			return nil, fmt.Errorf("the server has no database %s, or the user may not see it: "+
				"check spec.source.databases and the user's grants", strings.Join(missing, ", "))
		}
		return wanted, nil
	}
	all := slices.DeleteFunc(slices.Clone(visible), func(name string) bool {
		return slices.ContainsFunc(system, func(s string) bool { return strings.EqualFold(s, name) })
	})
	if len(all) == 0 {
		return nil, errors.New("the user sees no database beside the server's own, so there is nothing to back up: " +
			"grant the user SELECT on the databases, or create them")
	}
	slices.Sort(all)
	return all, nil
}
