// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestWrite pins the answer for a list as a server sends it.
func TestWrite(t *testing.T) {
	for name, o := range map[string]Options{
		"table":            {},
		"table-all":        {AllNamespaces: true},
		"table-no-headers": {NoHeaders: true},
		"wide":             {},
		"name":             {},
		"json":             {},
		"yaml":             {},
	} {
		t.Run(name, func(t *testing.T) {
			setFormat(t, &o, name)
			var out, errOut bytes.Buffer
			o.Clock = clocktesting.NewFakePassiveClock(time.Date(2027, 3, 20, 12, 0, 0, 0, time.UTC))
			o.Out, o.ErrOut = &out, &errOut
			if err := o.write(objects(t), "shop"); err != nil {
				t.Fatal(err)
			}
			if errOut.Len() > 0 {
				t.Errorf("got stderr %q", errOut.String())
			}
			compare(t, filepath.Join("testdata", name+".golden"), out.Bytes())
		})
	}
}

func TestWriteSaysThatThereIsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		o    Options
		want string
	}{
		"in a namespace":  {want: "No BackupJobs or MySQLBackups found in namespace shop.\n"},
		"in any of them":  {o: Options{AllNamespaces: true}, want: "No BackupJobs or MySQLBackups found in any namespace.\n"},
		"not even a name": {o: Options{}, want: "No BackupJobs or MySQLBackups found in namespace shop.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			tc.o.Out, tc.o.ErrOut = &out, &errOut
			if err := tc.o.write(nil, "shop"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, errOut.String()); diff != "" || out.Len() > 0 {
				t.Errorf("got stdout %q, stderr %s", out.String(), diff)
			}
		})
	}
}

// setFormat takes the format from the beginning of a case's name.
func setFormat(t *testing.T, o *Options, name string) {
	t.Helper()
	if err := o.Format.AddFlag(&cobra.Command{}, output.Table, output.Wide, output.JSON, output.YAML, output.Name); err != nil {
		t.Fatal(err)
	}
	if o.Format.Set(name) != nil {
		if err := o.Format.Set(output.Table); err != nil {
			t.Fatal(err)
		}
	}
}

func objects(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if data, err = yaml.YAMLToJSON(data); err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	var found []unstructured.Unstructured
	for _, item := range list.Items {
		found = append(found, unstructured.Unstructured{Object: item})
	}
	return found
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", file, diff)
	}
}
