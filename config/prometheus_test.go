// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestAlertsAskForMetricsThatExist: a renamed metric would leave an alert that
// never fires, and nobody would notice.
func TestAlertsAskForMetricsThatExist(t *testing.T) {
	source := goSource(t, "certs", "controller", "conversion", "webhooks")
	expressions := alertExpressions(t)
	if len(expressions) == 0 {
		t.Fatal("no alerts")
	}
	ours := regexp.MustCompile(`backupjob_[a-z_]+`)
	for alert, expression := range expressions {
		for _, metric := range ours.FindAllString(expression, -1) {
			// The controller puts the prefix in front by itself.
			if !strings.Contains(source, `"`+metric+`"`) && !strings.Contains(source, `"`+strings.TrimPrefix(metric, "backupjob_")+`"`) {
				t.Errorf("alert %s asks for %s, which nothing exports", alert, metric)
			}
		}
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
