// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const messagesIntro = `# What admission says

<!-- Written by 'make generate' from the test cases of package webhooks. Do not edit. -->

Every message below is what a user reads, word for word, for one mistake that somebody made. kubectl prints one line per fault; all faults of an object come in one answer, in the order of the API reference. Warnings do not refuse anything.

A value is cut at 64 characters and a message at 300; what may be a secret is not shown. An unknown or doubled field name is missing here: the API server refuses it itself, before any webhook sees the object.
`

// messages is the document, which is written from the top to the bottom.
type messages struct {
	*testing.T
	strings.Builder
}

func (m *messages) section(title, text string) {
	m.WriteString("\n## " + title + "\n\n" + text + "\n")
}

// entry is one example and all that is said of it.
func (m *messages) entry(title, said string) {
	m.WriteString("\n" + title + "\n")
	for line := range strings.Lines(said) {
		m.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
}

// field writes what is said of each case of a file. What v1alpha1 says is
// added where more than the name of the field differs.
func (m *messages) field(cases []testCase, v1 func(testCase) *Verdict, alpha func(testCase) *Verdict) {
	var silent []string
	m.WriteString("\n```text")
	for _, c := range cases {
		said := told(v1(c))
		if said == "" {
			silent = append(silent, fmt.Sprintf("%q", c.Value))
		}
		if old := alpha(c); old != nil {
			theirs := told(old)
			switch theirs {
			case said:
			case "":
				said += "\nv1alpha1: accepted"
			default:
				said += "\nv1alpha1: " + theirs
			}
		}
		if said = strings.TrimPrefix(said, "\n"); said != "" {
			m.entry(fmt.Sprintf("%q", c.Value), said)
		}
	}
	m.WriteString("```\n\nAccepted in v1 without a word:\n\n```text\n" + strings.Join(silent, "\n") + "\n```\n")
}

// sameOfBothKinds judges the same change of both kinds, which must be told
// the same but for the kind's own name of the field.
func (m *messages) sameOfBothKinds(job, mysql string, at [2]string, value string) *Verdict {
	v := judged(m.T, object(m.T, job, value), nil)
	other := judged(m.T, object(m.T, mysql, strings.Replace(value, at[0], at[1], 1)), nil)
	if diff := cmp.Diff(told(v), strings.ReplaceAll(told(other), "spec."+at[1], "spec."+at[0])); diff != "" {
		m.Errorf("%s: the kinds differ (-BackupJob +MySQLBackup):\n%s", value, diff)
	}
	return v
}

func (m *messages) v1(value string) *Verdict {
	return m.sameOfBothKinds(jobV1, mysqlV1, [2]string{"schedule", "schedule"}, value)
}

func (m *messages) alpha(value string) *Verdict {
	return m.sameOfBothKinds(jobAlpha, mysqlAlpha, [2]string{"schedule", "backupSchedule"}, value)
}

func (m *messages) schedules() {
	m.section("Schedules", "Each is the `schedule` of a v1 object whose zone is `Etc/UTC`. Both kinds say the same; v1alpha1 is shown where it says something else. A MySQLBackup of v1alpha1 calls the field `spec.backupSchedule`.")
	m.field(readCases(m.T, "schedules.yaml"),
		func(c testCase) *Verdict { return m.v1(bothSet(set("spec.schedule", c.Value), `"timeZone":"Etc/UTC"`)) },
		func(c testCase) *Verdict { return m.alpha(set("spec.schedule", c.Value)) })
}

func (m *messages) zones() {
	m.section("Time zones", "Each is the `timeZone` of a v1 object whose schedule is `0 12 * * *`. In v1alpha1 the zone stands in front of the schedule, as in `CRON_TZ=Europe/Berlin 0 12 * * *`.")
	m.field(readCases(m.T, "timezones.yaml"),
		func(c testCase) *Verdict {
			return m.v1(bothSet(set("spec.timeZone", c.Value), `"schedule":"0 12 * * *"`))
		},
		func(c testCase) *Verdict {
			if c.Value == "" || strings.Contains(c.Value, " ") {
				return nil // cannot be written in v1alpha1
			}
			return m.alpha(set("spec.schedule", "CRON_TZ="+c.Value+" 0 12 * * *"))
		})
}

