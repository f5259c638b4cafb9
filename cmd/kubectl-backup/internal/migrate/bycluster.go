// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	// mostMigrations is how often the cluster is asked: each time the CRD
	// changes meanwhile, such as by an injected bundle, it does not trim.
	mostMigrations = 5
	lookEvery      = 500 * time.Millisecond

	labelManagedBy = "app.kubernetes.io/managed-by"
)

var (
	// errSilent means that nobody works on StorageVersionMigrations.
	errSilent = errors.New("the cluster serves StorageVersionMigration, but nothing works on it (its migrator may be turned off)")
	// errGoesOn means that the cluster goes on without this command.
	errGoesOn = errors.New("interrupted: the cluster's own migration goes on; 'kubectl backup migrate run' finds it again")
)

// byCluster asks the cluster for its own migration until it has trimmed the
// stored versions.
func (m *migration) byCluster(ctx context.Context, s *subject) error {
	for range mostMigrations {
		migration, err := m.findOrAsk(ctx, s)
		if err != nil {
			return err
		}
		if err := m.follow(ctx, s, migration); err != nil {
			return err
		}
		if err := m.read(ctx, s); err != nil {
			return err
		}
		if s.migrated() {
			return m.tidy(ctx, s)
		}
	}
	return fmt.Errorf("the cluster migrated %s %d times, but each time the CRD %s was changed meanwhile, so v1alpha1 stays among its stored versions: "+
		"find out who changes it ('kubectl get crd %s -o yaml --show-managed-fields'), then run again", s.Name, mostMigrations, s.crd.Name, s.crd.Name)
}

// findOrAsk takes up a migration that is under way, or asks for one.
func (m *migration) findOrAsk(ctx context.Context, s *subject) (*storagemigrationv1.StorageVersionMigration, error) {
	var all storagemigrationv1.StorageVersionMigrationList
	if err := m.retry(ctx, quiet, func() error { return m.client.List(ctx, &all) }); err != nil {
		return nil, explain("list the StorageVersionMigrations", err)
	}
	resource := metav1.GroupResource{Group: backupv1.GroupName, Resource: s.Name}
	var waiting *storagemigrationv1.StorageVersionMigration
	for i := range all.Items {
		switch one := &all.Items[i]; {
		case one.Spec.Resource != resource || ended(one):
		case is(one, storagemigrationv1.MigrationRunning):
			return one, nil
		default:
			waiting = one
		}
	}
	if waiting != nil {
		return waiting, nil
	}
	asked := &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{GenerateName: s.Name + "-", Labels: map[string]string{labelManagedBy: fieldManager}},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: resource},
	}
	// No second try: a request whose answer was lost may have been heard.
	return asked, explain("create a StorageVersionMigration", m.client.Create(ctx, asked, client.FieldOwner(fieldManager)))
}

func is(migration *storagemigrationv1.StorageVersionMigration, what storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(migration.Status.Conditions, string(what))
}

// ended says whether nothing more happens: the cluster tidies up the CRD before
// it says that the migration does not run any more.
func ended(migration *storagemigrationv1.StorageVersionMigration) bool {
	done := is(migration, storagemigrationv1.MigrationSucceeded) || is(migration, storagemigrationv1.MigrationFailed)
	return done && !is(migration, storagemigrationv1.MigrationRunning)
}

// follow waits for the end of a migration and shows what can be seen of it.
func (m *migration) follow(ctx context.Context, s *subject, migration *storagemigrationv1.StorageVersionMigration) error {
	page, err := m.pager(s.kind, newVersion).next(ctx)
	if err != nil {
		return err
	}
	s.Objects = total(page)
	bar := m.progress.begin(s.Name+": the cluster stores as v1", s.Objects)
	defer bar.end()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go m.countWrites(watching, s.Kind, page.GetResourceVersion(), bar)
	begun, ticker := m.clock.Now(), m.clock.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		name := migration.Name
		err := m.retry(ctx, bar.say, func() error { return m.client.Get(ctx, client.ObjectKey{Name: name}, migration) })
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Errorf("someone deleted the StorageVersionMigration %s: run again", name)
		case ctx.Err() != nil:
			return errGoesOn
		case err != nil:
			return explain("read the StorageVersionMigration "+name, err)
		case ended(migration):
			s.Written += bar.seen()
			if failed := outcome(s, migration); failed != nil {
				return errors.Join(failed, m.untrim(ctx, s))
			}
			return nil
		case len(migration.Status.Conditions) == 0 && m.clock.Since(begun) > m.silence:
			return m.giveUp(ctx, migration)
		}
		bar.say(transient(migration))
		select {
		case <-ctx.Done():
			return errGoesOn
		case <-ticker.C():
		}
	}
}

// countWrites shows the writes of the kind: nothing else tells how far the
// cluster is. Objects that are stored as v1 already are not written.
func (m *migration) countWrites(ctx context.Context, kind, from string, bar *bar) {
	objects := &metav1.PartialObjectMetadataList{}
	objects.SetGroupVersionKind(newVersion.WithKind(kind + "List"))
	w, err := m.client.Watch(ctx, objects, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: from}})
	if err != nil {
		return // it is only for the eye
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Modified {
			bar.add(1)
		}
	}
}

// transient is what the migrator says about an error that it tries again after.
func transient(migration *storagemigrationv1.StorageVersionMigration) string {
	running := meta.FindStatusCondition(migration.Status.Conditions, string(storagemigrationv1.MigrationRunning))
	if running == nil {
		return "waiting for the cluster's migrator"
	}
	if _, trouble, ok := strings.Cut(running.Message, "transient error: "); ok {
		return "the cluster tries again: " + short(trouble)
	}
	return ""
}

func outcome(s *subject, migration *storagemigrationv1.StorageVersionMigration) error {
	failed := meta.FindStatusCondition(migration.Status.Conditions, string(storagemigrationv1.MigrationFailed))
	if failed == nil || failed.Status != metav1.ConditionTrue {
		return nil
	}
	return fmt.Errorf("the cluster's migration of %s failed: %s\nNothing is lost. 'kubectl backup migrate plan' names every object that is refused, and what to do; then run again", s.Name, failed.Message)
}

// giveUp takes back what nobody works on.
func (m *migration) giveUp(ctx context.Context, migration *storagemigrationv1.StorageVersionMigration) error {
	err := m.client.Delete(ctx, migration, client.Preconditions{UID: &migration.UID, ResourceVersion: &migration.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return explain("delete the StorageVersionMigration "+migration.Name+", on which nothing works", err)
	}
	return errSilent
}

// tidy deletes our own requests that are done.
func (m *migration) tidy(ctx context.Context, s *subject) error {
	var all storagemigrationv1.StorageVersionMigrationList
	if err := m.client.List(ctx, &all, client.MatchingLabels{labelManagedBy: fieldManager}); err != nil {
		return explain("list the StorageVersionMigrations", err)
	}
	for i := range all.Items {
		if all.Items[i].Spec.Resource.Resource != s.Name || !ended(&all.Items[i]) {
			continue
		}
		if err := client.IgnoreNotFound(m.client.Delete(ctx, &all.Items[i])); err != nil {
			return explain("delete the StorageVersionMigration "+all.Items[i].Name+", which is done", err)
		}
	}
	return nil
}
