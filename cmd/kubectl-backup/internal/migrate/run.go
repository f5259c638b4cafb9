// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Method is how objects are stored anew.
type Method string

// The methods.
const (
	// MethodAuto is MethodCluster where the cluster can, else MethodWrites.
	MethodAuto Method = "auto"
	// MethodCluster asks the cluster for a StorageVersionMigration.
	MethodCluster Method = "cluster"
	// MethodWrites writes each object.
	MethodWrites Method = "writes"
)

var methods = []string{string(MethodAuto), string(MethodCluster), string(MethodWrites)}

// String returns the method.
func (m *Method) String() string { return string(*m) }

// Set takes one of the methods.
func (m *Method) Set(value string) error {
	if !slices.Contains(methods, value) {
		return fmt.Errorf("must be one of %s", strings.Join(methods, ", "))
	}
	*m = Method(value)
	return nil
}

// Type is the word for the value in help texts.
func (m *Method) Type() string { return "string" }

// method is the one that will be taken.
func (m *migration) method(ctx context.Context) (Method, error) {
	if m.Method == MethodWrites {
		return MethodWrites, nil
	}
	err := m.retry(ctx, quiet, func() error {
		return m.client.List(ctx, &storagemigrationv1.StorageVersionMigrationList{}, client.Limit(1))
	})
	notServed := apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
	switch {
	case err == nil:
		return MethodCluster, nil
	case notServed && m.Method == MethodCluster:
		return "", errors.New("the cluster does not serve storagemigration.k8s.io/v1: leave out --method=cluster")
	case notServed:
		return MethodWrites, nil
	}
	return "", explain("list the StorageVersionMigrations", err)
}

// run has every object stored as v1.
func (m *migration) run(ctx context.Context) (*Report, error) {
	report := &Report{Command: "run"}
	subjects, err := m.subjects(ctx, report)
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		if err := s.storesNew(); err != nil {
			return nil, err
		}
	}
	method, err := m.method(ctx)
	if err != nil {
		return nil, err
	}
	var due []*subject
	for _, s := range subjects {
		if s.migrated() {
			report.note("%s: the server knows that everything is stored as v1; there is nothing to do.", s.Name)
			continue
		}
		due = append(due, s)
	}
	if m.DryRun {
		return m.wouldRun(ctx, due, method, report)
	}
	problems, err := m.migrate(ctx, due, method)
	report.Problems = problems
	if err != nil {
		return report, err
	}
	report.OK = !report.blocked()
	for _, s := range due {
		if s.migrated() {
			report.note("%s: everything is stored as v1, and the server knows it.", s.Name)
		}
	}
	if report.OK {
		report.next("Next: kubectl backup migrate verify")
	} else {
		report.next("Some objects are not migrated, so v1alpha1 stays among the stored versions. Nothing is lost. Put right what stands above, then run again.")
	}
	return report, nil
}

func (m *migration) wouldRun(ctx context.Context, due []*subject, method Method, report *Report) (*Report, error) {
	for _, s := range due {
		pages := m.pager(s.kind, newVersion)
		page, err := pages.next(ctx)
		if err != nil {
			return nil, err
		}
		s.Objects, s.Method = total(page), method.name()
		report.note("%s: %d objects would be stored as v1 by %s, and v1alpha1 taken off the stored versions.", s.Name, s.Objects, s.Method)
	}
	report.note("Nothing was changed. Whether an object would be refused is what 'kubectl backup migrate plan' says.")
	report.OK = true
	return report, nil
}

// name is the method in reports.
func (m Method) name() string {
	if m == MethodCluster {
		return "StorageVersionMigration"
	}
	return "Writes"
}

// migrate does both kinds at once. What stops one does not stop the other.
func (m *migration) migrate(ctx context.Context, due []*subject, method Method) ([]Problem, error) {
	var group errgroup.Group
	found, errs := make([][]Problem, len(due)), make([]error, len(due))
	for i, s := range due {
		group.Go(func() error {
			begun := m.clock.Now()
			found[i], errs[i] = m.migrateOne(ctx, s, method)
			s.Seconds = m.clock.Since(begun).Seconds()
			return nil
		})
	}
	_ = group.Wait() // each has an error of its own
	return slices.Concat(found...), errors.Join(errs...)
}

func (m *migration) migrateOne(ctx context.Context, s *subject, method Method) ([]Problem, error) {
	s.Method = method.name()
	if method == MethodCluster {
		if err := m.byCluster(ctx, s); !errors.Is(err, errSilent) || m.Method == MethodCluster {
			return nil, err
		}
		s.Method = MethodWrites.name()
	}
	return m.byWrites(ctx, s)
}
