// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadFindsEveryDocumentAndItsLine(t *testing.T) {
	cases := map[string]struct {
		in   string
		want []string // line, kind, name
	}{
		"nothing":                     {in: "", want: nil},
		"only comments":               {in: "# nothing here\n\n# nor here\n", want: nil},
		"only borders":                {in: "---\n---\n...\n---\n", want: nil},
		"one document":                {in: doc("A", "a"), want: []string{"1 A a"}},
		"a border in front":           {in: "---\n" + doc("A", "a"), want: []string{"2 A a"}},
		"two documents":               {in: doc("A", "a") + "---\n" + doc("B", "b"), want: []string{"1 A a", "5 B b"}},
		"a border with a comment":     {in: doc("A", "a") + "--- # next\n" + doc("B", "b"), want: []string{"1 A a", "5 B b"}},
		"a border with the content":   {in: doc("A", "a") + "--- {kind: B, metadata: {name: b}}\n", want: []string{"1 A a", "4 B b"}},
		"an end marker":               {in: doc("A", "a") + "...\n" + doc("B", "b"), want: []string{"1 A a", "5 B b"}},
		"a licence before the border": {in: "# licence\n---\n" + doc("A", "a"), want: []string{"3 A a"}},
		"an empty document between":   {in: doc("A", "a") + "---\n# none\n---\n" + doc("B", "b"), want: []string{"1 A a", "7 B b"}},
		"a border inside a text": {
			in:   "kind: A\nmetadata: {name: a, annotations: {x: \"a ---\"}}\nspec: |\n  ---\n  text\n",
			want: []string{"1 A a"},
		},
		"lines of another system": {in: strings.ReplaceAll(doc("A", "a")+"---\n"+doc("B", "b"), "\n", "\r\n"), want: []string{"1 A a", "5 B b"}},
		"a byte order mark":       {in: "\ufeff" + doc("A", "a"), want: []string{"1 A a"}},
		"JSON":                    {in: `{"kind":"A","metadata":{"name":"a"}}`, want: []string{"1 A a"}},
		"JSON objects in a row": {
			in:   "{\"kind\":\"A\",\"metadata\":{\"name\":\"a\"}}\n{\n\t\"kind\":\"B\"}{\"kind\":\"C\"}\n",
			want: []string{"1 A a", "2 B ", "3 C "},
		},
		"YAML in flow style":     {in: "{kind: A, metadata: {name: a}}", want: []string{"1 A a"}},
		"a list":                 {in: "kind: List\nitems:\n- kind: A\n  metadata: {name: a}\n- kind: B\n  metadata: {name: b}\n", want: []string{"3 A a", "5 B b"}},
		"a list in a list":       {in: "kind: List\nitems:\n- kind: List\n  items:\n  - kind: A\n", want: []string{"5 A "}},
		"an empty list":          {in: "kind: List\nitems: []\n", want: nil},
		"a kind that ends so":    {in: "kind: WaitingList\nmetadata: {name: a}\n", want: []string{"1 WaitingList a"}},
		"a name that is no text": {in: "kind: A\nmetadata: {name: 5}\n", want: []string{"1 A "}},
		"metadata that is text":  {in: "kind: A\nmetadata: none\n", want: []string{"1 A "}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			documents, err := Read([]string{Stdin}, false, strings.NewReader(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, summaries(t, documents)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func doc(kind, name string) string {
	return fmt.Sprintf("kind: %s\nmetadata:\n  name: %s\n", kind, name)
}

func summaries(t *testing.T, documents []*Document) (found []string) {
	t.Helper()
	for _, d := range documents {
		items, err := d.Items()
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			found = append(found, fmt.Sprintf("%d %s %s", item.Line(), item.Kind, item.Name))
		}
	}
	return found
}

func TestReadSaysWhereAnInputIsBroken(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"a tab":             {in: doc("A", "a") + "---\nkind: B\n\tx: y\n", want: "-:6: is not valid YAML: "},
		"a stray brace":     {in: "kind: {A\n", want: "-:1: is not valid YAML: "},
		"a bare text":       {in: doc("A", "a") + "---\nhello\n", want: "-:5: is no object"},
		"a list of objects": {in: "- kind: A\n", want: "-:1: is no object"},
		"half a JSON":       {in: "{\"kind\":\n", want: "-:1: is not valid YAML: "},
		"an item of a list": {in: "kind: List\nitems:\n- 5\n", want: "-:3: is no object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			documents, err := Read([]string{Stdin}, false, strings.NewReader(tc.in))
			if err == nil && len(documents) == 1 {
				_, err = documents[0].Items()
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v, want it to begin with %q", err, tc.want)
			}
		})
	}
}

func TestReadGoesOnAfterWhatItCannotRead(t *testing.T) {
	documents, err := Read([]string{"testdata/none.yaml", Stdin, Stdin}, false, strings.NewReader("a: [\n---\n"+doc("B", "b")))
	if diff := cmp.Diff([]string{"3 B b"}, summaries(t, documents)); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"none.yaml", "-:1: is not valid YAML", "only once"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to hold %q", err, want)
		}
	}
}

func TestReadReportsAnInputThatBreaksOff(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := Read([]string{Stdin}, false, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestReadTakesTheManifestsOfAFolder(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "b.yaml", doc("B", "b"))
	write(t, folder, "a.yml", doc("A", "a"))
	write(t, folder, "c.json", `{"kind":"C","metadata":{"name":"c"}}`)
	write(t, folder, "README.md", "no manifest")
	write(t, folder, "deep/d.yaml", doc("D", "d"))
	write(t, folder, "empty/README.md", "no manifest")
	if err := os.Symlink("b.yaml", filepath.Join(folder, "e.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("deep", filepath.Join(folder, "f.yaml")); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		name      string
		recursive bool
		want      []string
		wantErr   string
	}{
		"the folder itself":      {want: []string{"1 A a", "1 B b", "1 C c", "1 B b"}},
		"with those below":       {recursive: true, want: []string{"1 A a", "1 B b", "1 C c", "1 D d", "1 B b"}},
		"a folder without any":   {name: "empty", wantErr: "with -R"},
		"nor below":              {name: "empty", recursive: true, wantErr: "in this folder or below"},
		"a folder that is not":   {name: "gone", wantErr: "gone"},
		"a file of another name": {name: "README.md", wantErr: "is no object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			documents, err := Read([]string{filepath.Join(folder, tc.name)}, tc.recursive, nil)
			if diff := cmp.Diff(tc.want, summaries(t, documents)); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got error %v, want one with %q", err, tc.wantErr)
			}
		})
	}
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
