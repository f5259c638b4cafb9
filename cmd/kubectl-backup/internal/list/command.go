// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package list is the command that lists the objects of our kinds.
package list

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

const long = `List the BackupJobs and MySQLBackups of a namespace, or of all.

 The table says for each object when it runs, how its last run ended and when
the next one is due. The names are those that the other commands take.`

const example = `  # What is backed up in this namespace, and in all of them?
  kubectl backup list
  kubectl backup list -A

  # With the server, the databases and the newest backup
  kubectl backup list -o wide

  # Run everything that a label chooses
  kubectl backup list -l team=shop -o name | xargs -n1 kubectl backup run`

// Options are what the command line says.
type Options struct {
	AllNamespaces bool
	NoHeaders     bool
	Selector      string
	Format        output.Format

	Clock       clock.PassiveClock
	Out, ErrOut io.Writer
}

// Command is 'kubectl backup list'.
func Command(c clock.PassiveClock) (*cobra.Command, error) {
	o, access := &Options{Clock: c}, &cluster.Access{}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List BackupJobs and MySQLBackups",
		Long:    long,
		Example: example,
		Args:    exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			connection, err := access.Connect(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			o.Out, o.ErrOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return o.Run(cmd.Context(), connection)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "If present, list the objects of all namespaces.")
	flags.BoolVar(&o.NoHeaders, "no-headers", false, "If present, leave out the header of the table.")
	flags.StringVarP(&o.Selector, "selector", "l", "", "Label query to filter on, such as team=shop or 'tier in (a, b)'.")
	if err := o.Format.AddFlag(cmd, output.Table, output.Wide, output.JSON, output.YAML, output.Name); err != nil {
		return nil, err
	}
	access.AddFlags(flags)
	return cmd, access.CompleteFlags(cmd)
}

// Run lists the objects. If only one of the kinds can be listed, it shows those
// and returns the error of the other.
func (o *Options) Run(ctx context.Context, c *cluster.Connection) error {
	selector, err := labels.Parse(o.Selector)
	if err != nil {
		return exit.Misuse(fmt.Errorf("-l %s: %w", o.Selector, err))
	}
	choice := []client.ListOption{client.MatchingLabelsSelector{Selector: selector}}
	if !o.AllNamespaces {
		choice = append(choice, client.InNamespace(c.Namespace))
	}
	var objects []unstructured.Unstructured
	var errs []error
	for _, kind := range cluster.Kinds {
		found := cluster.NewList(kind)
		if err := c.Client.List(ctx, found, choice...); err != nil {
			errs = append(errs, cluster.Explain(err))
		}
		objects = append(objects, found.Items...)
	}
	err = errors.Join(errs...)
	if len(errs) == len(cluster.Kinds) {
		return err
	}
	return errors.Join(o.write(objects, c.Namespace), err)
}

func (o *Options) write(objects []unstructured.Unstructured, namespace string) error {
	switch o.Format.String() {
	case output.JSON:
		return output.WriteJSON(o.Out, listOf(objects))
	case output.YAML:
		return output.WriteYAML(o.Out, listOf(objects))
	}
	if len(objects) == 0 {
		where := "in namespace " + namespace
		if o.AllNamespaces {
			where = "in any namespace"
		}
		_, err := fmt.Fprintf(o.ErrOut, "No BackupJobs or MySQLBackups found %s.\n", where)
		return err
	}
	if o.Format.String() == output.Name {
		return writeNames(o.Out, objects)
	}
	rows, err := o.rows(objects)
	if err != nil {
		return err
	}
	return output.WriteTable(o.Out, o.header(), rows)
}

// listOf is the list that kubectl makes of objects of several kinds.
func listOf(objects []unstructured.Unstructured) map[string]any {
	items := make([]any, 0, len(objects))
	for i := range objects {
		items = append(items, objects[i].Object)
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items}
}

func writeNames(w io.Writer, objects []unstructured.Unstructured) error {
	for i := range objects {
		if _, err := fmt.Fprintln(w, cluster.FullName(objects[i].GetKind(), objects[i].GetName())); err != nil {
			return err
		}
	}
	return nil
}
