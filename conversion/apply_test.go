// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// server is the part of an API server that does server-side apply: its own library for the managers'
// fields, which converts half-way objects back and forth, on the schemas of the CRDs, with v1 stored.
type server struct {
	t       *testing.T
	schemas map[string]schema
	fields  map[string]*managedfields.FieldManager
	stored  *unstructured.Unstructured
	// finished is a server whose CRD has no v1alpha1 any more.
	finished bool
}

func newServer(t *testing.T, kind string) *server {
	t.Helper()
	s := &server{t: t, schemas: map[string]schema{}, fields: map[string]*managedfields.FieldManager{}}
	types := typesOf(t, kind)
	for _, version := range []string{oldVersion, newVersion} {
		s.schemas[version] = schemaOf(t, kind, version)
		gv, _ := apischema.ParseGroupVersion(version)
		var err error
		s.fields[version], err = managedfields.NewDefaultCRDFieldManager(types, s, s, s, gv.WithKind(kind), gv, "", nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// typesOf knows the types of a kind in both versions.
func typesOf(t *testing.T, kind string) managedfields.TypeConverter {
	t.Helper()
	models := map[string]*spec.Schema{}
	for _, version := range []string{oldVersion, newVersion} {
		models[version] = modelOf(schemaOf(t, kind, version))
	}
	types, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

func modelOf(s schema) *spec.Schema {
	model := s.structural.ToKubeOpenAPI()
	text := spec.StringProperty()
	model.Properties["apiVersion"], model.Properties["kind"] = *text, *text
	anything := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	anything.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	metadata := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"name": *text, "namespace": *text, "labels": *spec.MapProperty(text), "annotations": *spec.MapProperty(text),
		"managedFields": *spec.ArrayProperty(anything),
	}}}
	model.Properties["metadata"] = metadata
	gv, _ := apischema.ParseGroupVersion(s.version)
	model.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": gv.Group, "version": gv.Version, "kind": s.kind}})
	return model
}

// ConvertToVersion asks our converter, as the server does.
func (s *server) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := target.KindForGroupVersionKinds([]apischema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	if !ok {
		gv, _ := apischema.ParseGroupVersion(target.Identifier())
		gvk = gv.WithKind(in.GetObjectKind().GroupVersionKind().Kind)
	}
	if s.finished && gvk.GroupVersion().String() == oldVersion {
		return nil, errors.New("the CRD has no v1alpha1")
	}
	return s.convert(in.(*unstructured.Unstructured), gvk.GroupVersion().String()), nil
}

func (s *server) convert(in *unstructured.Unstructured, version string) *unstructured.Unstructured {
	s.t.Helper()
	return &unstructured.Unstructured{Object: convertObject(s.t, in.Object, version)}
}

func (s *server) Convert(_, _, _ any) error { return errors.New("never called") }

func (s *server) ConvertFieldLabel(_ apischema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (s *server) New(gvk apischema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	return object, nil
}

func (s *server) Default(in runtime.Object) {
	object := in.(*unstructured.Unstructured)
	defaulting.Default(object.Object, s.schemas[object.GetAPIVersion()].structural)
}

// get is what a client of that version reads.
func (s *server) get(version string) *unstructured.Unstructured {
	s.t.Helper()
	if s.stored == nil {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": s.schemas[version].kind, "metadata": map[string]any{"name": "a"}}}
		return object
	}
	object := s.convert(s.stored, version)
	pruning.Prune(object.Object, s.schemas[version].structural, true)
	s.Default(object)
	return object
}

// apply is a server-side apply with force. An object that the schema refuses stays as it was.
func (s *server) apply(manager, version string, body map[string]any) (refused error) {
	s.t.Helper()
	return s.applyWith(manager, version, body, true)
}

func (s *server) applyWith(manager, version string, body map[string]any, force bool) (refused error) {
	s.t.Helper()
	config := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": version, "kind": s.schemas[version].kind, "metadata": map[string]any{"name": "a"}, "spec": body,
	}}
	applied, err := s.fields[version].Apply(s.get(version), config.DeepCopy(), manager, force)
	if err != nil {
		s.t.Fatalf("%s applies in %s: %v\nconfig %s\nlive   %s", manager, version, err, encode(s.t, body), encode(s.t, s.stored))
	}
	return s.store(applied.(*unstructured.Unstructured))
}

// update is a write that is no apply: of the controller, or of kubectl edit.
func (s *server) update(manager, version string, change func(object map[string]any)) (refused error) {
	s.t.Helper()
	object := s.get(version)
	change(object.Object)
	s.Default(object)
	updated, err := s.fields[version].Update(s.get(version), object, manager)
	if err != nil {
		s.t.Fatalf("%s updates in %s: %v", manager, version, err)
	}
	return s.store(updated.(*unstructured.Unstructured))
}

