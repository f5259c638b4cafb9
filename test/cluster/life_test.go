// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lifeVariable asks for the tests that start clusters. They need root on
// Debian, minutes, and on a fresh machine the compilation of Kubernetes.
const lifeVariable = "CLUSTER_LIFE_TEST"

// runner calls the command the way people do.
type runner struct {
	t       *testing.T
	command string
	name    string
}

// newRunner builds the command and makes sure that its cluster is gone in the
// end.
func newRunner(t *testing.T, name string) *runner {
	t.Helper()
	switch {
	case os.Getenv(lifeVariable) == "":
		t.Skipf("SKIPPED: no cluster is started; set %s=1 to have that tested, as root on Debian", lifeVariable)
	case os.Geteuid() != 0:
		t.Fatalf("%s is set, but a cluster with a node needs root", lifeVariable)
	}
	r := &runner{t: t, command: filepath.Join(t.TempDir(), "cluster"), name: name}
	if out, err := exec.Command("go", "build", "-o", r.command, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	r.must("build")
	r.must("down", "--name="+name)
	t.Cleanup(func() { r.must("down", "--name="+name) })
	return r
}

// call runs a subcommand and returns what it printed, on both streams.
func (r *runner) call(args ...string) (string, error) {
	out, err := exec.Command(r.command, args...).CombinedOutput()
	return string(out), err
}

func (r *runner) must(args ...string) string {
	r.t.Helper()
	out, err := r.call(args...)
	if err != nil {
		r.t.Fatalf("cluster %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *runner) kubectl(args ...string) string {
	r.t.Helper()
	return r.must(append([]string{"exec", "--name=" + r.name, "--", "kubectl"}, args...)...)
}

// eventually repeats try until it succeeds; the test fails if it never does.
func (r *runner) eventually(limit time.Duration, try func() error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			r.t.Fatal(err)
		case <-tick.C:
		}
	}
}

// pid reads from the status the id of a component, or of the supervisor.
func (r *runner) pid(component string) int {
	r.t.Helper()
	status := r.must("status", "--name="+r.name)
	match := regexp.MustCompile(`(?m)^` + component + ` +(\d+)`).FindStringSubmatch(status)
	if match == nil {
		r.t.Fatalf("no %s in:\n%s", component, status)
	}
	pid, err := strconv.Atoi(match[1])
	if err != nil {
		r.t.Fatal(err)
	}
	return pid
}

// machine is what a cluster could leave behind outside of its own folder.
type machine struct {
	Processes, Mounts, Cgroups, Links, Folders, Settings, Filters []string
}

func lookAtMachine(t *testing.T, name string) machine {
	t.Helper()
	shell := func(script string) []string {
		out, err := exec.Command("/bin/sh", "-c", script).Output()
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	return machine{
		// A process that waits for its parent to notice its end holds nothing.
		Processes: shell(`ps -eo stat=,args= | grep -v '^Z' | grep -E "name=` + name + `( |$)|clusters/` + name + `/|backupjob-operator/` + name + `/" | grep -v grep || true`),
		// Other clusters may come and go meanwhile.
		Mounts:   shell(`cut -d' ' -f2,3 /proc/self/mounts | grep -v '^/run/netns ' | grep -v '^/run/netns/backupjob-' | sort`),
		Cgroups:  shell(`find /sys/fs/cgroup -maxdepth 3 -type d \( -name 'backupjob-` + name + `' -o -name k8s.io -o -name kubepods \) | grep -v '/backupjob-[^/]*/' | sort`),
		Links:    shell(`ls /sys/class/net | sort`),
		Folders:  shell(`ls -d /run/netns/backupjob-` + name + ` /run/backupjob-operator/` + name + ` /usr/libexec/kubernetes 2>/dev/null || true`),
		Filters:  shell(`nft list ruleset && ipset list -name`),
		Settings: shell(`cd /proc/sys && head -n 1 vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops net/ipv4/ip_forward`),
	}
}

func (r *runner) sameMachine(before machine) {
	r.t.Helper()
	if diff := cmp.Diff(before, lookAtMachine(r.t, r.name)); diff != "" {
		r.t.Errorf("the machine is not as it was:\n%s", diff)
	}
}

func TestClusterLivesAndLeavesNothing(t *testing.T) {
	r := newRunner(t, "life")
	before := lookAtMachine(t, r.name)
	t.Log(r.must("up", "--name=life"))
	if out := r.must("up", "--name=life"); !strings.Contains(out, "up already") {
		t.Errorf("the second start says %q", out)
	}

	probe := filepath.Join(t.TempDir(), "probe")
	build := exec.Command("go", "build", "-o", probe, "./testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the probe: %v\n%s", err, out)
	}
	r.must("image", "--name=life", "--tag=probe:1", "--file="+probe+"=/probe", "--entrypoint=/probe")

	t.Run("a Job under the strictest rules writes to a volume, finds a Service and the API server", r.jobCompletes)
	t.Run("a volume is offered again when its claim is gone", r.volumeIsRecycled)
	t.Run("the API server asks a webhook with a certificate of cert-manager", r.webhookAnswers)
	t.Run("the database images serve and dump, without root", r.databaseServes)
	t.Run("a NetworkPolicy is enforced as long as it is there", r.policyHolds)
	t.Run("a component can be stopped, started and killed", r.componentsComeBack)
	t.Run("a command's exit code passes through", r.exitCodePasses)

	r.must("down", "--name=life")
	r.sameMachine(before)
	if out := r.must("down", "--name=life"); !strings.Contains(out, "nothing of it is left") {
		t.Errorf("the second stop says %q", out)
	}
}

// with is the same cluster for another test.
func (r *runner) with(t *testing.T) *runner {
	t.Helper()
	return &runner{t: t, command: r.command, name: r.name}
}

func (r *runner) jobCompletes(t *testing.T) {
	r = r.with(t)
	r.kubectl("apply", "-f", "testdata/manifests/job.yaml")
	r.kubectl("wait", "--namespace=life", "--for=condition=Complete", "job/volume", "--timeout=60s")
	if log := r.kubectl("logs", "--namespace=life", "job/volume"); !strings.Contains(log, "dns [10.96.0.10]") || !strings.Contains(log, "v1.37") {
		t.Errorf("the Pod says %q", log)
	}
}

func (r *runner) volumeIsRecycled(t *testing.T) {
	r = r.with(t)
	name := strings.TrimSpace(r.kubectl("get", "--namespace=life", "pvc/data", "--output=jsonpath={.spec.volumeName}"))
	r.kubectl("delete", "namespace/life")
	r.kubectl("wait", "--for=jsonpath={.status.phase}=Available", "pv/"+name, "--timeout=30s")
	path := r.kubectl("get", "pv/"+name, "--output=jsonpath={.spec.local.path}")
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) > 0 {
		t.Errorf("the volume holds %v (%v)", entries, err)
	}
}

