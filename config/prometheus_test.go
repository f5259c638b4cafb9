// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestAlertsAskForMetricsThatExist: a renamed metric would leave an alert that
// never fires, and nobody would notice.
func TestAlertsAskForMetricsThatExist(t *testing.T) {
	expressions := alertExpressions(t)
	if len(expressions) == 0 {
		t.Fatal("no alerts")
	}
	asksForMetricsThatExist(t, expressions)
}

// TestTheDashboardAsksForMetricsThatExist is the same of Grafana. That its
// queries answer is for test/e2e, with a real Prometheus.
func TestTheDashboardAsksForMetricsThatExist(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("grafana", "backups.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	expressions, ids := map[string]string{}, map[int]bool{}
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %d, %q: its id is taken, or it has no title or no query", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			expressions[panel.Title] += target.Expr + "\n"
		}
	}
	asksForMetricsThatExist(t, expressions)
	if rendered := kustomize(t, "grafana"); !bytes.Contains(rendered, []byte(`grafana_dashboard: "1"`)) {
		t.Errorf("the sidecar does not find this:\n%s", rendered)
	}
}

func asksForMetricsThatExist(t *testing.T, expressions map[string]string) {
	t.Helper()
	source := goSource(t, "certs", "controller", "conversion", "webhooks")
	ours := regexp.MustCompile(`backupjob_[a-z_]+`)
	for who, expression := range expressions {
		for _, metric := range ours.FindAllString(expression, -1) {
			metric = strings.TrimSuffix(metric, "_bucket")
			// The controller puts the prefix in front by itself.
			if !strings.Contains(source, `"`+metric+`"`) && !strings.Contains(source, `"`+strings.TrimPrefix(metric, "backupjob_")+`"`) {
				t.Errorf("%s asks for %s, which nothing exports", who, metric)
			}
		}
	}
}

// TestAlertsFireWhenTheyShould runs testdata/alerts_test.yaml with promtool.
// Every alert has to be in it.
func TestAlertsFireWhenTheyShould(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatalf("promtool is missing; it is in Debian's package prometheus: %v", err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var rule struct{ Spec any }
	for _, document := range documents(t, kustomize(t, "prometheus")) {
		if !bytes.Contains(document, []byte("kind: PrometheusRule")) {
			continue
		}
		if err := yaml.Unmarshal(document, &rule); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := yaml.Marshal(rule.Spec)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(filepath.Join("testdata", "alerts_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for alert := range alertExpressions(t) {
		if !bytes.Contains(tests, []byte("alertname: "+alert+"\n    exp_alerts:\n    - ")) {
			t.Errorf("no test lets %s fire", alert)
		}
	}
	write("rules.yaml", rules)
	write("tests.yaml", tests)
	out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", filepath.Join(dir, "tests.yaml")).CombinedOutput()
	if err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

func alertExpressions(t *testing.T) map[string]string {
	t.Helper()
	expressions := map[string]string{}
	for _, document := range documents(t, kustomize(t, "prometheus")) {
		var rule struct {
			Kind string
			Spec struct {
				Groups []struct {
					Rules []struct{ Alert, Expr string }
				}
			}
		}
		if err := yaml.Unmarshal(document, &rule); err != nil {
			t.Fatal(err)
		}
		for _, group := range rule.Spec.Groups {
			for _, r := range group.Rules {
				expressions[r.Alert] = r.Expr
			}
		}
	}
	return expressions
}

func goSource(t *testing.T, packages ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range packages {
		files, err := filepath.Glob(filepath.Join("..", name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
	}
	return all.String()
}
