// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// migrated is how many objects are migrated here; test/e2e migrates 10,000 in
// 'make test-long'.
const migrated = 300

// The specs go the whole way of one old cluster, one after the other.
var _ = Describe("kubectl backup migrate", Ordered, func() {
	var (
		old    *oldCluster
		before map[string]string
	)
	BeforeAll(func(ctx context.Context) {
		old = startOldCluster(ctx)
		old.fill(ctx, migrated*2/3)
		old.upgrade(ctx)
		old.fill(ctx, migrated)
		before = old.contents(ctx)
		Expect(before).To(HaveLen(2 * migrated))
		for _, crd := range old.crds(ctx) {
			Expect(crd.Status.StoredVersions).To(Equal([]string{"v1alpha1", "v1"}))
		}
	})

	It("plans: names the object that a webhook would refuse, says what to do, and changes nothing", func(ctx context.Context) {
		old.refuse(ctx, "bj-1")
		raw := old.raw(ctx)
		report, code := old.migrate(ctx, "plan")
		Expect(code).To(Equal(1))
		Expect(report.OK).To(BeFalse())
		Expect(report.Problems).To(HaveLen(1))
		problem := report.Problems[0]
		Expect(problem).To(HaveField("Name", "bj-1"))
		Expect(problem).To(HaveField("Reason", "Refused"))
		Expect(problem.Message).To(ContainSubstring("this backup needs an owner"))
		Expect(problem.Advice).To(And(ContainSubstring(`webhook "owners.policy.example.com"`),
			ContainSubstring("kubectl edit -n "+old.namespace+" backupjobs.backup.example.com bj-1")))
		Expect(old.raw(ctx)).To(Equal(raw), "a plan writes nothing")
		old.acceptAll(ctx)
	})

	It("plans: counts everything, names who writes v1alpha1 and finds nothing in the way", func(ctx context.Context) {
		raw := old.raw(ctx)
		report, code := old.migrate(ctx, "plan")
		Expect(code).To(Equal(0), "%+v", report)
		for _, r := range report.Resources {
			Expect(r.Objects).To(BeEquivalentTo(migrated / 2))
			Expect(r.Accepted).To(Equal(r.Objects))
			Expect(r.Checksum).NotTo(BeEmpty())
		}
		names := map[string]bool{}
		for _, m := range report.Managers {
			names[m.Name] = true
			Expect(m.Objects).To(BeNumerically(">", 0))
			Expect(m.LastTime).NotTo(BeNil())
		}
		Expect(slices.Sorted(maps.Keys(names))).To(Equal([]string{"kubectl-create", "old-controller", "team-a", "team-b"}))
		for _, check := range report.Checks {
			Expect(check.Result).To(Equal("OK"), "%+v", check)
		}
		Expect(report.Checks).To(HaveLen(6), "a conversion per kind, two webhooks per kind")
		Expect(old.raw(ctx)).To(Equal(raw), "a plan writes nothing")
	})

	It("plans: says that the webhook is away", func(ctx context.Context) {
		old.door.close()
		DeferCleanup(old.door.open)
		report, code := old.migrate(ctx, "plan")
		Expect(code).To(Equal(1))
		Expect(report.Checks).To(ContainElement(And(HaveField("Name", "Conversion of backupjobs"), HaveField("Result", "Blocked"),
			HaveField("Message", ContainSubstring("connection refused")))))
	})

	It("refuses to verify and to finish before it has run", func(ctx context.Context) {
		for _, step := range []string{"verify", "finish"} {
			report, code := old.migrate(ctx, step)
			Expect(code).To(Equal(1))
			Expect(report.Checks).To(ContainElement(And(HaveField("Name", "Stored versions of backupjobs"),
				HaveField("Result", "Blocked"), HaveField("Advice", ContainSubstring("migrate run")))))
		}
		Expect(old.served(ctx)).To(BeTrue())
	})

	It("runs: interrupted, killed, with the webhook away and others writing v1alpha1, until only v1 is stored", func(ctx context.Context) {
		report, code := old.migrate(ctx, "run", "--dry-run", "--method=writes")
		Expect(code).To(Equal(0))
		Expect(report.DryRun).To(BeTrue())
		others := old.startBystanders(ctx)
		r := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0))
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL, syscall.SIGINT, syscall.SIGKILL} {
			after := int64(1 + r.IntN(migrated/3))
			By(fmt.Sprintf("%s after %d writes", signal, after))
			out, code := old.interrupted(ctx, signal, after, "run", "--method=writes")
			if signal == syscall.SIGINT && code > 0 { // below it is the signal itself, before the command heard of it
				Expect(code).To(Equal(1), out)
				Expect(out).To(ContainSubstring("nothing is lost, and the same command goes on"))
			}
		}
		By("a webhook that restarts")
		done := make(chan int, 1)
		go func() {
			defer GinkgoRecover()
			report, code := old.migrate(ctx, "run", "--method=writes")
			Expect(report.Problems).To(BeEmpty())
			done <- code
		}()
		old.awaitJudged(ctx, 10)
		old.door.close()
		others.awaitRefused()
		old.door.open()
		Eventually(done).WithTimeout(5 * soon).Should(Receive(Equal(0)))
		others.end(ctx)

		for _, crd := range old.crds(ctx) {
			Expect(crd.Status.StoredVersions).To(Equal([]string{"v1"}))
		}
		expectSame(old.contents(ctx), before)
		report, code = old.migrate(ctx, "run")
		Expect(code).To(Equal(0))
		Expect(report.Notes).To(ContainElement(ContainSubstring("there is nothing to do")))
	})

	It("verifies", func(ctx context.Context) {
		report, code := old.migrate(ctx, "verify")
		Expect(code).To(Equal(0), "%+v", report)
		for _, r := range report.Resources {
			Expect(r.Objects).To(BeEquivalentTo(migrated/2+1), "and the one of those who wrote meanwhile")
			Expect(r.Different).To(BeZero())
		}
		Expect(report.Checks).To(ContainElement(HaveField("Message", ContainSubstring("by the server and by the converter"))))
	})

	It("finishes: not while a GitOps tool would undo it; then interrupted, undone and repeated", func(ctx context.Context) {
		report, code := old.migrate(ctx, "finish")
		Expect(code).To(Equal(1))
		Expect(report.Checks).To(ContainElement(And(HaveField("Result", "Blocked"), HaveField("Message", ContainSubstring("gitops applies a CRD")))))
		Expect(old.served(ctx)).To(BeTrue())

		report, code = old.migrate(ctx, "finish", "--dry-run", "--manifests-updated")
		Expect(code).To(Equal(0), "%+v", report)
		Expect(old.served(ctx)).To(BeTrue())
		Expect(report.Managers).NotTo(BeEmpty())

		r := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 1))
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			out, _ := old.interrupted(ctx, signal, int64(1+r.IntN(migrated/4)), "finish", "--manifests-updated")
			By(out)
		}
		By("taken back")
		report, code = old.migrate(ctx, "finish", "--undo")
		Expect(code).To(Equal(0), "%+v", report)
		Expect(old.served(ctx)).To(BeTrue())
		expectSame(old.contents(ctx), before)
		By("done")
		report, code = old.migrate(ctx, "finish", "--manifests-updated")
		Expect(code).To(Equal(0), "%+v", report)
		Expect(report.Next).To(ContainElement(ContainSubstring("config/overlays/v1-only")))
		Expect(old.served(ctx)).To(BeFalse())
		Expect(old.managersOf(ctx, "v1alpha1")).To(BeZero())
		report, code = old.migrate(ctx, "finish")
		Expect(code).To(Equal(0), "it is safe to repeat: %+v", report)
		report, code = old.migrate(ctx, "verify")
		Expect(code).To(Equal(0), "%+v", report)
	})

	It("can then lose the version, and every old manager goes on in v1, pruning included", func(ctx context.Context) {
		old.drop(ctx)
		_, code := old.migrate(ctx, "plan")
		Expect(code).To(Equal(0))
		report, code := old.migrate(ctx, "finish")
		Expect(code).To(Equal(0), "%+v", report)
		Expect(report.Next).To(ContainElement(ContainSubstring("The migration is complete")))
		_, code = old.migrate(ctx, "finish", "--undo")
		Expect(code).To(Equal(1))

		applied := 0
		for _, u := range old.list(ctx, "v1") {
			for manager, config := range old.configs[key(&u)] {
				applied++
				full, was := inNew(config), old.read(ctx, "v1", &u)
				Expect(old.apply(ctx, manager, full)).To(Succeed())
				now := old.read(ctx, "v1", &u)
				Expect(now.Object["spec"]).To(Equal(was.Object["spec"]), "the same config changes nothing")
				less, gone := old.givesUp(manager, full)
				if less == nil {
					continue
				}
				Expect(old.apply(ctx, manager, less)).To(Succeed())
				now = old.read(ctx, "v1", &u)
				for path, value := range gone {
					// A default may stand there now.
					left, _, err := unstructured.NestedFieldNoCopy(now.Object, strings.Split(path, ".")...)
					Expect(err).NotTo(HaveOccurred())
					Expect(left).NotTo(Equal(value), "%s gave up %s of %s", manager, path, key(now))
				}
			}
		}
		Expect(applied).To(BeNumerically(">", migrated))
	})
})

