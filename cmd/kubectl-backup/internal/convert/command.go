// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package convert is the command that rewrites manifests in another version.
package convert

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/manifest"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

const long = `Rewrite manifests in another version of the API, without a cluster.

 Nothing is lost on the way, in either direction: it is the code by which the
operator's conversion webhook converts. The order of the fields, comments and
quotes stay as far as the other version has the fields. Nothing is judged; 'kubectl
backup lint' does that.

 Manifests of example.com/v1, from the operators that came before this one, are
converted too. Of an object read from a cluster only what its author wrote is taken
over: the new one is another object. Documents of other kinds pass through
unchanged. Notes on stderr tell of both.

 Refused is what would lose something: a field that is there twice, or that only
the other version has. Nothing is written unless everything can be.

 The exit code is 0 if everything is converted, 1 if something cannot be and 2 if an
input cannot be read.`

const example = `  # Rewrite a file for today's version
  kubectl backup convert -f nightly.yaml --to v1 > nightly-v1.yaml

  # Take over the objects of the operators before this one
  kubectl get mysqlbackups.example.com -A -o yaml | kubectl backup convert -f - --to v1 > shop.yaml

  # Show a live object as its old version would have it
  kubectl get bj nightly -o yaml | kubectl backup convert -f - --to v1alpha1`

// Options are what the command line says.
type Options struct {
	Files     []string
	Recursive bool
	To        string
	Format    output.Format

	In          io.Reader
	Out, ErrOut io.Writer
}

// versions are what --to names.
var versions = map[string]string{
	"v1":                                 backupv1.GroupVersion.String(),
	"v1alpha1":                           backupv1alpha1.GroupVersion.String(),
	backupv1.GroupVersion.String():       backupv1.GroupVersion.String(),
	backupv1alpha1.GroupVersion.String(): backupv1alpha1.GroupVersion.String(),
}

// Command is 'kubectl backup convert'.
func Command() (*cobra.Command, error) {
	o := &Options{}
	cmd := &cobra.Command{
		Use:     "convert -f FILE --to=VERSION",
		Short:   "Rewrite manifests in another version of the API",
		Long:    long,
		Example: example,
		Args:    exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.In, o.Out, o.ErrOut = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return o.Run()
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	if err := manifest.AddFlag(cmd, &o.Files); err != nil {
		return nil, err
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.Recursive, "recursive", "R", false, "If present, read the folders below a named one too.")
	flags.StringVar(&o.To, "to", "", "Version to convert to. One of: (v1, v1alpha1).")
	to := cobra.FixedCompletions([]string{"v1", "v1alpha1"}, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("to", to); err != nil {
		return nil, err
	}
	return cmd, o.Format.AddFlag(cmd, output.YAML, output.JSON)
}

// Run converts the manifests.
func (o *Options) Run() error {
	to, ok := versions[o.To]
	switch {
	case len(o.Files) == 0:
		return exit.Misusef("name what to convert: -f FILE, or -f - for standard input")
	case !ok:
		return exit.Misusef("say to which version: --to=v1 or --to=v1alpha1")
	}
	documents, err := manifest.Read(o.Files, o.Recursive, o.In)
	if err != nil {
		return exit.Misuse(err)
	}
	var all []*converted
	var errs []error
	for _, document := range documents {
		one, err := convertDocument(document, to)
		all, errs = append(all, one), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	text, notes, err := o.render(all)
	for _, note := range notes {
		_, _ = fmt.Fprintln(o.ErrOut, "Note: "+note) // the answer is worth more than its notes
	}
	if err != nil {
		return err
	}
	_, err = o.Out.Write(text)
	return err
}
