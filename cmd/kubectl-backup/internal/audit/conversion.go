// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"encoding/json"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.com/backupjob-operator/config/crd"
	"example.com/backupjob-operator/webhooks"
)

const oldObjects = "objects of v1alpha1"

var conversionChecks = []check{
	{
		id: "conversion", title: "Both kinds are converted by the webhook",
		threats: []int{3, 14}, needs: []string{definitions},
		do: "With strategy None the server only renames the version: nothing may be written in v1alpha1 until the webhook converts again. " +
			"To go back: kubectl apply --server-side --force-conflicts -k config/default, then wait for the bundles.", run: checkConversion,
	},
	{
		id: "conversion-works", title: "The API server reaches the webhook, trusts it, and gets objects in the old version",
		threats: []int{1, 8}, needs: []string{oldObjects},
		do: "If the webhook is gone for good, even deletes of our objects fail. The way out: kubectl patch crd/backupjobs.backup.example.com " +
			`crd/mysqlbackups.backup.example.com --type=merge -p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'. ` +
			"Stored data is v1 and stays unharmed; do not write in v1alpha1 meanwhile.", run: checkConverted,
	},
	{
		id: "stored-versions", title: "Everything is stored as v1",
		threats: []int{14}, needs: []string{definitions},
		do: "Rewrite every object once (kubectl get dbbackups -A -o json | kubectl replace -f -), then take the other version out of " +
			"status.storedVersions of the CRD.", run: checkStored,
	},
	{
		id: "schemas", title: "The schemas are those that were shipped",
		threats: []int{3, 12, 13, 14}, needs: []string{definitions},
		do: "If the operator has another version than this plugin, use the plugin of that version. Else somebody has edited the CRD. " + reapply, run: checkSchemas,
	},
}

func checkConversion(s *Snapshot, r *Row) {
	if len(s.CRDs) == 0 {
		r.fail("the CRDs are not installed")
	}
	for i := range s.CRDs {
		d := &s.CRDs[i]
		t, ok := conversionTarget(d)
		if !ok {
			r.fail("%s is not converted by a webhook", d.Name)
			continue
		}
		if t.path != webhooks.PathConvert {
			r.fail("%s is converted at %s, want %s", d.Name, t.path, webhooks.PathConvert)
		}
		if !slices.Contains(d.Spec.Conversion.Webhook.ConversionReviewVersions, "v1") {
			r.fail("%s does not take conversion reviews of v1", d.Name)
		}
		r.see("%s: by the webhook", d.Name)
	}
}

func checkConverted(s *Snapshot, r *Row) {
	for _, c := range s.Converted {
		switch {
		case c.Err != "":
			r.fail("a %s cannot be read as %s: %s", c.Kind, c.Version, c.Err)
		case c.Unserved:
			r.see("%s: v1alpha1 is not served, so nothing is converted", c.Kind)
		case c.Objects == 0:
			r.see("%s: there is no object, so nothing was converted", c.Kind)
		default:
			r.see("%s: read as v1alpha1", c.Kind)
		}
	}
}

func checkStored(s *Snapshot, r *Row) {
	for i := range s.CRDs {
		d := &s.CRDs[i]
		for _, version := range d.Spec.Versions {
			if version.Storage && version.Name != versionName {
				r.fail("%s stores new objects as %s", d.Name, version.Name)
			}
		}
		if stored := d.Status.StoredVersions; !slices.Equal(stored, []string{versionName}) {
			r.warn("%s may have objects that are stored as %s", d.Name, names(stored))
			continue
		}
		r.see("%s: v1 only", d.Name)
	}
}

func checkSchemas(s *Snapshot, r *Row) {
	shipped, err := crd.CRDs()
	if err != nil {
		r.fail("%v", err) // a fault of this program
		return
	}
	for _, want := range shipped {
		at := slices.IndexFunc(s.CRDs, func(d apiextensionsv1.CustomResourceDefinition) bool { return d.Name == want.Name })
		if at < 0 {
			r.fail("%s is not installed", want.Name)
			continue
		}
		compareSchemas(r, want, &s.CRDs[at])
	}
}

func compareSchemas(r *Row, want, got *apiextensionsv1.CustomResourceDefinition) {
	served := map[string]bool{}
	for _, version := range got.Spec.Versions {
		at := slices.IndexFunc(want.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version.Name })
		if served[version.Name] = version.Served; at < 0 {
			r.warn("%s has the version %s, which this plugin does not know", want.Name, version.Name)
			continue
		}
		if !same(want.Spec.Versions[at].Schema, version.Schema) {
			r.warn("the schema of %s %s is not the one that this plugin was shipped with", want.Name, version.Name)
			continue
		}
		r.see("%s %s: as shipped", want.Name, version.Name)
	}
	for _, version := range want.Spec.Versions {
		switch {
		case served[version.Name]:
		case version.Name == versionName:
			r.fail("%s does not serve %s", want.Name, version.Name)
		default:
			r.see("%s does not serve %s, as after the migration", want.Name, version.Name)
		}
	}
}

// same compares what two values are as JSON, in which raw JSON has no layout.
func same(a, b any) bool { return reflect.DeepEqual(generic(a), generic(b)) }

func generic(value any) (decoded any) {
	data, err := json.Marshal(value)
	if err != nil || json.Unmarshal(data, &decoded) != nil {
		return err
	}
	return decoded
}
