// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"
)

func TestLogLines(t *testing.T) {
	var written bytes.Buffer
	log, err := (&logOptions{level: "info", format: "json"}).setUp(&written)
	if err != nil {
		t.Fatal(err)
	}
	log.WithName("admission").Info("Decided", "allowed", true, "took", 3*time.Millisecond)
	log.V(1).Info("Not at this level")
	log.Error(errors.New("no route"), "Cannot ask")
	klog.Background().Info("From client-go")

	lines := strings.Split(strings.TrimSpace(written.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want three:\n%s", len(lines), written.String())
	}
	var first map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	at, ok := first["time"].(string)
	if _, err := time.Parse(time.RFC3339, at); !ok || err != nil || !strings.HasSuffix(at, "Z") {
		t.Errorf("time is %v, want RFC 3339 in UTC", first["time"])
	}
	for key, want := range map[string]any{"level": "info", "logger": "admission", "msg": "Decided", "allowed": true, "took": "3ms"} {
		if first[key] != want {
			t.Errorf("%s is %v, want %v", key, first[key], want)
		}
	}
	if err := wantText(lines[1], `"level":"error"`, `"error":"no route"`); err != nil {
		t.Error(err)
	}
}

func TestDebugShowsEveryStep(t *testing.T) {
	var written bytes.Buffer
	log, err := (&logOptions{level: "debug", format: "text"}).setUp(&written)
	if err != nil {
		t.Fatal(err)
	}
	log.V(1).Info("Deciding")
	if err := wantText(written.String(), "debug", "Deciding"); err != nil {
		t.Error(err)
	}
}
