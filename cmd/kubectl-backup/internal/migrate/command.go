// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package migrate are the commands that take an installed cluster from v1alpha1
// to v1: plan, run, verify and finish.
package migrate

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/cluster"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/exit"
	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

const long = `Take the objects of an installed cluster from v1alpha1 to v1, in four steps:

  plan     look at everything, change nothing, say what stands in the way
  run      have every object stored as v1
  verify   prove that every object reads the same in both versions
  finish   stop serving v1alpha1, rewrite managedFields; --undo takes it back

 Each step refuses, and says why, while the one before it is not done. Each can be
repeated, and interrupted at any time: nothing is lost, and the same command goes
on. Backups run as ever meanwhile.

 With -o json each prints one object with the fields command, dryRun, ok,
resources, managers, checks, problems, notes and next. Progress goes to standard
error: a bar on a terminal, plain lines elsewhere.

 The steps need the rights of a cluster administrator.`

const example = `  # All of it
  kubectl backup migrate plan
  kubectl backup migrate run
  kubectl backup migrate verify
  kubectl backup migrate finish`

const planLong = `Look at everything that a migration will touch, and change nothing.

 For every object the server is asked, in a dry run, to take a write that changes
nothing: one object that a webhook or policy would refuse stops a whole migration.
Every object is read in both versions and compared with what the converter makes
of it. The table counts what was found; below it stand who wrote fields in
v1alpha1, by managedFields, the health of the conversion, the webhooks and their
certificates, and what to do about each thing that stands in the way.

 ACCEPTED and REFUSED count the dry runs, DIFFERENT the objects that do not read
the same in both versions. CHECKSUM is over the name and the spec of every object
in both versions, with v1's defaults filled in: 'verify' prints it too, and the same
value means that nothing was lost or changed in between.

 The exit code is 1 if something blocks the migration.`

const planExample = `  # May the migration begin?
  kubectl backup migrate plan

  # The objects that stand in the way, for a program
  kubectl backup migrate plan -o json | jq -r '.problems[] | "\(.kind) \(.namespace)/\(.name) \(.message)"'`

const runLong = `Have every object stored as v1.

 Where the cluster serves storagemigration.k8s.io/v1, its own migrator does the
work: this command asks for it, waits, and asks again if the cluster could not
take v1alpha1 off the stored versions because the CRD changed meanwhile. Elsewhere
this command itself sends a write that changes nothing for each object, and then
takes v1alpha1 off. --method chooses one of the two.

 An object that is changed by someone else meanwhile is left to them: their write
stores it as v1. A webhook that is away for a while is waited for. An object that is
refused is named; the others are migrated, if the method allows it, and v1alpha1
stays among the stored versions until all are.

 An object that was stored as v1alpha1 shows v1's defaults from then on, and its
generation is higher by one. It means what it meant: unset always meant the default.

 Ctrl-C at any time loses nothing. The cluster's own migration goes on without this
command; 'run' finds it again. The other method starts again from the first object;
one that is stored as v1 already is not stored anew.`

const runExample = `  # Migrate
  kubectl backup migrate run

  # What would be done?
  kubectl backup migrate run --dry-run

  # Without the cluster's own migrator, and gently
  kubectl backup migrate run --method=writes --concurrency=2 --qps=20`

const verifyLong = `Prove that the migration is complete, and change nothing.

 Reads every object in both versions, as of the same instant, and compares them
with what the converter makes of each: v1 to v1alpha1 must give what the server
gives, and back again. Then it checks that the CRDs say that only v1 is stored.

 Once v1alpha1 is not served any more, the objects are read in v1 and taken to
v1alpha1 and back by the converter alone; the output says which of the two was
done.

 The exit code is 1 if anything differs.`

const finishLong = `Stop serving v1alpha1, and free the objects from it.

 In this order: verify again; set 'served: false' for v1alpha1 in both CRDs; rewrite
each entry of managedFields that says v1alpha1 to the same fields of v1; check that
none is left. Only then may the version be dropped from the CRDs: an object with
such an entry would refuse every server-side apply afterwards, even with force. The
last lines say how to drop it.

 From the second step on, whoever still applies v1alpha1 gets an error. 'migrate
plan' lists them: change their manifests first ('kubectl backup convert').

 finish refuses while someone else applies the versions of the CRDs, such as a
GitOps tool or 'kubectl apply': with its manifests v1alpha1 would be served again.
Update or pause it, then say so with --manifests-updated.

 --undo serves v1alpha1 again. That works until the version is dropped from the
CRDs. Rewritten managedFields stay in v1, which harms nobody.`

