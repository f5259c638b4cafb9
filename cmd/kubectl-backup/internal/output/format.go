// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package output is how the commands write what they found: the formats that
// -o names, and tables like kubectl's.
package output

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// The formats of all commands. Each command takes some of them.
const (
	Table = "table"
	Wide  = "wide"
	Text  = "text"
	JSON  = "json"
	YAML  = "yaml"
	Name  = "name"
)

// Format is the value of -o.
type Format struct {
	value   string
	allowed []string
}

// AddFlag adds -o with the formats that a command takes. The first is the
// default.
func (f *Format) AddFlag(cmd *cobra.Command, allowed ...string) error {
	f.value, f.allowed = allowed[0], allowed
	cmd.Flags().VarP(f, "output", "o", "Output format. One of: ("+strings.Join(allowed, ", ")+").")
	return cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// String returns the format.
func (f *Format) String() string { return f.value }

// Set takes one of the formats.
func (f *Format) Set(value string) error {
	if !slices.Contains(f.allowed, value) {
		return fmt.Errorf("must be one of %s", strings.Join(f.allowed, ", "))
	}
	f.value = value
	return nil
}

// Type is the word for the value in help texts.
func (f *Format) Type() string { return "string" }

// WriteJSON writes a value as kubectl writes objects.
func WriteJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "    ")
	// People read this: '<' is easier than its escape.
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// WriteYAML writes a value as kubectl writes objects.
func WriteYAML(w io.Writer, value any) error {
	data, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
