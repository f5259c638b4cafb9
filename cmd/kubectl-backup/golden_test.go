// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// noon is eight days before a clock change in Europe.
var noon = time.Date(2027, 3, 20, 12, 0, 0, 0, time.UTC)

// execute runs one command line at noon.
func execute(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	// No test may meet a real cluster.
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var out, errOut bytes.Buffer
	code = run(t.Context(), args, clocktesting.NewFakeClock(noon), strings.NewReader(stdin), &out, &errOut)
	return out.String(), errOut.String(), code
}

// TestGolden pins what people see. A changed file is to be read by a person.
func TestGolden(t *testing.T) {
	manifests := func(name string) string { return "testdata/manifests/" + name }
	cases := map[string]struct {
		args  []string
		stdin string
	}{
		"help":            {args: []string{"--help"}},
		"help-list":       {args: []string{"list", "--help"}},
		"help-run":        {args: []string{"help", "run"}},
		"help-history":    {args: []string{"history", "-h"}},
		"help-audit":      {args: []string{"audit", "--help"}},
		"help-lint":       {args: []string{"lint", "--help"}},
		"help-migrate":    {args: []string{"migrate"}},
		"help-plan":       {args: []string{"migrate", "plan", "--help"}},
		"help-migrating":  {args: []string{"migrate", "run", "--help"}},
		"help-verify":     {args: []string{"migrate", "verify", "--help"}},
		"help-finish":     {args: []string{"migrate", "finish", "--help"}},
		"help-schedule":   {args: []string{"schedule", "--help"}},
		"help-convert":    {args: []string{"convert", "--help"}},
		"help-completion": {args: []string{"completion", "--help"}},
		"options":         {args: []string{"options"}},
		"completion":      {args: []string{"completion"}},

		"lint-old":          {args: []string{"lint", "-f", manifests("old.yaml")}},
		"lint-older":        {args: []string{"lint", "-f", manifests("older.yaml")}},
		"lint-faults":       {args: []string{"lint", "-f", manifests("faults.yaml")}},
		"lint-faults-json":  {args: []string{"lint", "-f", manifests("faults.yaml"), "-o", "json"}},
		"lint-metadata":     {args: []string{"lint", "-f", manifests("metadata.yaml")}},
		"lint-warned":       {args: []string{"lint", "-f", manifests("warned.yaml")}},
		"lint-warned-json":  {args: []string{"lint", "-f", manifests("warned.yaml"), "-o", "json"}},
		"lint-strict":       {args: []string{"lint", "-f", manifests("warned.yaml"), "--strict"}},
		"lint-list":         {args: []string{"lint", "-f", manifests("list.yaml")}},
		"lint-foreign":      {args: []string{"lint", "-f", manifests("foreign.yaml")}},
		"lint-foreign-json": {args: []string{"lint", "-f", manifests("foreign.yaml"), "-o", "json"}},
		"lint-broken":       {args: []string{"lint", "-f", manifests("broken.yaml")}},
		"lint-folder":       {args: []string{"lint", "-f", manifests("folder")}},
		"lint-folders":      {args: []string{"lint", "-f", manifests("folder"), "-R"}},
		"lint-stdin":        {args: []string{"lint", "-f", "-"}, stdin: "kind: BackupJob\nmetadata: {name: a}\n"},
		"lint-nothing":      {args: []string{"lint"}},

		"convert-old":        {args: []string{"convert", "-f", manifests("old.yaml"), "--to", "v1"}},
		"convert-older":      {args: []string{"convert", "-f", manifests("older.yaml"), "--to", "v1"}},
		"convert-older-live": {args: []string{"convert", "-f", manifests("older-live.yaml"), "--to", "v1"}},
		"convert-mixed-up":   {args: []string{"convert", "-f", manifests("mixed-up.yaml"), "--to", "v1"}},
		"convert-commented":  {args: []string{"convert", "-f", manifests("commented.yaml"), "--to", "v1"}},
		"convert-same":       {args: []string{"convert", "-f", manifests("commented.yaml"), "--to", "v1alpha1"}},
		"convert-list":       {args: []string{"convert", "-f", manifests("list.yaml"), "--to", "v1"}},
		"convert-lost":       {args: []string{"convert", "-f", manifests("lost.yaml"), "--to", "v1alpha1"}},
		"convert-json":       {args: []string{"convert", "-f", manifests("old.yaml"), "--to", "v1", "-o", "json"}},
		"convert-from-json":  {args: []string{"convert", "-f", manifests("folder/below/b.json"), "--to", "v1alpha1"}},
		"convert-faults":     {args: []string{"convert", "-f", manifests("faults.yaml"), "--to", "v1"}},
		"convert-broken":     {args: []string{"convert", "-f", manifests("broken.yaml"), "--to", "v1"}},
		"convert-nowhere":    {args: []string{"convert", "-f", manifests("old.yaml")}},

		"schedule":              {args: []string{"schedule", "30 2 * * *", "--time-zone", "Europe/Berlin", "-n", "10"}},
		"schedule-json":         {args: []string{"schedule", "30 2 * * *", "--time-zone", "Europe/Berlin", "-o", "json"}},
		"schedule-window":       {args: []string{"schedule", "0 */6 * * *", "--from", "2027-03-20", "--to", "2027-03-21 06:00"}},
		"schedule-empty-window": {args: []string{"schedule", "@yearly", "--from", "2027-03-20", "--to", "2027-03-21"}},
		"schedule-notes":        {args: []string{"schedule", "*/35 2 1-7 * 1", "--time-zone", "Etc/GMT+8"}},
		"schedule-wrong":        {args: []string{"schedule", "0 2 * *"}},
		"schedule-wrong-zone":   {args: []string{"schedule", "0 2 * * *", "--time-zone", "Europe/Berln"}},
		"schedule-never":        {args: []string{"schedule", "0 0 30 2 *"}},
		"schedule-unquoted":     {args: []string{"schedule", "0", "2", "main.go", "root.go"}},
		"schedule-nothing":      {args: []string{"schedule"}},
		"schedule-wrong-time":   {args: []string{"schedule", "@daily", "--from", "tomorrow"}},
		"schedule-backwards":    {args: []string{"schedule", "@daily", "--from", "2027-03-21", "--to", "2027-03-20"}},

		"unknown-command":      {args: []string{"lst"}},
		"unknown-flag":         {args: []string{"list", "--everything"}},
		"unknown-format":       {args: []string{"list", "-o", "xml"}},
		"no-cluster":           {args: []string{"list"}},
		"run-without-name":     {args: []string{"run"}},
		"run-timeout-alone":    {args: []string{"run", "bj/nightly", "--timeout", "5m"}},
		"history-name-and-all": {args: []string{"history", "bj/nightly", "-A"}},
		"history-too-many":     {args: []string{"history", "bj", "nightly"}},
		"migrate-unknown-step": {args: []string{"migrate", "finnish"}},
		"migrate-no-cluster":   {args: []string{"migrate", "plan"}},
		"migrate-bad-method":   {args: []string{"migrate", "run", "--method", "magic"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := execute(t, tc.stdin, tc.args...)
			got := fmt.Sprintf("$ kubectl backup %s\n%s", quoted(tc.args), stdout)
			if stderr != "" {
				got += "--- stderr\n" + stderr
			}
			got += fmt.Sprintf("--- exit code %d\n", code)
			compare(t, filepath.Join("testdata", "golden", name+".txt"), got)
		})
	}
}

func quoted(args []string) string {
	shown := make([]string, len(args))
	for i, arg := range args {
		if shown[i] = arg; strings.ContainsAny(arg, " *") {
			shown[i] = "'" + arg + "'"
		}
	}
	return strings.Join(shown, " ")
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", file, diff)
	}
}