func (r *runner) webhookAnswers(t *testing.T) {
	r = r.with(t)
	r.kubectl("apply", "-f", "testdata/manifests/webhook.yaml")
	r.kubectl("wait", "--namespace=hook", "--for=condition=Ready", "certificate/probe", "--timeout=60s")
	r.kubectl("rollout", "status", "--namespace=hook", "deployment/probe", "--timeout=60s")
	r.eventually(30*time.Second, func() error {
		out, err := r.call("exec", "--name=life", "--", "kubectl", "create", "secret", "generic", "refuse-me", "--namespace=hook")
		if err == nil || !strings.Contains(out, "the probe refuses") {
			return fmt.Errorf("the API server says %q", out)
		}
		return nil
	})
}

func (r *runner) databaseServes(t *testing.T) {
	r = r.with(t)
	r.kubectl("apply", "-f", "testdata/manifests/database.yaml")
	r.kubectl("rollout", "status", "--namespace=shop", "deployment/db", "--timeout=90s")
	r.kubectl("wait", "--namespace=shop", "--for=condition=Complete", "job/client", "--timeout=90s")
	log := r.kubectl("logs", "--namespace=shop", "--selector=job-name=client", "--tail=-1")
	if !strings.Contains(log, "grün") {
		t.Errorf("the dump is %q", log)
	}
}

func (r *runner) policyHolds(t *testing.T) {
	r = r.with(t)
	r.kubectl("run", "caller", "--namespace=shop", "--image=mariadb:11.8.3", "--command", "--", "sleep", "infinity")
	r.kubectl("wait", "--namespace=shop", "--for=condition=Ready", "pod/caller", "--timeout=60s")
	answers := func(want bool) {
		r.eventually(30*time.Second, func() error {
			out, err := r.call("exec", "--name=life", "--", "kubectl", "exec", "--namespace=shop", "caller", "--",
				"mariadb-admin", "--host=db.shop.svc", "--connect-timeout=5", "ping")
			if got := err == nil; got != want {
				return fmt.Errorf("the database answers: %t, want %t (%s)", got, want, out)
			}
			return nil
		})
	}
	answers(true)
	r.kubectl("apply", "-f", "testdata/manifests/policy.yaml")
	answers(false)
	r.kubectl("delete", "-f", "testdata/manifests/policy.yaml")
	answers(true)
}

