// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	repository = "../../../.."
	document   = repository + "/docs/security.md"
)

// TestEveryThreatNamesTestsThatExist: whoever renames a test that a reviewer
// relies on finds it here.
func TestEveryThreatNamesTestsThatExist(t *testing.T) {
	known := testNames(t)
	threats, mitigations := tablesOf(t, "threat"), tablesOf(t, "mitigation")
	for name, table := range map[string][][]string{"threat": threats, "mitigation": mitigations} {
		want := map[string]int{"threat": 18, "mitigation": 10}[name]
		if len(table) != want {
			t.Errorf("%d rows of %ss, want %d", len(table), name, want)
		}
		for i, row := range table {
			if row[0] != strconv.Itoa(i+1) {
				t.Errorf("%s %d is numbered %s", name, i+1, row[0])
			}
			proofs := codes(row[3])
			if len(proofs) == 0 && !strings.HasPrefix(row[2], "left to the cluster's operator") {
				t.Errorf("%s %s names no test, and is not left to the cluster's operator", name, row[0])
			}
			for _, proof := range proofs {
				if !known[proof] {
					t.Errorf("%s %s: there is no test %q", name, row[0], proof)
				}
			}
		}
	}
}

// TestTheAuditAndTheDocumentSpeakOfTheSameThreats in both directions, and the
// document lists every row.
func TestTheAuditAndTheDocumentSpeakOfTheSameThreats(t *testing.T) {
	for i, row := range tablesOf(t, "threat") {
		var want []string
		for _, area := range areas {
			for _, c := range area.checks {
				if slices.Contains(c.threats, i+1) {
					want = append(want, c.id)
				}
			}
		}
		if diff := cmp.Diff(want, codes(row[4])); diff != "" {
			t.Errorf("rows of the audit about threat %d (-audit +document):\n%s", i+1, diff)
		}
	}
	var want, got [][]string
	for _, area := range areas {
		for _, c := range area.checks {
			want = append(want, []string{"`" + c.id + "`", c.title})
		}
	}
	got = tablesOf(t, "row")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows of the audit (-audit +document):\n%s", diff)
	}
}

// tablesOf returns the body of the table whose first or second heading is the
// word.
func tablesOf(t *testing.T, word string) [][]string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	inside, head := false, true
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") {
			inside, head = false, true
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case head:
			inside, head = cells[0] == word || len(cells) > 1 && cells[0] == "#" && cells[1] == word, false
		case inside && !strings.HasPrefix(cells[0], "---"):
			found = append(found, cells)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no table of %ss", document, word)
	}
	return found
}

var code = regexp.MustCompile("`([^`]+)`")

func codes(cell string) []string {
	var found []string
	for _, match := range code.FindAllStringSubmatch(cell, -1) {
		found = append(found, match[1])
	}
	return found
}

// testNames are the functions of all tests and the texts of all specs, with
// those around them: "Describe > Context > It". What is not a literal in a
// text is written as an ellipsis.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && (strings.HasPrefix(d.Name.Name, "Test") || strings.HasPrefix(d.Name.Name, "Fuzz")) {
					known[d.Name.Name] = true
				}
			case *ast.GenDecl:
				specs(d, "", known)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// specs walks a tree of specs.
func specs(node ast.Node, around string, known map[string]bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || n == node {
			return true
		}
		name, ok := call.Fun.(*ast.Ident)
		if !ok || !slices.Contains([]string{"Describe", "Context", "When", "It"}, name.Name) || len(call.Args) == 0 {
			return true
		}
		text := around + literal(call.Args[0])
		if name.Name == "It" {
			known[text] = true
			return false
		}
		specs(call, text+" > ", known)
		return false
	})
}

var verb = regexp.MustCompile(`%[+#]?[a-z]`)

// literal is the text of an expression, with an ellipsis for what is not known
// before it runs.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	case *ast.ParenExpr:
		return literal(e.X)
	case *ast.CallExpr:
		if len(e.Args) > 0 {
			if format, ok := e.Args[0].(*ast.BasicLit); ok {
				return verb.ReplaceAllString(literal(format), "…")
			}
		}
	}
	return "…"
}
