// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

func TestOnlyWhatDependsOnTheObjectIsFilled(t *testing.T) {
	secretV1 := `{"op":"add","path":"/spec/source/credentialsSecretRef","value":{"name":"nightly-credentials"}}`
	claimV1 := `{"op":"add","path":"/spec/storage","value":{"persistentVolumeClaim":{"claimName":"nightly-backups"}}}`
	secretAlpha := `{"op":"add","path":"/spec/secretRef","value":"nightly-credentials"}`
	claimAlpha := `{"op":"add","path":"/spec/storageClaim","value":"nightly-backups"}`
	cases := map[string]struct {
		manifest, write, old string
		want                 string
	}{
		"the smallest v1 object":                        {jobV1, `{}`, "", "[" + secretV1 + "," + claimV1 + "]"},
		"the smallest v1alpha1 object":                  {mysqlAlpha, `{}`, "", "[" + secretAlpha + "," + claimAlpha + "]"},
		"names are set":                                 {jobV1, `{spec: {source: {credentialsSecretRef: {name: a}}, storage: {persistentVolumeClaim: {claimName: b}}}}`, "", "null"},
		"names are set in v1alpha1":                     {jobAlpha, `{spec: {secretRef: a, storageClaim: b}}`, "", "null"},
		"keys are set":                                  {jobV1, `{spec: {source: {credentialsSecretRef: {usernameKey: u}}, storage: {persistentVolumeClaim: {subPath: x}}}}`, "", `[{"op":"add","path":"/spec/source/credentialsSecretRef/name","value":"nightly-credentials"},{"op":"add","path":"/spec/storage/persistentVolumeClaim/claimName","value":"nightly-backups"}]`},
		"empty objects are set":                         {jobV1, `{spec: {source: {credentialsSecretRef: {}}, storage: {}}}`, "", `[{"op":"add","path":"/spec/source/credentialsSecretRef/name","value":"nightly-credentials"},{"op":"add","path":"/spec/storage/persistentVolumeClaim","value":{"claimName":"nightly-backups"}}]`},
		"another kind of storage":                       {jobV1, `{spec: {source: {credentialsSecretRef: {name: a}}, storage: {s3: {bucket: x}}}}`, "", "null"},
		"a folder in v1alpha1":                          {jobAlpha, `{spec: {secretRef: a, storage: {persistentVolumeClaim: {subPath: x}}}}`, "", "[" + claimAlpha + "]"},
		"no folder in v1alpha1":                         {jobAlpha, `{spec: {secretRef: a, storage: {persistentVolumeClaim: {}}}}`, "", "null"},
		"a folder beside a claim in v1alpha1":           {jobAlpha, `{spec: {secretRef: a, storageClaim: b, storage: {persistentVolumeClaim: {subPath: x}}}}`, "", "null"},
		"an empty storage in v1alpha1":                  {jobAlpha, `{spec: {secretRef: a, storage: {}}}`, "", "null"},
		"empty names stay, for the judgement to refuse": {jobAlpha, `{spec: {secretRef: "", storageClaim: ""}}`, "", "null"},
		"wrong types stay":                              {jobV1, `{spec: {source: {credentialsSecretRef: a}, storage: [b]}}`, "", "null"},
		"a spec of a wrong type stays":                  {jobV1, `{spec: [a]}`, "", "null"},
		"a name that the server will generate":          {jobV1, `{metadata: {name: null, generateName: nightly-}}`, "", "null"},
		"an update that changes the spec":               {jobV1, `{spec: {suspend: true}}`, `{}`, "[" + secretV1 + "," + claimV1 + "]"},
		"an update that takes a name away":              {jobAlpha, `{spec: {storageClaim: b}}`, `{spec: {secretRef: nightly-credentials, storageClaim: b}}`, "[" + secretAlpha + "]"},
		"an update of labels":                           {jobV1, `{metadata: {labels: {a: b}}}`, `{}`, "null"},
		"an update of nothing":                          {jobV1, `{}`, `{}`, "null"},
		"an update of an object that is being deleted":  {jobV1, `{spec: {suspend: true}}`, deleted, "null"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var old []byte
			if c.old != "" {
				old = object(t, c.manifest, c.old)
			}
			got, err := json.Marshal(judged(t, object(t, c.manifest, c.write), old).Patch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// pieces are parts of a spec from which random objects are put together; null
// leaves a part out.
var pieces = map[string]map[string][]string{
	jobV1: {
		"credentialsSecretRef": {"null", "{}", "{name: a}", "{name: ''}", "{usernameKey: u}", "x", "[]", "{name: 5}"},
		"storage":              {"null", "{}", "{persistentVolumeClaim: {}}", "{persistentVolumeClaim: {claimName: ''}}", "{persistentVolumeClaim: {subPath: x}}", "{persistentVolumeClaim: 5}", "false"},
		"suspend":              {"null", "false", "true"},
		"maxRetries":           {"null", "0", "3"},
		"podTemplate":          {"null", "{}", "{labels: {}}"},
		"retention":            {"null", "{}", "{days: 0}"},
	},
	jobAlpha: {
		"secretRef":      {"null", "''", "a", "5"},
		"credentialKeys": {"null", "{}", "{usernameKey: u}"},
		"storageClaim":   {"null", "''", "a", "{}"},
		"storage":        {"null", "{}", "{persistentVolumeClaim: {}}", "{persistentVolumeClaim: {subPath: x}}", "{persistentVolumeClaim: {claimName: a, subPath: x}}", "5"},
		"retentionDays":  {"null", "0", "7"},
		"suspend":        {"null", "false"},
	},
}

func TestDefaultingItsOwnOutputChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that can be repeated
	for manifest, parts := range pieces {
		for range 80 {
			raw := object(t, manifest)
			for name, values := range parts {
				at := "spec: {" + name + ": "
				if name == "credentialsSecretRef" {
					at = "spec: {source: {" + name + ": "
				}
				value := values[random.IntN(len(values))]
				closing := map[bool]string{true: "}}}", false: "}}"}[name == "credentialsSecretRef"]
				if value != "null" {
					raw = object(t, string(raw), "{"+at+value+closing)
				}
			}
			checkFilled(t, raw)
		}
	}
}

func checkFilled(t *testing.T, raw []byte) {
	t.Helper()
	before := judged(t, raw, nil)
	filled := apply(t, raw, before.Patch)
	after := judged(t, filled, nil)
	if len(after.Patch) > 0 {
		t.Errorf("%s becomes %s, which gets more: %v", raw, filled, after.Patch)
	}
	if diff := cmp.Diff(told(before), told(after)); diff != "" {
		t.Errorf("%s is judged in another way once it is filled (-before +after):\n%s", raw, diff)
	}
	if kept := apply(t, filled, removals(before.Patch)); !equalJSON(t, raw, kept) {
		t.Errorf("%s lost something by being filled: %s", raw, kept)
	}
}

// removals undo a patch that only adds.
func removals(patch []Operation) []Operation {
	undo := slices.Clone(patch)
	for i := range undo {
		undo[i].Op, undo[i].Value = "remove", nil
	}
	return undo
}

func apply(t *testing.T, raw []byte, steps []Operation) []byte {
	t.Helper()
	text, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) == 0 {
		return raw
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		t.Fatal(err)
	}
	patched, err := patch.Apply(raw)
	if err != nil {
		t.Fatalf("%s does not fit %s: %v", text, raw, err)
	}
	return patched
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}