func (s *server) store(object *unstructured.Unstructured) (refused error) {
	s.t.Helper()
	written := s.schemas[object.GetAPIVersion()]
	pruning.Prune(object.Object, written.structural, true)
	if errs := written.judge(s.t, object.Object); len(errs) > 0 {
		return errs.ToAggregate()
	}
	s.stored = s.convert(object, newVersion)
	pruning.Prune(s.stored.Object, s.schemas[newVersion].structural, true)
	return nil
}

func specOf(t *testing.T, body string) map[string]any {
	t.Helper()
	var spec map[string]any
	if err := yaml.Unmarshal([]byte(body), &spec); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return decodeObject(t, encode(t, spec))
}

// move is a manager that goes from one config to another.
type move struct{ version, before, after string }

// TestAManagerCanChangeItsConfig lets one manager go from one config to another, while others write in both
// versions, so that the server converts every half-way object.
func TestAManagerCanChangeItsConfig(t *testing.T) {
	for name, m := range map[string]move{
		"another database":            {oldVersion, `database: a`, `database: b`},
		"other databases":             {oldVersion, `databases: [a, b]`, `databases: [b, c]`},
		"no database any more":        {oldVersion, `database: a`, `{}`},
		"from one database to others": {oldVersion, `database: a`, `databases: [b, c]`},
		"from one database to all":    {oldVersion, `database: a`, `databases: []`},
		"to a folder in the claim":    {oldVersion, `storageClaim: a`, `{storageClaim: a, storage: {persistentVolumeClaim: {subPath: b}}}`},
		"from a folder to the claim":  {oldVersion, `{storageClaim: a, storage: {persistentVolumeClaim: {subPath: b}}}`, `storageClaim: a`},
		"to a folder elsewhere":       {oldVersion, `{storageClaim: a, storage: {persistentVolumeClaim: {subPath: b}}}`, `{storageClaim: c, storage: {persistentVolumeClaim: {subPath: d}}}`},
		"to a Secret's keys":          {oldVersion, `secretRef: a`, `{secretRef: a, credentialKeys: {usernameKey: u, passwordKey: p}}`},
		"to another zone":             {oldVersion, `{}`, `schedule: CRON_TZ=Europe/Berlin 0 2 * * *`},
		"away from the zone":          {oldVersion, `schedule: CRON_TZ=Europe/Berlin 0 2 * * *`, `{}`},
		"to another port":             {oldVersion, `{}`, `databaseHost: "h:1"`},
		"away from the port":          {oldVersion, `databaseHost: "h:1"`, `{}`},

		"another database, v1":           {newVersion, `source: {host: h, databases: [a]}`, `source: {host: h, databases: [b]}`},
		"a further database, v1":         {newVersion, `source: {host: h, databases: [a]}`, `source: {host: h, databases: [a, b]}`},
		"one of two databases, v1":       {newVersion, `source: {host: h, databases: [a, b]}`, `source: {host: h, databases: [b]}`},
		"no database any more, v1":       {newVersion, `source: {host: h, databases: [a]}`, `{}`},
		"from one database to all, v1":   {newVersion, `source: {host: h, databases: [a]}`, `source: {host: h, databases: []}`},
		"to a folder in the claim, v1":   {newVersion, `storage: {persistentVolumeClaim: {claimName: a}}`, `storage: {persistentVolumeClaim: {claimName: a, subPath: b}}`},
		"from a folder to the claim, v1": {newVersion, `storage: {persistentVolumeClaim: {claimName: a, subPath: b}}`, `storage: {persistentVolumeClaim: {claimName: a}}`},
		"a folder, v1":                   {newVersion, `storage: {persistentVolumeClaim: {claimName: a}}`, `storage: {persistentVolumeClaim: {subPath: b}}`},
		"no storage any more, v1":        {newVersion, `storage: {persistentVolumeClaim: {claimName: a, subPath: b}}`, `{}`},
		"no retention any more, v1":      {newVersion, `retention: {days: 3, minBackups: 2}`, `{}`},
		"another port and zone, v1":      {newVersion, `{source: {host: h, port: 1}, timeZone: Europe/Berlin}`, `{source: {host: h, port: 2}, timeZone: Asia/Tokyo}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, refused := m.run(t)
			if want := m.want(t); refused != nil || !cmp.Equal(got, want) {
				t.Errorf("after the second config, in v1 (-want +got), refused %v:\n%s", refused, cmp.Diff(want, got))
			}
		})
	}
}

// TestWhatAnApplyCannotDoWhileBothVersionsWrite holds the limits that docs/migration.md tells: two fields of
// v1 that v1alpha1 writes in one text cannot be given up one by one, and a manager of v1alpha1 that goes
// from databases to database is refused, so that it loses neither.
func TestWhatAnApplyCannotDoWhileBothVersionsWrite(t *testing.T) {
	for name, tc := range map[string]struct {
		move
		refused bool
	}{
		"give up the port":                      {move: move{newVersion, `source: {host: h, port: 1}`, `source: {host: h}`}},
		"give up the zone":                      {move: move{newVersion, `timeZone: Europe/Berlin`, `{}`}},
		"from several databases to one of them": {move: move{oldVersion, `databases: [a, b]`, `database: a`}, refused: true},
		"from several databases to another":     {move: move{oldVersion, `databases: [a, b]`, `database: c`}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, refused := tc.run(t)
			before := move{tc.version, ``, tc.before}.want(t)
			if (refused != nil) != tc.refused || !cmp.Equal(got, before) {
				t.Errorf("after the second config, in v1 (-first +got), refused %v:\n%s", refused, cmp.Diff(before, got))
			}
		})
	}
}

// want is the spec of v1 with nothing but the second config and the defaults.
func (m move) want(t *testing.T) any {
	t.Helper()
	s := newServer(t, "BackupJob")
	if err := s.apply("user", m.version, m.config(t, m.after)); err != nil {
		t.Fatal(err)
	}
	return s.get(newVersion).Object["spec"]
}

func (m move) config(t *testing.T, body string) map[string]any {
	t.Helper()
	rest := "databaseHost: h\nschedule: 0 2 * * *\n"
	if m.version == newVersion {
		rest = "source: {host: h}\nschedule: 0 2 * * *\n"
	}
	config := specOf(t, rest)
	maps.Copy(config, specOf(t, body))
	return config
}

// run applies both configs among other managers. It returns the spec that is left in v1, and whether the
// second config was refused.
func (m move) run(t *testing.T) (spec any, refused error) {
	t.Helper()
	s := newServer(t, "BackupJob")
	if err := s.apply("user", m.version, m.config(t, m.before)); err != nil {
		t.Fatalf("the first config is refused: %v", err)
	}
	s.mustUpdate("controller", newVersion, "status", map[string]any{"phase": "Scheduled"})
	s.mustUpdate("kubectl-label", oldVersion, "metadata", map[string]any{"name": "a", "labels": map[string]any{"a": "b"}})
	refused = s.apply("user", m.version, m.config(t, m.after))
	return s.get(newVersion).Object["spec"], refused
}

func (s *server) mustUpdate(manager, version, field string, value map[string]any) {
	s.t.Helper()
	if err := s.update(manager, version, func(object map[string]any) {
		if inner, ok := object[field].(map[string]any); ok {
			for name := range value {
				inner[name] = value[name]
			}
			return
		}
		object[field] = value
	}); err != nil {
		s.t.Fatalf("%s is refused: %v", manager, err)
	}
}

// TestServerSideApplyNeverFails has managers of both versions apply parts of admitted objects in turn. The
// server converts what is left when one of them gives up fields; none of that may end in an error.
func TestServerSideApplyNeverFails(t *testing.T) {
	for _, kind := range []string{"BackupJob", "MySQLBackup"} {
		t.Run(kind, func(t *testing.T) {
			g := newGenerator(t, seed(t))
			managers := []string{"a", "b", "c", "d"}
			accepted := 0
			for range 60 {
				s := newServer(t, kind)
				for range 12 {
					version := []string{oldVersion, newVersion}[g.IntN(2)]
					if s.stored != nil && g.chance(0.2) {
						_ = s.update("editor", version, func(object map[string]any) {
							object["status"] = map[string]any{"observedGeneration": int64(g.IntN(9))}
						})
						continue
					}
					object := g.object(s.schemas[version])["spec"].(map[string]any)
					if s.stored != nil {
						g.thin(object)
					}
					if s.apply(managers[g.IntN(len(managers))], version, object) == nil {
						accepted++
					}
				}
			}
			t.Logf("%d applies were accepted", accepted)
			if accepted < 100 {
				t.Error("too few to prove anything")
			}
		})
	}
}

// thin leaves a part of an object: a manager need not own what others own.
func (g *generator) thin(object map[string]any) {
	for _, name := range sortedNames(object) {
		inner, ok := object[name].(map[string]any)
		switch {
		case ok && slices.Contains([]string{"source", "retention", "storage", "persistentVolumeClaim", "credentialsSecretRef", "credentialKeys"}, name):
			g.thin(inner)
		case g.chance(0.3):
			delete(object, name)
		}
	}
}
