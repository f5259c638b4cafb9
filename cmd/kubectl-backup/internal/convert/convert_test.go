// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	sigsyaml "sigs.k8s.io/yaml"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/manifest"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
	"example.com/backupjob-operator/conversion"
)

func convert(t *testing.T, in, to, format string) (text, notes string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	o := &Options{Files: []string{manifest.Stdin}, To: to, In: strings.NewReader(in), Out: &out, ErrOut: &errOut}
	if err := o.Format.AddFlag(&cobra.Command{}, format); err != nil {
		t.Fatal(err)
	}
	err = o.Run()
	return out.String(), errOut.String(), err
}

// odd are texts that a reader of YAML takes for something else unless they are
// quoted, and others that are hard to write.
var odd = []string{
	"", "yes", "no", "on", "off", "y", "n", "true", "null", "~", "0", "007", "0x1f", "0o17", "1_000", "1e3", "1.5", ".5", "1:30", "12:30:45",
	".inf", ".nan", "2027-03-28", "2027-03-28T02:00:00Z", "- a", "a: b", "a #b", "#a", "@daily", "*/5 * * * *", "&a", "!a", "%a", "|", ">", "{a", "[a",
	"'", "\"", "\\", " a", "a ", "a\nb", "a\nb\n", "\n", "\t", "täble", "\u0085", "\u2028", "\ufeffa", "\x00", "\x7f", "🐬", "=", "<<", "---", "...",
}

func TestWhatIsWrittenReadsBackAsTheSame(t *testing.T) {
	for _, text := range odd {
		for _, in := range []map[string]any{
			{"spec": map[string]any{"databaseHost": "db", "database": text, "schedule": text, "secretRef": text}},
			{"metadata": map[string]any{"name": text, "annotations": map[string]any{text: text}}, "spec": map[string]any{}},
		} {
			in["apiVersion"], in["kind"] = "backup.example.com/v1alpha1", "BackupJob"
			raw, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			checkConversion(t, string(raw), raw)
			// Not every text survives this library's own way to YAML.
			if asYAML, err := sigsyaml.JSONToYAML(raw); err == nil {
				if same, err := sigsyaml.YAMLToJSON(asYAML); err == nil && cmp.Equal(decoded(t, raw), decoded(t, same)) {
					checkConversion(t, string(asYAML), raw)
				}
			}
		}
	}
}

// checkConversion demands that a reader of the answer gets what the conversion
// gave, in both formats.
func checkConversion(t *testing.T, in string, raw []byte) {
	t.Helper()
	wanted, err := conversion.Convert(raw, "backup.example.com/v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{output.YAML, output.JSON} {
		text, _, err := convert(t, in, "v1", format)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		got := []byte(text)
		if format == output.YAML {
			got, err = sigsyaml.YAMLToJSON(got)
		}
		if err != nil {
			t.Errorf("%s: the answer cannot be read: %v\n%s", in, err, text)
			continue
		}
		if diff := cmp.Diff(decoded(t, wanted), decoded(t, got)); diff != "" {
			t.Errorf("%s:\n%s\n%s", in, text, diff)
		}
	}
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestThereAndBackIsTheSameText(t *testing.T) {
	const in = `# Ours.

apiVersion: backup.example.com/v1alpha1 # one
kind: MySQLBackup
metadata:
  name: shop
spec:
  # two
  host: 'db:3306' # five
  databases: # six
    # seven
    - one
    - 'two' # eight
  secretRef: s # nine
  backupSchedule: "CRON_TZ=Europe/Berlin 0 2 * * *" # three
  retentionDays: 7 # four
  suspend: true
# end
`
	there, notes, err := convert(t, in, "v1", output.YAML)
	if err != nil || notes != "" {
		t.Fatalf("%v, %s", err, notes)
	}
	for _, number := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "end"} {
		if strings.Count(there, "# "+number) != 1 {
			t.Errorf("the comment %q is there %d times", number, strings.Count(there, "# "+number))
		}
	}
	back, notes, err := convert(t, there, "v1alpha1", output.YAML)
	if err != nil || notes != "" {
		t.Fatalf("%v, %s", err, notes)
	}
	if diff := cmp.Diff(in, back); diff != "" {
		t.Errorf("%s\n%s", there, diff)
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	const in = `{"apiVersion":"backup.example.com/v1","kind":"BackupJob","spec":{"x":12345678901234567890,"w":1.50,"z":1e3}}`
	text, _, err := convert(t, in, "v1alpha1", output.YAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x: 12345678901234567890\n", "w: 1.50\n", "z: 1e3\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want it to hold %q", text, want)
		}
	}
}

func TestAliasesAreWrittenOut(t *testing.T) {
	const in = "apiVersion: backup.example.com/v1\nkind: BackupJob\nspec:\n  podTemplate:\n    labels: &l {a: b} # one\n    annotations: *l # two\n"
	text, _, err := convert(t, in, "v1alpha1", output.YAML)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text, "&*") || !strings.Contains(text, "annotations:\n      a: b") {
		t.Error(text)
	}
}