const finishExample = `  # What would be done, and what stands in the way?
  kubectl backup migrate finish --dry-run

  # Finish; the manifests of the CRDs are updated
  kubectl backup migrate finish --manifests-updated

  # Serve v1alpha1 again
  kubectl backup migrate finish --undo`

// Options are what the command line says.
type Options struct {
	DryRun           bool
	Undo             bool
	ManifestsUpdated bool
	Method           Method
	ChunkSize        int64
	Concurrency      int
	QPS              float32
	Burst            int
	Format           output.Format

	Clock       clock.WithTicker
	Out, ErrOut io.Writer
}

// Command is 'kubectl backup migrate'.
func Command(c clock.WithTicker) (*cobra.Command, error) {
	cmd := &cobra.Command{
		Use: "migrate", Short: "Take a cluster from v1alpha1 to v1", Long: long, Example: example,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddGroup(&cobra.Group{ID: "steps", Title: "Steps:"})
	for _, step := range []*step{
		{use: "plan", short: "Say what stands in the way, and change nothing", long: planLong, example: planExample, run: (*migration).plan},
		{use: "run", short: "Have every object stored as v1", long: runLong, example: runExample, run: (*migration).run},
		{use: "verify", short: "Prove that every object is stored as v1 and reads the same", long: verifyLong, run: (*migration).verify},
		{use: "finish", short: "Stop serving v1alpha1 and free the objects from it", long: finishLong, example: finishExample, run: (*migration).finish},
	} {
		sub, err := step.command(&Options{Clock: c, Method: MethodAuto})
		if err != nil {
			return nil, err
		}
		sub.GroupID = "steps"
		cmd.AddCommand(sub)
	}
	return cmd, nil
}

// step is one of the subcommands.
type step struct {
	use, short, long, example string
	run                       func(*migration, context.Context) (*Report, error)
}

func (s *step) command(o *Options) (*cobra.Command, error) {
	access := &cluster.Access{}
	cmd := &cobra.Command{
		Use: s.use, Short: s.short, Long: s.long, Example: s.example, Args: exit.NoArgs,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := access.Config()
			if err != nil {
				return err
			}
			o.Out, o.ErrOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return o.execute(cmd.Context(), config, s.run)
		},
	}
	if err := o.addFlags(cmd); err != nil {
		return nil, err
	}
	access.AddFlags(cmd.Flags())
	return cmd, access.CompleteFlags(cmd)
}

func (o *Options) addFlags(cmd *cobra.Command) error {
	flags := cmd.Flags()
	flags.Int64Var(&o.ChunkSize, "chunk-size", 500, "How many objects are read at a time.")
	flags.Float32Var(&o.QPS, "qps", 200, "Most requests to the API server per second. 0 leaves it to the server.")
	flags.IntVar(&o.Burst, "burst", 400, "Most requests at once before --qps holds them back.")
	if cmd.Name() != "verify" {
		flags.IntVar(&o.Concurrency, "concurrency", 8, "How many objects are written, or tried, at a time.")
	}
	switch cmd.Name() {
	case "run":
		flags.BoolVar(&o.DryRun, "dry-run", false, "If present, say what would be done, and change nothing.")
		flags.Var(&o.Method, "method", "How objects are stored anew. One of: (auto, cluster, writes). auto takes the cluster's own migrator where there is one.")
		if err := cmd.RegisterFlagCompletionFunc("method", cobra.FixedCompletions(methods, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			return err
		}
	case "finish":
		flags.BoolVar(&o.DryRun, "dry-run", false, "If present, say what would be done, and change nothing.")
		flags.BoolVar(&o.ManifestsUpdated, "manifests-updated", false, "If present, the manifests of whoever applies the CRDs no longer serve v1alpha1, or it is paused.")
		flags.BoolVar(&o.Undo, "undo", false, "If present, serve v1alpha1 again.")
	}
	return o.Format.AddFlag(cmd, output.Table, output.JSON)
}

// execute runs one step against a server. The report is written if there is one, even beside an error.
func (o *Options) execute(ctx context.Context, config *rest.Config, run func(*migration, context.Context) (*Report, error)) error {
	m, err := o.connect(config)
	if err != nil {
		return err
	}
	report, err := run(m, ctx)
	if report == nil {
		return interrupted(ctx, err)
	}
	report.DryRun = o.DryRun
	if o.Format.String() == output.JSON {
		if failed := output.WriteJSON(o.Out, report); failed != nil {
			return failed
		}
	} else if failed := report.write(o.Out, o.Clock.Now()); failed != nil {
		return failed
	}
	switch {
	case err != nil:
		return interrupted(ctx, err)
	case !report.OK:
		return exit.ErrSaid
	}
	return nil
}
