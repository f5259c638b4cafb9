// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/conversion"
)

const deleted = `{metadata: {deletionTimestamp: "2026-11-30T11:00:00Z", finalizers: [backup.example.com/cleanup]}}`

func TestAnUpdateIsComparedWithTheOldObject(t *testing.T) {
	cases := map[string]struct {
		manifest string
		old, new []string // merges
		faults   []string // fields
		warnings []string // fields
	}{
		"a label edit keeps an old fault and says so": {jobV1, []string{`{spec: {schedule: abc}}`},
			[]string{`{spec: {schedule: abc}, metadata: {labels: {a: b}}}`}, nil, []string{"spec.schedule"}},
		"an edit of another field keeps an old fault and says so": {jobV1, []string{`{spec: {schedule: "*/90 * * * *"}}`},
			[]string{`{spec: {schedule: "*/90 * * * *", retention: {days: 9}}}`}, nil, []string{"spec.schedule"}},
		"another bad value of the same field is refused": {jobV1, []string{`{spec: {schedule: abc}}`},
			[]string{`{spec: {schedule: abd}}`}, []string{"spec.schedule"}, nil},
		"the old bad value is accepted, a new fault beside it is refused": {mysqlAlpha, []string{`{spec: {backupSchedule: abc}}`},
			[]string{`{spec: {backupSchedule: abc, retentionDays: 0}}`}, []string{"spec.retentionDays"}, []string{"spec.backupSchedule"}},
		"a bound of the schema is no harder than a rule": {jobV1, []string{`{spec: {retention: {days: 5000}}}`},
			[]string{`{spec: {retention: {days: 5000}, suspend: true}}`}, nil, []string{"spec.retention.days"}},
		"a wrong type stays": {jobV1, []string{`{spec: {maxRetries: "3"}}`},
			[]string{`{spec: {maxRetries: "3", suspend: true}}`}, nil, []string{"spec.maxRetries"}},
		"a field that is missing stays missing": {mysqlAlpha, []string{`{spec: {database: null}}`},
			[]string{`{spec: {database: null, suspend: true}}`}, nil, []string{"spec.database"}},
		"a name that is too long stays": {jobV1, []string{`{metadata: {name: "` + strings.Repeat("a", 70) + `"}}`},
			[]string{`{metadata: {name: "` + strings.Repeat("a", 70) + `"}, spec: {suspend: true}}`}, nil, []string{"metadata.name"}},
		"an item of a list is the same wherever it stands": {mysqlV1, []string{`{spec: {source: {databases: [x, -a]}}}`},
			[]string{`{spec: {source: {databases: [-a]}}}`}, nil, []string{"spec.source.databases[0]"}},
		"a second item of that kind is a new fault": {mysqlV1, []string{`{spec: {source: {databases: [-a]}}}`},
			[]string{`{spec: {source: {databases: [-a, -b]}}}`}, []string{"spec.source.databases[1]"}, []string{"spec.source.databases[0]"}},
		"the same value with another reason is a new fault": {jobV1, []string{`{spec: {podTemplate: {resources: {limits: {cpu: 2}, requests: {cpu: 2}}}}}`},
			[]string{`{spec: {podTemplate: {resources: {limits: {cpu: 1}, requests: {cpu: 2}}}}}`}, []string{"spec.podTemplate.resources.requests[cpu]"}, nil},
		"two fields that never went together stay": {jobAlpha, []string{`{spec: {database: a, databases: [b, c]}}`},
			[]string{`{spec: {database: a, databases: [b, c], suspend: true}}`}, nil, []string{"spec.databases"}},
		"a good value ends it": {jobV1, []string{`{spec: {schedule: abc}}`},
			[]string{`{spec: {schedule: "0 4 * * *"}}`}, nil, nil},
		"a write that changes nothing is silent, whatever is stored": {jobV1, []string{`{spec: {schedule: abc, retention: {days: 0}}}`},
			[]string{`{spec: {schedule: abc, retention: {days: 0}}}`}, nil, nil},
		"a write that changes only what the server writes is silent": {jobV1, []string{`{spec: {schedule: "*/5 * * * *"}}`, `{metadata: {generation: 3, resourceVersion: "5"}, status: {phase: Scheduled}}`},
			[]string{`{spec: {schedule: "*/5 * * * *"}, metadata: {labels: {}, managedFields: [{manager: x}]}}`}, nil, nil},
		"leaving a default out changes nothing": {jobV1, []string{`{spec: {schedule: abc, maxRetries: 3, suspend: false, retention: {days: 7}}}`},
			[]string{`{spec: {schedule: abc}}`}, nil, nil},
		"a label edit repeats no warning about the schedule": {jobV1, []string{`{spec: {schedule: "*/5 * * * *"}}`},
			[]string{`{spec: {schedule: "*/5 * * * *"}, metadata: {labels: {a: b}}}`}, nil, nil},
		"removing the finalizer passes, whatever is stored": {jobV1, []string{`{spec: {schedule: abc}}`, deleted},
			[]string{`{spec: {schedule: abc}}`, deleted, `{metadata: {finalizers: null}}`}, nil, nil},
		"removing the finalizer passes in v1alpha1": {mysqlAlpha, []string{`{spec: {backupSchedule: abc, retentionDays: -1}}`, deleted},
			[]string{`{spec: {backupSchedule: abc, retentionDays: -1}}`}, nil, nil},
		"the spec of an object that is being deleted is judged": {jobV1, []string{deleted},
			[]string{deleted, `{spec: {schedule: abc}}`}, []string{"spec.schedule"}, nil},
		"the storage moves": {jobV1, nil,
			[]string{`{spec: {storage: {persistentVolumeClaim: {claimName: other}}}}`}, nil, []string{"spec.storage.persistentVolumeClaim.claimName"}},
		"the storage moves in v1alpha1": {jobAlpha, []string{`{spec: {storageClaim: old}}`},
			[]string{`{spec: {storageClaim: other}}`}, nil, []string{"spec.storageClaim"}},
		"the folder moves": {jobV1, []string{`{spec: {storage: {persistentVolumeClaim: {subPath: a}}}}`},
			[]string{`{spec: {storage: {persistentVolumeClaim: {subPath: b}}}}`}, nil, []string{"spec.storage.persistentVolumeClaim.subPath"}},
		"the default of the claim, written out, moves nothing": {jobV1, nil,
			[]string{`{spec: {suspend: true, storage: {persistentVolumeClaim: {claimName: nightly-backups}}}}`}, nil, nil},
		"the host moves and retention is shortened": {mysqlAlpha, []string{`{spec: {retentionDays: 30, minBackups: 5}}`},
			[]string{`{spec: {host: other.example.com, retentionDays: 7, minBackups: 1}}`}, nil, []string{"spec.host", "spec.retentionDays", "spec.minBackups"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := judged(t, object(t, c.manifest, c.new...), object(t, c.manifest, c.old...))
			var faults, warnings []string
			for _, f := range v.Faults {
				faults = append(faults, f.Field)
			}
			for _, w := range v.Warnings {
				warnings = append(warnings, w.Field)
			}
			if diff := cmp.Diff(c.faults, faults); diff != "" {
				t.Errorf("faults (-want +got):\n%s\n%s", diff, told(v))
			}
			if diff := cmp.Diff(c.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s\n%s", diff, told(v))
			}
		})
	}
}