// TestWhatWouldBeLostIsRefused by file, line and object, all of it at once, and
// nothing is written.
func TestWhatWouldBeLostIsRefused(t *testing.T) {
	const old, hub = "apiVersion: backup.example.com/v1alpha1\n", "apiVersion: backup.example.com/v1\n"
	const head = "kind: BackupJob\nmetadata: {namespace: shop, name: a}\nspec:\n"
	for name, tc := range map[string]struct {
		in, to string
		says   []string
	}{
		"fields of v1 under the old name": {
			old + head + "  source:\n    host: db\n  retention: {days: 7}\n", "v1",
			[]string{
				"-:6: BackupJob shop/a: spec.source.host is no field of backup.example.com/v1alpha1 and would be lost: write spec.databaseHost",
				"-:7: BackupJob shop/a: spec.retention.days is no field", "write spec.retentionDays",
			},
		},
		"fields of v1alpha1 under the new name": {
			hub + head + "  databaseHost: db:1\n", "v1alpha1",
			[]string{"-:5: BackupJob shop/a: spec.databaseHost is no field of backup.example.com/v1 and", "write spec.source.host, or correct the apiVersion"},
		},
		"a field that is there twice": {
			old + head + "  retentionDays: 7\n  retentionDays: 8\n", "v1",
			[]string{"-:6: BackupJob shop/a: spec.retentionDays is there twice"},
		},
		"in a version that would stay": {
			old + head + "  retentionDays: 7\n  retentionDays: 8\n", "v1alpha1",
			[]string{"-:6: BackupJob shop/a: spec.retentionDays is there twice"},
		},
		"in a list": {
			"kind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(old+head+"  source: {host: db}"), "\n", "\n  ") + "\n", "v1",
			[]string{"-:7: BackupJob shop/a: spec.source.host is no field"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, err := convert(t, tc.in, tc.to, output.YAML)
			if err == nil || text != "" {
				t.Fatalf("want an error and nothing else, got %v and\n%s", err, text)
			}
			for _, says := range tc.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("got %v\nwant in it %s", err, says)
				}
			}
		})
	}
}

func TestUnknownFieldsThatStayAreNotRefused(t *testing.T) {
	text, _, err := convert(t, "apiVersion: backup.example.com/v1alpha1\nkind: BackupJob\nspec: {x: {z: 1}, databaseHost: db}\n", "v1", output.YAML)
	if err != nil || !strings.Contains(text, "x: {z: 1}") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestAnObjectOfTheOperatorsBeforeIsTakenOver in both formats and to both
// versions, and without what a server would refuse in a new object.
func TestAnObjectOfTheOperatorsBeforeIsTakenOver(t *testing.T) {
	const in = `{"apiVersion":"example.com/v1","kind":"BackupJob","metadata":{"name":"a","labels":{"b":"c"},"uid":"u","resourceVersion":"1",` +
		`"finalizers":["example.com/f"],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},` +
		`"spec":{"databaseHost":"db:1","schedule":"0 2 * * *","retentionDays":7},"status":{"phase":"Done"}}`
	for to, want := range map[string]string{
		"v1alpha1": `{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob","metadata":{"name":"a","labels":{"b":"c"}},
			"spec":{"databaseHost":"db:1","schedule":"0 2 * * *","retentionDays":7}}`,
		"v1": `{"apiVersion":"backup.example.com/v1","kind":"BackupJob","metadata":{"name":"a","labels":{"b":"c"}},
			"spec":{"source":{"host":"db","port":1},"schedule":"0 2 * * *","retention":{"days":7}}}`,
	} {
		for _, format := range []string{output.YAML, output.JSON} {
			text, notes, err := convert(t, in, to, format)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sigsyaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, got)); diff != "" {
				t.Errorf("to %s as %s:\n%s", to, format, diff)
			}
			for _, says := range []string{"BackupJob a was of example.com/v1", "metadata.finalizers", "metadata.uid", "last-applied-configuration", "status"} {
				if !strings.Contains(notes, says) {
					t.Errorf("the notes do not tell of %s: %s", says, notes)
				}
			}
		}
	}
}

func FuzzConvert(f *testing.F) {
	const head = "apiVersion: backup.example.com/v1alpha1\nkind: BackupJob\n"
	f.Add(head + "spec: {databaseHost: 'db:1', schedule: CRON_TZ=UTC 0 2 * * *}\n")
	f.Add(head + "# a\nspec:\n  database: x # b\n  # c\n  retentionDays: 7\n")
	f.Add(head + "spec:\n  storageClaim: &a b\n  secretRef: *a\n")
	f.Add("kind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(head), "\n", "\n  ") + "\n")
	f.Add(`{"apiVersion":"backup.example.com/v1alpha1","kind":"MySQLBackup","spec":{"host":"db"}}`)
	f.Fuzz(func(t *testing.T, in string) {
		documents, err := manifest.Read([]string{manifest.Stdin}, false, strings.NewReader(in))
		if err != nil || len(documents) != 1 || documents[0].IsList() {
			return
		}
		wanted, err := conversion.Convert(documents[0].JSON, "backup.example.com/v1")
		if err != nil {
			return
		}
		text, _, err := convert(t, in, "v1", output.YAML)
		if err != nil && (strings.Contains(err.Error(), "would be lost") || strings.Contains(err.Error(), "is there twice")) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := sigsyaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatalf("the answer cannot be read: %v\n%s", err, text)
		}
		if diff := cmp.Diff(decoded(t, wanted), decoded(t, got)); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	})
}
