// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// plugin runs "kubectl backup" as a user does and returns its exit code.
func plugin(ctx context.Context, args ...string) (out string, code int) {
	GinkgoHelper()
	printed, err := command(ctx, "kubectl", append([]string{"backup"}, args...)...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(printed), exit.ExitCode()
	}
	Expect(err).NotTo(HaveOccurred())
	return string(printed), 0
}

var _ = Describe("kubectl backup", func() {
	It("runs a backup now, waits for it, and shows it", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "good")
		Expect(cluster.Create(ctx, backupJob(ns, "good", nil))).To(Succeed())

		out, code := plugin(ctx, "run", "good", "--wait", "--timeout", "3m", "-n", ns)
		Expect(code).To(Equal(0), out)
		Expect(out).To(MatchRegexp(`bj/good succeeded in \d+s: .* in .*/good/.*\.sql\.zst`))

		out, code = plugin(ctx, "history", "bj/good", "-n", ns)
		Expect(code).To(Equal(0), out)
		Expect(out).To(ContainSubstring("Succeeded"))

		out, code = plugin(ctx, "list", "-n", ns)
		Expect(code).To(Equal(0), out)
		Expect(out).To(ContainSubstring("good"))
	})

	It("ends with 1 and the reason when the run fails", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "bad")
		Expect(cluster.Create(ctx, backupJob(ns, "bad", func(b *backupv1.BackupJob) {
			b.Spec.MaxRetries = new(int32(0))
			b.Spec.Source.Databases = []backupv1.DatabaseName{"no_such_database"}
		}))).To(Succeed())
		out, code := plugin(ctx, "run", "bj/bad", "--wait", "--timeout", "3m", "-n", ns)
		Expect(code).To(Equal(1), out)
		Expect(out).To(ContainSubstring("no_such_database"))
	})

	It("finds nothing wrong with what is installed, and sees the certificate that is served", func(ctx context.Context) {
		ns := newNamespace(ctx)
		prepared(ctx, ns, "converted")
		Expect(cluster.Create(ctx, backupJob(ns, "converted", nil))).To(Succeed())
		// The embedded cluster has one node.
		out, code := plugin(ctx, "audit", "--strict", "--accept", "replicas,client-authentication")
		Expect(code).To(Equal(0), out)
		Expect(out).To(MatchRegexp(`Pod backupjob-webhook-\S+, by port-forward, serves serial [0-9a-f]+ of backupjob-webhook.backupjob-system.svc, TLS 1.3, trusted by all`))
		Expect(out).To(ContainSubstring("BackupJob: read as v1alpha1"))
		Expect(out).To(ContainSubstring(" 0 warn, 0 fail."))
	})

	It("takes and completes names as kubectl does", func(ctx context.Context) {
		ns := newNamespace(ctx)
		for _, b := range []client.Object{backupJob(ns, "both", nil), backupJob(ns, "nightly", nil), mysqlBackup(ns, "both", nil)} {
			Expect(cluster.Create(ctx, b)).To(Succeed())
		}
		for _, line := range []struct {
			args []string
			want string
		}{
			{[]string{"history", "-n", ns, "bj/"}, "bj/both\nbj/nightly\n"},
			{[]string{"run", "-n", ns, "ni"}, "nightly\n"},
			{[]string{"run", "-n", ns, "bo"}, ":4\n"}, // nothing: it is the name of two objects
			{[]string{"list", "-n", ns[:len(ns)-1]}, ns + "\n"},
			{[]string{"list", "-o", ""}, "json\n"},
			{[]string{"history", "--namespace", ns, "mb/both"}, "mb/both\n"},
		} {
			out, code := plugin(ctx, append([]string{"__complete"}, line.args...)...)
			Expect(code).To(Equal(0), out)
			Expect(out).To(ContainSubstring(line.want), "%v", line.args)
		}
		out, code := plugin(ctx, "history", "both", "-n", ns)
		Expect(code).NotTo(Equal(0))
		Expect(out).To(ContainSubstring("write bj/both or mb/both"))
		out, code = plugin(ctx, "list", "-A", "-o", "name")
		Expect(code).To(Equal(0), out)
		Expect(out).To(And(ContainSubstring("backupjob.backup.example.com/both"), ContainSubstring("mysqlbackup.backup.example.com/both")))
		out, code = plugin(ctx, "history", "nightly", "-n", ns, "-o", "yaml")
		Expect(code).To(Equal(0), out)
	})

	It("ends with 1 for a name that is not there", func(ctx context.Context) {
		out, code := plugin(ctx, "run", "bj/nobody", "-n", newNamespace(ctx))
		Expect(code).To(Equal(1), out)
		Expect(out).To(ContainSubstring("nobody"))
	})
})