func TestTheOldObjectMayBeInTheOtherVersion(t *testing.T) {
	old := object(t, mysqlAlpha, `{spec: {host: "db.example.com:3306", backupSchedule: abc}}`)
	inV1, err := conversion.Convert(old, backupv1.GroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	if v := judged(t, inV1, old); !v.Unchanged || !v.Allowed() {
		t.Errorf("got %+v, want it unchanged:\n%s", v.Faults, told(v))
	}
	edited := object(t, string(inV1), `{spec: {suspend: true}}`)
	if v := judged(t, edited, old); !v.Ratcheted || !v.Allowed() {
		t.Errorf("got %+v, want the old fault kept:\n%s", v.Faults, told(v))
	}
	back := object(t, string(old), `{spec: {suspend: true}}`)
	if v := judged(t, back, inV1); !v.Ratcheted || !v.Allowed() {
		t.Errorf("got %+v, want the old fault kept:\n%s", v.Faults, told(v))
	}
}

func TestTheMessagesOfWarningsAboutAnUpdateAreExact(t *testing.T) {
	old := object(t, jobV1, `{spec: {retention: {days: 30}, maxRetries: 11, storage: {persistentVolumeClaim: {claimName: a, subPath: team/}}}}`)
	raw := object(t, jobV1, `{spec: {source: {host: 10.0.0.5}, retention: {days: 7}, maxRetries: 11, storage: {persistentVolumeClaim: {claimName: b}}}}`)
	want := `Warning: spec.source.host: has changed: backups of 'db.example.com' stay where they are, beside those of the new server, and age with them
Warning: spec.maxRetries: is kept as it was, but must be 0 to 10
Warning: spec.retention.days: was 30 and is 7: the backups of 23 days may go after the next successful run
Warning: spec.storage.persistentVolumeClaim.claimName: has changed: backups made so far stay in the claim 'a', folder 'team', where nothing prunes them any more`
	if diff := cmp.Diff(want, told(judged(t, raw, old))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatIsNoObjectOfOursIsNotJudged(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":        "",
		"no JSON":        "{",
		"no object":      "[]",
		"null":           "null",
		"no kind":        "{}",
		"another kind":   `{"apiVersion": "backup.example.com/v1", "kind": "Pod"}`,
		"another group":  `{"apiVersion": "example.com/v1", "kind": "BackupJob"}`,
		"a kind of text": `{"apiVersion": 1, "kind": ["BackupJob"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			v, err := newJudge(t).Judge(t.Context(), []byte(raw), nil)
			if err == nil || !strings.Contains(err.Error(), "must be a JSON object of kind BackupJob or MySQLBackup") {
				t.Errorf("got %+v, %v", v, err)
			}
		})
	}
}

func TestTheVerdictKnowsTheObject(t *testing.T) {
	v := judged(t, object(t, mysqlAlpha, `{spec: {host: "[fd00::1]:3307", foo: 1}, status: {backupStatus: Bad}}`), nil)
	if !v.Allowed() || v.GVK.Version != "v1alpha1" || v.Name != "nightly" || v.Namespace != "shop" {
		t.Errorf("got %+v", v)
	}
	if diff := cmp.Diff([]string{"spec.foo"}, v.Unknown); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
	b := v.Effective
	if b.Server().Host != "fd00::1" || *b.Server().Port != 3307 || b.Policy().Retries() != 3 ||
		b.Policy().Compression != backupv1.CompressionZstd || len(b.Databases()) != 1 {
		t.Errorf("got %+v", b)
	}
}

func TestManyFaultsMakeABoundedAnswer(t *testing.T) {
	raw := object(t, jobV1, `{spec: {source: {databases: [`+strings.Repeat(`"-", `, 500)+`]}}}`)
	status := judged(t, raw, nil).Err().Status()
	if n := len(status.Details.Causes); n != maxFaults+1 {
		t.Errorf("got %d causes, want %d", n, maxFaults+1)
	}
	if last := status.Details.Causes[maxFaults].Message; !strings.Contains(last, "more faults") {
		t.Errorf("got %q at the end", last)
	}
}

func TestAnObjectOfAbsurdSizeIsNotLookedInto(t *testing.T) {
	raw := object(t, jobAlpha, `{spec: {databases: [`+strings.Repeat(`"-", `, 50_000)+`]}}`)
	if got := told(judged(t, raw, nil)); !strings.HasPrefix(got, "spec: Invalid value: must hold at most 5000 values in all; found 50") {
		t.Errorf("got %s", got)
	}
	labelled := object(t, string(raw), `{metadata: {labels: {a: b}}}`)
	if v := judged(t, labelled, raw); !v.Allowed() {
		t.Errorf("got %s", told(v))
	}
}

func TestThousandsOfWarningsFitTheServersBound(t *testing.T) {
	v := &Verdict{}
	for range 1000 {
		v.Warnings = append(v.Warnings, Warning{Field: "spec.x", Message: strings.Repeat("ä", 300)})
	}
	size := 0
	for _, text := range v.WarningTexts() {
		size += len([]rune(text))
	}
	if size > 4000 {
		t.Errorf("got %d characters", size)
	}
}

func TestAKeyOfAnyLengthIsCutWhereItIsShown(t *testing.T) {
	raw := object(t, jobV1, `{spec: {podTemplate: {labels: {KEY: x}}}}`)
	v := judged(t, bytes.Replace(raw, []byte("KEY"), bytes.Repeat([]byte("k"), 5000), 1), nil)
	if len(v.Faults) != 1 {
		t.Fatalf("got %s", told(v))
	}
	if text := v.Faults[0].String(); len([]rune(text)) > maxMessage {
		t.Errorf("got %d characters: %s", len(text), text)
	}
}

func TestManyAreJudgedAtATime(t *testing.T) {
	j := newJudge(t)
	raws, want := make([][]byte, len(messageCases)), make([]string, len(messageCases))
	for i, c := range messageCases {
		raws[i] = object(t, c.manifest, c.write)
		want[i] = told(judged(t, raws[i], nil))
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i, raw := range raws {
				if v, err := j.Judge(t.Context(), raw, nil); err != nil || told(v) != want[i] {
					t.Errorf("%s: got another verdict beside others, or %v", messageCases[i].name, err)
				}
			}
		})
	}
	all.Wait()
}

func TestTheLongestMessageIsCutAtItsEnd(t *testing.T) {
	f := Fault{Field: "spec.schedule", Value: shown(strings.Repeat("x", 500)), Message: "must " + strings.Repeat("ä", 500), Type: field.ErrorTypeInvalid}
	text := f.String()
	if n := utf8.RuneCountInString(text); n != maxMessage || !strings.HasSuffix(text, "ä…") || !strings.HasPrefix(text, `spec.schedule: Invalid value: "xxx`) {
		t.Errorf("got %d characters: %s", n, text)
	}
}
