// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
)

// verify proves that a migration is complete, and changes nothing.
func (m *migration) verify(ctx context.Context) (*Report, error) {
	report := &Report{Command: "verify"}
	subjects, err := m.subjects(ctx, report)
	if err != nil {
		return nil, err
	}
	if err := m.prove(ctx, subjects, report); err != nil {
		return nil, err
	}
	report.OK = !report.blocked()
	switch {
	case !report.OK:
		report.next("The migration is not proved: see what stands above. Nothing was changed.")
	case m.oldIsServed(subjects):
		report.next("Next: kubectl backup migrate finish --dry-run")
	default:
		report.next("v1alpha1 is not served any more. 'kubectl backup migrate finish' says whether it may be dropped from the CRDs.")
	}
	return report, nil
}

func (m *migration) oldIsServed(subjects []*subject) bool {
	for _, s := range subjects {
		if s.serves(oldVersion.Version) {
			return true
		}
	}
	return false
}

// prove compares every object in both versions and checks the stored versions.
func (m *migration) prove(ctx context.Context, subjects []*subject, report *Report) error {
	for _, s := range subjects {
		name := "Stored versions of " + s.Name
		const again = "Some objects may be stored as v1alpha1: kubectl backup migrate run"
		switch {
		case s.migrated():
			report.check(name, ResultOK, "only v1: the server knows that nothing is stored as v1alpha1", "")
		case s.trimmed():
			report.check(name, ResultBlocked, "the server says only v1, but the cluster's last migration failed, which it does not take into account", again)
		default:
			report.check(name, ResultBlocked, strings.Join(s.StoredVersions, ", "), again)
		}
	}
	found := make([]Report, len(subjects))
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range subjects {
		group.Go(func() error { return m.compareAll(ctx, s, &found[i]) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, s := range subjects {
		report.Problems = append(report.Problems, found[i].Problems...)
		result, advice := ResultOK, ""
		if s.Different > 0 {
			result, advice = ResultBlocked, "See the objects named Different below."
		}
		report.check("Objects of "+s.Name, result, s.proof(), advice)
	}
	return nil
}

// proof says what a comparison showed.
func (s *subject) proof() string {
	same := fmt.Sprintf("%d of %d", s.Objects-s.Different, s.Objects)
	if s.serves(oldVersion.Version) {
		return same + " were read in v1 and v1alpha1 as of one instant and say the same, by the server and by the converter"
	}
	return same + " were read in v1 and come back the same from v1alpha1, by the converter (the server does not serve v1alpha1)"
}
