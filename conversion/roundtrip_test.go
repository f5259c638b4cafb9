// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random objects; 0 draws one")

// roundTrips is the number of objects per kind and direction.
const roundTrips = 10_000

func seed(tb testing.TB) uint64 {
	tb.Helper()
	s := *seedFlag
	if s == 0 {
		s = rand.Uint64()
	}
	tb.Logf("repeat with -seed=%d", s)
	return s
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func otherVersion(version string) string {
	if version == oldVersion {
		return newVersion
	}
	return oldVersion
}

func encode(tb testing.TB, object any) []byte {
	tb.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		tb.Fatalf("encode: %v", err)
	}
	return raw
}

func convertObject(tb testing.TB, object map[string]any, version string) map[string]any {
	tb.Helper()
	raw := encode(tb, object)
	converted, err := Convert(raw, version)
	if err != nil {
		tb.Fatalf("Convert to %s: %v\n%s", version, err, raw)
	}
	return decodeObject(tb, converted)
}

// decodeObject decodes as a server does: whole numbers are int64.
func decodeObject(tb testing.TB, raw []byte) map[string]any {
	tb.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		tb.Fatalf("decode: %v\n%s", err, raw)
	}
	return wholeNumbers(object).(map[string]any)
}

func wholeNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = wholeNumbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		float, _ := v.Float64()
		return float
	}
	return value
}

// TestEveryAdmittedObjectComesBackTheSame draws objects from what the schemas admit and takes them to the
// other version and back.
func TestEveryAdmittedObjectComesBackTheSame(t *testing.T) {
	for _, s := range schemasOf(t) {
		t.Run(s.kind+"/"+s.version, func(t *testing.T) {
			t.Parallel()
			g := newGenerator(t, seed(t))
			for i := range roundTrips {
				object := g.object(s)
				if i < roundTrips/20 {
					checkAdmitted(t, s, object)
				}
				there := convertObject(t, object, otherVersion(s.version))
				back := convertObject(t, there, s.version)
				forgetDerived(s, object, back)
				if !reflect.DeepEqual(object, back) {
					t.Fatalf("object %d does not come back, was -, is +:\n%s\nin between: %s", i, cmp.Diff(object, back), encode(t, there))
				}
			}
		})
	}
}

// forgetDerived drops from a status that came back what the contract lets a conversion add to it.
func forgetDerived(s schema, was, is map[string]any) {
	status, ok := is["status"].(map[string]any)
	if !ok || s.kind != "MySQLBackup" || s.version != oldVersion {
		return
	}
	for _, name := range []string{"backupStatus", "phase", "lastResult"} {
		if _, had := was["status"].(map[string]any)[name]; !had {
			delete(status, name)
		}
	}
}

func checkAdmitted(t *testing.T, s schema, object map[string]any) {
	t.Helper()
	if errs := s.judge(t, object); len(errs) > 0 {
		t.Fatalf("the %s schema of %s does not admit the object: %v\n%s", s.version, s.kind, errs, encode(t, object))
	}
}

// TestWhatIsAdmittedInOneVersionIsAdmittedInTheOther keeps a write in one version from being refused in the
// other, and a conversion from giving fields that the other version does not have.
func TestWhatIsAdmittedInOneVersionIsAdmittedInTheOther(t *testing.T) {
	for _, s := range schemasOf(t) {
		t.Run(s.kind+"/"+s.version, func(t *testing.T) {
			t.Parallel()
			other := schemaOf(t, s.kind, otherVersion(s.version))
			g := newGenerator(t, seed(t))
			for range roundTrips / 20 {
				object := g.object(s)
				if status, ok := object["status"].(map[string]any); ok {
					delete(status, "backupStatus") // where it contradicts, it has no place in v1
				}
				there := convertObject(t, object, other.version)
				checkAdmitted(t, other, there)
				pruned := decodeObject(t, encode(t, there))
				pruning.Prune(pruned, other.structural, true)
				if d := cmp.Diff(there, pruned); d != "" {
					t.Fatalf("%s does not have fields of the conversion:\n%s", other.version, d)
				}
			}
		})
	}
}

