// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package exit carries the exit code of a command in its error.
package exit

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes of every command.
const (
	// OK means that all is well.
	OK = 0
	// Failed means that something was denied, was not found or went wrong.
	Failed = 1
	// Misused means that the command line is wrong or an input cannot be read.
	Misused = 2
)

// ErrSaid is a failure whose reason stands in the output already. Nothing more
// is printed for it.
var ErrSaid = errors.New("see the output")

type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// Misuse gives err the exit code Misused; nil stays nil.
func Misuse(err error) error {
	if err == nil {
		return nil
	}
	return misuse{err}
}

// Misusef is Misuse of a new error.
func Misusef(format string, args ...any) error {
	return misuse{fmt.Errorf(format, args...)}
}

// Code is the exit code of a command that returned err. In a joined error one
// misuse is enough.
func Code(err error) int {
	switch {
	case err == nil:
		return OK
	case errors.As(err, &misuse{}):
		return Misused
	}
	return Failed
}

// NoArgs is cobra.NoArgs as a misuse.
func NoArgs(cmd *cobra.Command, args []string) error { return Misuse(cobra.NoArgs(cmd, args)) }

// OneName takes exactly one argument, the name of an object.
func OneName(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return Misusef("%s takes one name such as bj/nightly or mb/nightly, but got %d; 'kubectl backup list' shows the names",
		cmd.CommandPath(), len(args))
}
