// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build ran

package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryNamedTestHasPassed reads what the suites left in the folder RAN: the
// output of "go test -v", and ginkgo's reports. A test that is left out proves
// nothing to a reviewer.
func TestEveryNamedTestHasPassed(t *testing.T) {
	passed := passedTests(t, os.Getenv("RAN"))
	for name, table := range map[string][][]string{"threat": tablesOf(t, "threat"), "mitigation": tablesOf(t, "mitigation")} {
		for _, row := range table {
			for _, proof := range codes(row[3]) {
				text := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(proof), "…", ".*") + "$")
				if !slices.ContainsFunc(passed, text.MatchString) {
					t.Errorf("%s %s: %q has not passed", name, row[0], proof)
				}
			}
		}
	}
}

var pass = regexp.MustCompile(`(?m)^ *--- PASS: (\S+)`)

// passedTests are the names of all tests and specs that passed.
func passedTests(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("RAN=%q is no folder with the output of the suites; 'make test' makes one (%v)", folder, err)
	}
	var passed []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(file) == ".json" {
			passed = append(passed, passedSpecs(t, data)...)
			continue
		}
		for _, match := range pass.FindAllSubmatch(data, -1) {
			passed = append(passed, string(match[1]))
		}
	}
	return passed
}

func passedSpecs(t *testing.T, data []byte) (passed []string) {
	t.Helper()
	var reports []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string
			LeafNodeText, State     string
		}
	}
	if err := json.Unmarshal(data, &reports); err != nil {
		t.Fatal(err)
	}
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			if spec.State == "passed" {
				passed = append(passed, strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " > "))
			}
		}
	}
	return passed
}