func (r *runner) componentsComeBack(t *testing.T) {
	r = r.with(t)
	r.must("stop", "--name=life", "kube-controller-manager")
	if out, err := r.call("status", "--name=life"); err == nil || !strings.Contains(out, "stopped") {
		t.Errorf("status with a stopped component: %v\n%s", err, out)
	}
	r.must("start", "--name=life", "kube-controller-manager")
	for _, component := range []string{"kube-apiserver", "etcd", "kubelet", "containerd", "kube-router"} {
		before := r.pid(component)
		r.must("restart", "--name=life", component)
		if after := r.pid(component); after == before {
			t.Errorf("%s is still process %d", component, after)
		}
	}
	killed := r.pid("kube-scheduler")
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.eventually(30*time.Second, func() error {
		out, err := r.call("status", "--name=life")
		if err == nil && strings.Contains(out, strconv.Itoa(killed)) {
			return errors.New("the killed scheduler is still listed")
		}
		return err
	})
	r.kubectl("wait", "--for=condition=Ready", "node/n1", "--timeout=60s")
}

func (r *runner) exitCodePasses(t *testing.T) {
	r = r.with(t)
	out, err := r.call("exec", "--name=life", "--", "sh", "-c", "echo $KUBECONFIG; exit 42")
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 42 {
		t.Errorf("error %v, want exit code 42", err)
	}
	if !strings.HasSuffix(strings.TrimSpace(out), "clusters/life/kubeconfig") {
		t.Errorf("KUBECONFIG is %q", out)
	}
}

func TestKilledClusterLeavesNothing(t *testing.T) {
	r := newRunner(t, "killed")
	before := lookAtMachine(t, r.name)
	r.must("up", "--name=killed")
	if err := syscall.Kill(r.pid("supervisor"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.eventually(20*time.Second, func() error {
		if left := lookAtMachine(t, r.name).Processes; !cmp.Equal(left, before.Processes) {
			return fmt.Errorf("processes outlive their supervisor: %q", left)
		}
		return nil
	})
	if out, err := r.call("exec", "--name=killed", "--", "true"); err == nil || !strings.Contains(out, "is not up") {
		t.Errorf("exec in a killed cluster: %v\n%s", err, out)
	}
	if out := r.must("up", "--name=killed"); !strings.Contains(out, "cleaning up first") {
		t.Errorf("the next start says %q", out)
	}
	if err := syscall.Kill(r.pid("supervisor"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.must("down", "--name=killed")
	r.sameMachine(before)
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	r := newRunner(t, "cut")
	before := lookAtMachine(t, r.name)
	for _, sign := range []string{"Starting cluster", "etcd ", "kubelet "} {
		cmd := exec.Command(r.command, "up", "--name=cut")
		out := &until{sign: sign, reached: make(chan struct{})}
		cmd.Stderr = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-out.reached
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("after %q: the interrupted start succeeded", sign)
		}
		r.sameMachine(before)
	}
}

// until closes reached when sign was written.
type until struct {
	sign    string
	text    strings.Builder
	done    bool
	reached chan struct{}
}

func (u *until) Write(p []byte) (int, error) {
	u.text.Write(p)
	if !u.done && strings.Contains(u.text.String(), u.sign) {
		u.done = true
		close(u.reached)
	}
	return len(p), nil
}

func TestRunTakesTheClusterDownWhateverHappens(t *testing.T) {
	r := newRunner(t, "run")
	before := lookAtMachine(t, r.name)
	out, err := r.call("run", "--name=run", "--", "sh", "-c", "kubectl get node n1 && exit 3")
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("error %v, want exit code 3", err)
	}
	for _, want := range []string{"Ready", "is down", "Its logs stay in"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	r.sameMachine(before)

	cmd := exec.Command(r.command, "run", "--name=run", "--", "sh", "-c", "echo inside; exec sleep 600")
	started := &until{sign: "inside", reached: make(chan struct{})}
	cmd.Stdout = started
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-started.reached
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the interrupted run succeeded")
	}
	r.sameMachine(before)
}