// TestTheServersDefaultsChangeNothingBetweenTheVersions fills in the defaults wherever a server does.
func TestTheServersDefaultsChangeNothingBetweenTheVersions(t *testing.T) {
	for _, s := range schemasOf(t) {
		t.Run(s.kind+"/"+s.version, func(t *testing.T) {
			t.Parallel()
			other := schemaOf(t, s.kind, otherVersion(s.version))
			g := newGenerator(t, seed(t))
			for range roundTrips / 10 {
				object := g.object(s)
				defaulting.Default(object, s.structural)
				there := convertObject(t, object, other.version)
				defaulting.Default(there, other.structural)
				back := convertObject(t, there, s.version)
				defaulting.Default(back, s.structural)
				if s.version == oldVersion {
					// v1's defaults show as optional fields, but change none.
					back = intersection(object, back).(map[string]any)
				}
				if d := cmp.Diff(object, back); d != "" {
					t.Fatalf("the object does not come back, was -, is +:\n%s", d)
				}
			}
		})
	}
}

// intersection is what is left of an object without the fields that the other does not have.
func intersection(was, is any) any {
	a, isMap := was.(map[string]any)
	b, bothMaps := is.(map[string]any)
	if !isMap || !bothMaps {
		return is
	}
	left := map[string]any{}
	for name := range a {
		if value, ok := b[name]; ok {
			left[name] = intersection(a[name], value)
		}
	}
	return left
}

// oddValues are values that some field of ours should never hold.
var oddValues = []string{
	`null`, `true`, `0`, `-1`, `70000`, `1.5`, `""`, `" "`, `"7"`, `"a:1"`, `":"`, `"CRON_TZ="`, `"CRON_TZ=a b"`, `"CRON_TZ= a"`,
	`"CRON_TZ=a CRON_TZ=b c"`, `"Running"`, `[]`, `[null]`, `["a"]`, `["a","a"]`, `{}`, `{"a":1}`, `{"name":"a"}`,
	`{"persistentVolumeClaim":{"claimName":"a"}}`,
}

func (g *generator) odd() any {
	return decodeObject(g.tb, []byte(`{"odd":`+oddValues[g.IntN(len(oddValues))]+`}`))["odd"]
}

// TestAnythingIsStableAfterOneConversion draws objects whose fields have the names of both versions and hold
// anything: the two versions of such an object agree after one conversion.
func TestAnythingIsStableAfterOneConversion(t *testing.T) {
	for _, s := range schemasOf(t) {
		t.Run(s.kind+"/"+s.version, func(t *testing.T) {
			t.Parallel()
			g := newGenerator(t, seed(t))
			pairs := Pairs(s.kind)
			for range roundTrips / 4 {
				object := map[string]any{"metadata": map[string]any{"name": "a"}}
				for range g.IntN(9) {
					p := pairs[g.IntN(len(pairs))]
					set(object, g.odd(), strings.Split([]string{p.Old, p.New}[g.IntN(2)], "."))
				}
				object["apiVersion"], object["kind"] = s.version, s.kind
				stable(t, encode(t, object), s.version)
			}
		})
	}
}

// set puts a value where the path leads, over what is no object on the way.
func set(object map[string]any, value any, path []string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = value
}

// TestAnOddFieldComesBackTheSame puts something odd into one field of an admitted object. Both fields of a
// pair at once have a test of their own.
func TestAnOddFieldComesBackTheSame(t *testing.T) {
	partners := map[string]string{
		"database": "databases", "databases": "database", "secretRef": "credentialKeys", "credentialKeys": "secretRef",
		"storage": "storageClaim", "storageClaim": "storage",
	}
	for _, kind := range []string{"BackupJob", "MySQLBackup"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := schemaOf(t, kind, oldVersion)
			g := newGenerator(t, seed(t))
			names := sortedNames(s.structural.Properties["spec"].Properties)
			for range roundTrips / 10 {
				object, name := g.object(s), names[g.IntN(len(names))]
				spec := object["spec"].(map[string]any)
				delete(spec, partners[name])
				spec[name] = g.odd()
				if keys, ok := spec["credentialKeys"].(map[string]any); ok {
					delete(keys, "name") // no field of v1alpha1, and one of v1
				}
				if name == "timeZone" {
					continue // beside a schedule its home is in front of it
				}
				back := convertObject(t, convertObject(t, object, newVersion), oldVersion)
				forgetDerived(s, object, back)
				if _, hasOne := back["spec"].(map[string]any)["database"]; hasOne && name == "databases" {
					continue // a list of one has its home in database
				}
				if _, hasClaim := back["spec"].(map[string]any)["storageClaim"]; hasClaim && name == "storage" {
					continue // a storage of a claim's name has its home in storageClaim
				}
				if d := cmp.Diff(object, back); d != "" {
					t.Fatalf("%s, was -, is +:\n%s", name, d)
				}
			}
		})
	}
}