// bothSet adds a field to a merge of a spec.
func bothSet(merge, field string) string {
	return strings.Replace(merge, `{"spec":{`, `{"spec":{`+field+`,`, 1)
}

func (m *messages) faults() {
	for _, part := range []struct {
		title string
		cases []messageCase
	}{
		{"Source: host, port, databases, Secrets, TLS", sourceMessages},
		{"Schedule and zone, further", timeMessages},
		{"Names, retention, limits and storage", policyMessages},
		{"The Pods of the runs", podMessages},
		{"Shape: types and missing parts", shapeMessages},
	} {
		m.section(part.title, "The first line of each says what was written, and in which version and kind.")
		m.WriteString("\n```text")
		for _, c := range part.cases {
			v := judged(m.T, object(m.T, c.manifest, c.write), nil)
			m.entry(fmt.Sprintf("%s (%s %s)", c.name, v.GVK.Version, v.GVK.Kind), told(v))
		}
		m.WriteString("```\n")
	}
}

func (m *messages) updates() {
	m.section("Updates", "What the old object had already does not block; what is new is judged as on create. A write that changes nothing is told nothing.")
	m.WriteString("\n```text")
	for _, c := range []struct{ name, manifest, old, write string }{
		{"a stored fault is kept, and another field edited", jobV1, `{spec: {schedule: abc}}`, `{spec: {schedule: abc, suspend: true}}`},
		{"a stored fault is replaced by another", jobV1, `{spec: {schedule: abc}}`, `{spec: {schedule: abcd}}`},
		{"the host changes", jobV1, `{}`, `{spec: {source: {host: db2.example.com}}}`},
		{"the claim changes", mysqlAlpha, `{}`, `{spec: {storageClaim: other}}`},
		{"the folder changes", jobV1, `{spec: {storage: {persistentVolumeClaim: {subPath: a}}}}`, `{spec: {storage: {persistentVolumeClaim: {subPath: b}}}}`},
		{"retention gets shorter", mysqlAlpha, `{spec: {retentionDays: 30, minBackups: 5}}`, `{spec: {retentionDays: 7, minBackups: 2}}`},
	} {
		v := judged(m.T, object(m.T, c.manifest, c.write), object(m.T, c.manifest, c.old))
		m.entry(fmt.Sprintf("%s (%s %s)", c.name, v.GVK.Version, v.GVK.Kind), told(v))
	}
	m.WriteString("```\n")
}

func (m *messages) rights() {
	m.section("Rights", "Told of what a user may not use. With `--reference-authorization=warn` these are warnings.")
	m.WriteString("\n```text")
	for _, c := range []struct {
		name, manifest, write string
		rights                *rights
	}{
		{"a Secret may not be read", jobV1, `{}`, &rights{}},
		{"a Secret may not be read, in v1alpha1", mysqlAlpha, `{}`, &rights{}},
		{"an image of their own, without the right to create Pods", jobV1, `{spec: {podTemplate: {image: "mysql:8.0.40"}}}`, &rights{has: []string{"get secrets/nightly-credentials"}}},
		{"another claim and a folder, without the right to create Pods", jobV1, `{spec: {storage: {persistentVolumeClaim: {claimName: other, subPath: team}}}}`, &rights{has: []string{"get secrets/nightly-credentials"}}},
		{"the API server does not answer in time", jobV1, `{}`, &rights{fails: true}},
	} {
		v := judged(m.T, object(m.T, c.manifest, c.write), nil)
		checker(m.T, ReferencesEnforce, c.rights).check(m.Context(), v, developer, "shop")
		m.entry(fmt.Sprintf("%s (%s %s)", c.name, v.GVK.Version, v.GVK.Kind), told(v))
	}
	m.WriteString("```\n")
}

func TestTheDocumentOfAllMessagesIsCurrent(t *testing.T) {
	m := &messages{T: t}
	m.WriteString(messagesIntro)
	m.schedules()
	m.zones()
	m.faults()
	m.updates()
	m.rights()
	compareGolden(t, "../docs/messages.md", m.String())
}
