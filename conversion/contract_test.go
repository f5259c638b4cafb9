// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatIsSaidToProveTheContractIsThere keeps the package's text true.
func TestWhatIsSaidToProveTheContractIsThere(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	tests := source(t, "*_test.go")
	named := regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w+`).FindAllString(string(text), -1)
	if len(named) < 15 {
		t.Fatalf("only %d tests are named", len(named))
	}
	for _, name := range named {
		if !strings.Contains(tests, "\nfunc "+name+"(") {
			t.Errorf("%s is not there", name)
		}
	}
	integration := source(t, "../test/integration/*_test.go")
	for point := 1; point <= 6; point++ {
		if !regexp.MustCompile(fmt.Sprintf(`Describe\("Contract [0-9 and]*\b%d\b`, point)).MatchString(integration) {
			t.Errorf("nothing in test/integration is called Contract %d", point)
		}
	}
}

func source(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
