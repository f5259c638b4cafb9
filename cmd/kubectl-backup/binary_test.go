// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// built is the command as the Makefile builds it.
var built = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "kubectl-backup-test-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, "kubectl-backup")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.version=v1.2.3", "-o", binary, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if binary, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(code)
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	return cmd
}

func TestExitCodesOfTheBuiltCommand(t *testing.T) {
	cases := map[string]struct {
		args   []string
		stdin  string
		want   int
		stdout string // a part of it
		stderr string
	}{
		"no command":                             {args: nil, want: 0, stdout: "Cluster Commands:"},
		"the version":                            {args: []string{"version"}, want: 0, stdout: "kubectl-backup v1.2.3 ("},
		"all accepted":                           {args: []string{"lint", "-f", "testdata/manifests/old.yaml"}, want: 0, stdout: "2 accepted"},
		"a warning":                              {args: []string{"lint", "-f", "testdata/manifests/warned.yaml"}, want: 0, stdout: "1 with warnings"},
		"a warning that counts":                  {args: []string{"lint", "--strict", "-f", "testdata/manifests/warned.yaml"}, want: 1, stdout: "1 with warnings"},
		"something denied":                       {args: []string{"lint", "-f", "testdata/manifests/faults.yaml"}, want: 1, stdout: "5 denied"},
		"an input that is not":                   {args: []string{"lint", "-f", "testdata/none.yaml"}, want: 2, stderr: "none.yaml"},
		"an input that is broken":                {args: []string{"lint", "-f", "-"}, stdin: "a: [", want: 2, stderr: "-:1: is not valid YAML"},
		"a folder without manifests":             {args: []string{"lint", "-f", "testdata/golden"}, want: 2, stderr: "with -R"},
		"a conversion":                           {args: []string{"convert", "-f", "-", "--to", "v1"}, stdin: old, want: 0, stdout: "retention:"},
		"a conversion to nowhere":                {args: []string{"convert", "-f", "-", "--to", "v3"}, stdin: old, want: 2, stderr: "--to=v1"},
		"a conversion of the older":              {args: []string{"convert", "-f", "testdata/manifests/older.yaml", "--to", "v1"}, want: 0, stderr: "from the operators before this one"},
		"a schedule":                             {args: []string{"schedule", "@daily"}, want: 0, stdout: "Runs at 00:00 every day"},
		"a schedule that is wrong":               {args: []string{"schedule", "abc"}, want: 1, stderr: "error: schedule must"},
		"a zone that is wrong":                   {args: []string{"schedule", "@daily", "--time-zone", "CST"}, want: 1, stderr: "error: time zone must"},
		"a number that is wrong":                 {args: []string{"schedule", "@daily", "-n", "many"}, want: 2, stderr: "invalid argument"},
		"a number below zero":                    {args: []string{"schedule", "@daily", "-n", "-1"}, want: 2, stderr: "-n must be"},
		"an unknown command":                     {args: []string{"dump"}, want: 2, stderr: "unknown command"},
		"an unknown flag":                        {args: []string{"lint", "--fast"}, want: 2, stderr: "unknown flag"},
		"no cluster":                             {args: []string{"run", "bj/nightly"}, want: 2, stderr: "no cluster is known"},
		"a kubeconfig that is broken":            {args: []string{"list", "--kubeconfig", "testdata/manifests/old.yaml"}, want: 2, stderr: "read the kubeconfig"},
		"a server that is not there":             {args: []string{"list", "--server", "https://127.0.0.1:1"}, want: 1, stderr: "refused"},
		"an audit of a server that is not there": {args: []string{"audit", "--server", "https://127.0.0.1:1"}, want: 1, stderr: "refused"},
		"a kind that is none":                    {args: []string{"history", "pod/nightly", "--server", "https://127.0.0.1:1"}, want: 2, stderr: "no kind of ours"},
		"a conversion that loses":                {args: []string{"convert", "-f", "testdata/manifests/mixed-up.yaml", "--to", "v1"}, want: 1, stderr: "would be lost"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := runBuilt(t, tc.stdin, tc.args...)
			if code != tc.want {
				t.Errorf("got exit code %d, want %d", code, tc.want)
			}
			if !strings.Contains(stdout, tc.stdout) {
				t.Errorf("got stdout %q, want it to hold %q", stdout, tc.stdout)
			}
			if !strings.Contains(stderr, tc.stderr) || tc.stderr == "" && stderr != "" {
				t.Errorf("got stderr %q, want it to hold %q", stderr, tc.stderr)
			}
		})
	}
}

func runBuilt(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := command(t, args...)
	var out, errOut strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || ok && !exited.Exited() {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

const old = `{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob","metadata":{"name":"a"},
"spec":{"databaseHost":"db","schedule":"@daily","retentionDays":3}}`

// TestClockChanges runs every case of the shared list through the command.
func TestClockChanges(t *testing.T) {
	data, err := os.ReadFile("testdata/clock-changes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Schedule, Zone, From, To, Why string
		Runs                          []string
	}
	if err := yaml.UnmarshalStrict(data, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, tc := range cases {
		t.Run(tc.Why, func(t *testing.T) {
			out, err := command(t, "schedule", tc.Schedule, "--time-zone", tc.Zone, "--from", tc.From, "--to", tc.To, "-o", "json").Output()
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Runs []string }
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.Runs, got.Runs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCompletion asks as kubectl does.
func TestCompletion(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"commands":         {args: []string{"l"}, want: "lint\tJudge manifests without a cluster, as admission would\nlist\tList BackupJobs and MySQLBackups\n:4\n"},
		"formats":          {args: []string{"lint", "-o", ""}, want: "text\njson\n:4\n"},
		"versions":         {args: []string{"convert", "--to", ""}, want: "v1\nv1alpha1\n:4\n"},
		"names, no server": {args: []string{"run", ""}, want: ":4\n"},
		"files":            {args: []string{"lint", "-f", ""}, want: "json\nyaml\nyml\n:8\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := command(t, append([]string{"__complete"}, tc.args...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
