// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestWrongCommandLinesAreRefusedWithAWayOut(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"an unknown subcommand":           {[]string{"frobnicate"}, `unknown command "frobnicate"`},
		"an argument":                     {[]string{"webhook", "now"}, `unknown command "now"`},
		"an unknown flag":                 {[]string{"controller", "--nope"}, "'manager controller --help' lists the flags"},
		"a port that cannot be":           {[]string{"webhook", "--port=70000"}, "--port must be from 1 to 65535, not 70000"},
		"no folder for the certificate":   {[]string{"webhook", "--cert-dir="}, "--cert-dir must name the folder"},
		"a negative delay":                {[]string{"webhook", "--shutdown-delay=-1s"}, "--shutdown-delay may not be negative"},
		"a client CA without names":       {[]string{"webhook", "--admission-client-ca=/ca.crt"}, "go together"},
		"client names without a CA":       {[]string{"webhook", "--admission-client-name=kube-apiserver"}, "go together"},
		"an unknown mode":                 {[]string{"webhook", "--reference-authorization=maybe"}, "--reference-authorization must be enforce, warn or off, not \"maybe\""},
		"an unknown level":                {[]string{"webhook", "--log-level=loud"}, "--log-level must be debug, info, warn or error, not \"loud\""},
		"a level that would hide all":     {[]string{"webhook", "--log-level=fatal"}, "--log-level must be"},
		"an unknown format":               {[]string{"controller", "--log-format=xml"}, "--log-format must be json or text, not \"xml\""},
		"nobody who works":                {[]string{"controller", "--max-concurrent-reconciles=0"}, "must be at least 1"},
		"a base delay of zero":            {[]string{"controller", "--retry-base-delay=0"}, "--retry-base-delay must be more than zero"},
		"a longest delay below the first": {[]string{"controller", "--retry-base-delay=1m", "--retry-max-delay=1s"}, "at least as long"},
		"a negative fixed delay":          {[]string{"controller", "--retry-fixed-delay=-30s"}, "--retry-fixed-delay may not be negative"},
		"no time for clean-up":            {[]string{"controller", "--cleanup-timeout=0"}, "--cleanup-timeout must be more than zero"},
		"no requests":                     {[]string{"controller", "--kube-api-qps=0"}, "--kube-api-qps may not be zero"},
		"no burst":                        {[]string{"controller", "--kube-api-burst=0"}, "--kube-api-burst must be at least 1"},
		"an empty image":                  {[]string{"controller", "--agent-image="}, "may not be empty"},
		"no way to the API server":        {[]string{"controller", "--kubeconfig=/does/not/exist"}, "/does/not/exist"},
		"no way for reference checks":     {[]string{"webhook", "--kubeconfig=/does/not/exist"}, "or set --reference-authorization=off"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(tc.args, &stdout, &stderr); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.HasPrefix(stderr.String(), "Error: ") || !strings.Contains(stderr.String(), tc.want) {
				t.Errorf("says %q, want %q in it", stderr.String(), tc.want)
			}
			if strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0 {
				t.Errorf("says more than one line:\n%s%s", stderr.String(), stdout.String())
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	cases := map[string]struct {
		args []string
		want []string
	}{
		"the root lists both processes":        {[]string{"--help"}, []string{"webhook", "controller", "version"}},
		"the webhook's flags":                  {[]string{"webhook", "--help"}, []string{"--reference-authorization mode", "--cert-dir folder", "--shutdown-delay"}},
		"the controller's flags":               {[]string{"controller", "--help"}, []string{"--retry-fixed-delay", "--namespaces names", "go run ./cmd/manager controller"}},
		"the version as a flag":                {[]string{"--version"}, []string{"backupjob-operator ", "go1."}},
		"the version as a subcommand, as well": {[]string{"version"}, []string{"backupjob-operator ", "go1."}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(tc.args, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
				t.Errorf("exit code %d and %q", code, stderr.String())
			}
			if err := wantText(stdout.String(), tc.want...); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEveryFlagIsExplained(t *testing.T) {
	for _, command := range newCommand().Commands() {
		if command.Name() == "help" {
			continue
		}
		for line := range strings.Lines(command.Flags().FlagUsages()) {
			if len(strings.TrimSpace(line)) > 200 {
				t.Errorf("%s: this line is too long to read:\n%s", command.Name(), line)
			}
		}
	}
}

func TestControllerDefaults(t *testing.T) {
	got := parseController(t)
	if got.MaxConcurrentReconciles != 4 || got.RetryBaseDelay != 5*time.Millisecond || got.RetryMaxDelay != 5*time.Minute ||
		got.RetryFixedDelay != 0 || got.leaderElect || got.namespaces != nil || got.CleanupTimeout != 10*time.Minute {
		t.Errorf("defaults changed: %+v", got)
	}
	images := []string{got.AgentImage, got.MySQLImage, got.MariaDBImage}
	want := []string{"backup.example.com/backupjob-operator:v0.1.0", "mysql:8.4.6", "mariadb:11.8.3"}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if got.Clock == nil {
		t.Error("the controller has no clock")
	}
}

func TestNamespacesAreAList(t *testing.T) {
	got := parseController(t, "--namespaces=a,b", "--namespaces=c")
	if diff := cmp.Diff([]string{"a", "b", "c"}, got.namespaces); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

// TestTheManifestsStartTheProcesses: a flag that was renamed here must not be
// found out by a Pod that does not start.
func TestTheManifestsStartTheProcesses(t *testing.T) {
	manifest := func(name string) corev1.Container {
		data, err := os.ReadFile(filepath.Join("..", "..", "config", "manager", name))
		if err != nil {
			t.Fatal(err)
		}
		var deployment appsv1.Deployment
		if err := yaml.UnmarshalStrict(data, &deployment); err != nil {
			t.Fatal(err)
		}
		return deployment.Spec.Template.Spec.Containers[0]
	}
	webhook, controller := manifest("webhook.yaml"), manifest("controller.yaml")
	if controller.Args[0] != "controller" || webhook.Args[0] != "webhook" {
		t.Fatalf("the manifests start %q and %q", controller.Args[0], webhook.Args[0])
	}
	got := parseController(t, controller.Args[1:]...)
	if !got.leaderElect || got.leaderElectionNamespace != "$(POD_NAMESPACE)" {
		t.Errorf("the controller's manifest does not elect a leader in its own namespace")
	}
	if got.AgentImage != controller.Image {
		t.Errorf("the agent comes from %s, the operator from %s", got.AgentImage, controller.Image)
	}
	door := parseWebhook(t, webhook.Args[1:]...)
	if door.references != "enforce" {
		t.Errorf("the manifest sets reference authorization to %s", door.references)
	}
	checkPorts(t, "webhook", webhook, map[string]string{"https": ":9443", "metrics": door.metricsAddress, "health": door.healthAddress})
	checkPorts(t, "controller", controller, map[string]string{"metrics": got.metricsAddress, "health": got.healthAddress})
}

func checkPorts(t *testing.T, name string, container corev1.Container, want map[string]string) {
	t.Helper()
	declared := map[string]string{}
	for _, port := range container.Ports {
		declared[port.Name] = ":" + strconv.Itoa(int(port.ContainerPort))
	}
	if diff := cmp.Diff(want, declared); diff != "" {
		t.Errorf("ports of the %s (-served +declared):\n%s", name, diff)
	}
}

func parseController(t *testing.T, args ...string) controllerOptions {
	t.Helper()
	var got controllerOptions
	parse(t, newControllerCommand(func(_ context.Context, o controllerOptions, _ logr.Logger) error {
		got = o
		return nil
	}), args)
	return got
}

func parseWebhook(t *testing.T, args ...string) webhookOptions {
	t.Helper()
	var got webhookOptions
	parse(t, newWebhookCommand(func(_ context.Context, o webhookOptions, _ logr.Logger) error {
		got = o
		return nil
	}), args)
	return got
}

func parse(t *testing.T, command *cobra.Command, args []string) {
	t.Helper()
	command.SetArgs(slices.Clone(args))
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
}
