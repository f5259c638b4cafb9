// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"

	"example.com/backupjob-operator/api/agent"
)

// terminationLog finds where the result goes. It looks at the arguments
// itself, so that also a command line that cannot be parsed (an agent older
// than the controller, say) is reported.
func terminationLog(args []string) string {
	const flag = "--" + agent.FlagTerminationLog
	for i, arg := range args {
		if path, found := strings.CutPrefix(arg, flag+"="); found {
			return path
		}
		if arg == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// report writes the result where the kubelet reads it. Without a path there
// is nobody to report to.
func report(path string, result agent.Result) error {
	if path == "" {
		return nil
	}
	if err := os.WriteFile(path, result.Encode(), 0o644); err != nil {
		return fmt.Errorf("write the termination message: %w", err)
	}
	return nil
}

// oneLine is an error as one line.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