// report is what a program reads of -o json.
type report struct {
	Command    string
	DryRun, OK bool
	Resources  []struct {
		Name, Method, Checksum                         string
		Objects, Accepted, Refused, Different, Written int64
	}
	Managers []struct {
		Name, Operation, Subresource, Resource string
		Objects                                int64
		LastTime                               *string
	}
	Checks      []struct{ Name, Result, Message, Advice string }
	Problems    []struct{ Kind, Namespace, Name, Reason, Message, Advice string }
	Notes, Next []string
}

// migrate runs a step to its end.
func (o *oldCluster) migrate(ctx context.Context, args ...string) (report, int) {
	GinkgoHelper()
	cmd := o.plugin(ctx, args...)
	printed, err := cmd.Output()
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
		GinkgoWriter.Printf("%s\n", exit.Stderr)
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	var r report
	if len(printed) > 0 {
		Expect(json.Unmarshal(printed, &r)).To(Succeed(), string(printed))
	}
	return r, code
}

func (o *oldCluster) plugin(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{"migrate", args[0], "--kubeconfig", o.kubeconfig, "-o", "json", "--chunk-size=40"}, args[1:]...)
	if args[1] != "verify" {
		args = append(args, "--concurrency=2")
	}
	return exec.CommandContext(ctx, o.binary, args...)
}

// interrupted starts a step and sends it a signal after so many judged writes.
func (o *oldCluster) interrupted(ctx context.Context, signal syscall.Signal, after int64, args ...string) (string, int) {
	GinkgoHelper()
	cmd := o.plugin(ctx, args...)
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	Expect(cmd.Start()).To(Succeed())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	until := o.judged.Load() + after
	Eventually(func() bool { return o.judged.Load() >= until || len(ended) > 0 }).WithTimeout(5*soon).WithPolling(5e6).
		Should(BeTrue(), "it must write")
	_ = cmd.Process.Signal(signal) // it may have ended
	Eventually(ended).WithTimeout(soon).Should(Receive(), "a signal ends it")
	return out.String(), cmd.ProcessState.ExitCode()
}

// kindOf alternates the kinds.
func kindOf(i int) string { return kinds[i%len(kinds)] }

// nameOf is the name of the i-th object.
func nameOf(i int) string {
	if kindOf(i) == backupv1.KindBackupJob {
		return fmt.Sprintf("bj-%d", i/2)
	}
	return fmt.Sprintf("mb-%d", i/2)
}

func key(u *unstructured.Unstructured) string { return u.GetKind() + "/" + u.GetName() }
