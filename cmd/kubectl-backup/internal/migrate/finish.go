// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
)

// finish stops serving v1alpha1 and frees the objects from it; with --undo it
// serves it again.
func (m *migration) finish(ctx context.Context) (*Report, error) {
	if m.Undo {
		if m.DryRun || m.ManifestsUpdated {
			return nil, exit.Misusef("--undo stands alone")
		}
		return m.undo(ctx)
	}
	report := &Report{Command: "finish"}
	subjects, err := m.subjects(ctx, report)
	if err != nil {
		return nil, err
	}
	if err := m.prove(ctx, subjects, report); err != nil {
		return nil, err
	}
	m.checkAppliers(subjects, report)
	if report.blocked() {
		report.next("finish refuses: see what is Blocked or Different above. Nothing was changed.")
		return report, nil
	}
	if m.DryRun {
		return m.wouldFinish(ctx, subjects, report)
	}
	for _, s := range subjects {
		if err := m.finishOne(ctx, s, report); err != nil {
			report.next("finish stopped on the way. Nothing is lost: put right what stands above and repeat it, or take it back with 'kubectl backup migrate finish --undo'.")
			return report, err
		}
	}
	report.OK = !report.blocked()
	if !report.OK {
		report.next("Some objects still hold v1alpha1 in managedFields: v1alpha1 must NOT be dropped from the CRDs yet. Put right what stands above, then repeat finish.")
		return report, nil
	}
	m.finishNext(subjects, report)
	return report, nil
}

// checkAppliers refuses while someone would bring v1alpha1 back. Where it is not
// served already, whoever applies the CRD has said so.
func (m *migration) checkAppliers(subjects []*subject, report *Report) {
	for _, s := range subjects {
		name := "Who applies the CRD of " + s.Name
		appliers := s.appliers()
		switch {
		case !s.serves(oldVersion.Version):
			report.check(name, ResultOK, "v1alpha1 is not served", "")
		case len(appliers) == 0:
			report.check(name, ResultOK, "nobody", "")
		case m.ManifestsUpdated:
			report.check(name, ResultOK, strings.Join(appliers, ", ")+"; --manifests-updated says that its manifests no longer serve v1alpha1, or that it is paused", "")
		default:
			report.check(name, ResultBlocked, strings.Join(appliers, ", ")+" applies a CRD that serves v1alpha1, and would serve it again",
				"Pause it, or set 'served: false' for v1alpha1 in its manifests; then repeat with --manifests-updated. "+
					"If that was you with 'kubectl apply', do not apply config/default any more, but config/overlays/v1-only once finish is done.")
		}
	}
}

func (m *migration) wouldFinish(ctx context.Context, subjects []*subject, report *Report) (*Report, error) {
	for _, s := range subjects {
		if s.serves(oldVersion.Version) {
			report.note("%s: v1alpha1 would no longer be served.", s.Name)
		}
		counts, err := m.count(ctx, s)
		if err != nil {
			return nil, err
		}
		report.Managers = append(report.Managers, counts.managers()...)
		report.note("%s: managedFields of %d objects would be rewritten to v1.", s.Name, counts.objects)
	}
	report.note("Nothing was changed.")
	if len(report.Managers) > 0 {
		report.note("Whoever stands above gets an error for each apply of v1alpha1 from then on: change their manifests first ('kubectl backup convert').")
	}
	report.next("Next: kubectl backup migrate finish")
	report.OK = true
	return report, nil
}

// finishOne does one kind: not served, rewritten, none left.
func (m *migration) finishOne(ctx context.Context, s *subject, report *Report) error {
	if s.serves(oldVersion.Version) {
		if err := m.setServed(ctx, s, false); err != nil {
			return err
		}
		report.note("%s: v1alpha1 is no longer served.", s.Name)
	}
	if err := m.rewriteAll(ctx, s, report); err != nil {
		return err
	}
	left, err := m.count(ctx, s)
	if err != nil {
		return err
	}
	report.note("%s: managedFields of %d objects were rewritten to v1; %d of %d objects still say v1alpha1.", s.Name, s.Written, left.objects, s.Objects)
	if left.objects > 0 && len(report.Problems) == 0 {
		report.check("managedFields of "+s.Name, ResultBlocked, fmt.Sprintf("%d objects came to hold v1alpha1 meanwhile", left.objects),
			"An API server may have served v1alpha1 a moment longer: repeat finish.")
	}
	return nil
}

// setServed says whether v1alpha1 is served, and waits until it is so.
func (m *migration) setServed(ctx context.Context, s *subject, served bool) error {
	doing := fmt.Sprintf("set 'served: %t' for v1alpha1 in the CRD %s", served, s.crd.Name)
	for range mostReadings {
		err := m.retry(ctx, quiet, func() error { return m.serve(ctx, s, served) })
		if err == nil {
			break
		}
		if !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) {
			return explain(doing, err)
		}
		// Someone changed the CRD since it was read.
		if err := m.read(ctx, s); err != nil {
			return err
		}
		if s.serves(oldVersion.Version) == served || s.version(oldVersion.Version) < 0 {
			break
		}
	}
	if err := m.read(ctx, s); err != nil {
		return err
	}
	if s.serves(oldVersion.Version) != served {
		return errors.New(doing + ": someone changes it back; find out who ('kubectl get crd " + s.crd.Name + " -o yaml --show-managed-fields')")
	}
	return m.awaitServed(ctx, s, served)
}

// awaitServed waits until the API server acts on the CRD.
func (m *migration) awaitServed(ctx context.Context, s *subject, served bool) error {
	begun, ticker := m.clock.Now(), m.clock.NewTicker(tryAgain)
	defer ticker.Stop()
	for {
		_, err := m.firstOf(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if gone := apierrors.IsNotFound(err); err == nil && served || gone && !served {
			return nil
		}
		if m.clock.Since(begun) > m.patience {
			return fmt.Errorf("the API server does not act on the CRD %s, in which 'served' of v1alpha1 is %t: %w", s.crd.Name, served,
				errors.Join(err, fmt.Errorf("given up after %s", m.patience.Round(time.Second))))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C():
		}
	}
}

func (m *migration) finishNext(subjects []*subject, report *Report) {
	dropped := true
	for _, s := range subjects {
		dropped = dropped && s.version(oldVersion.Version) < 0
	}
	if dropped {
		report.next("The CRDs have no v1alpha1 any more. The migration is complete.")
		return
	}
	report.next("No object says v1alpha1 any more. Whoever applied v1alpha1 goes on in v1 with the fields that it had.")
	report.next("To take it back:         kubectl backup migrate finish --undo")
	report.next("To drop it for good:     kubectl apply --server-side --force-conflicts -k config/overlays/v1-only")
}

// undo serves v1alpha1 again.
func (m *migration) undo(ctx context.Context) (*Report, error) {
	report := &Report{Command: "undo"}
	subjects, err := m.subjects(ctx, report)
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		if s.version(oldVersion.Version) < 0 {
			return nil, fmt.Errorf("the CRD %s has no v1alpha1 any more: to have it back, apply config/default again (kubectl apply --server-side --force-conflicts -k config/default)", s.crd.Name)
		}
	}
	for _, s := range subjects {
		if s.serves(oldVersion.Version) {
			report.note("%s: v1alpha1 is served already.", s.Name)
			continue
		}
		if err := m.setServed(ctx, s, true); err != nil {
			return report, err
		}
		report.note("%s: v1alpha1 is served again.", s.Name)
	}
	report.OK = true
	report.next("managedFields stay rewritten to v1, which harms nobody: whoever applies v1alpha1 again goes on with what it had.")
	return report, nil
}
