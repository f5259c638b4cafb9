// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// kubeconfig is a file with which a process is a user.
func kubeconfig(user string) string {
	GinkgoHelper()
	c := clientcmdapi.NewConfig()
	c.Clusters["it"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	c.AuthInfos["it"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Impersonate: user,
	}
	c.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	c.CurrentContext = "it"
	file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(*c, file)).To(Succeed())
	return file
}

// process is a manager of its own, in a process group of its own.
type process struct {
	cmd  *exec.Cmd
	log  *gbytes.Buffer
	done chan error
}

// start runs a command, such as "go run", and ends it after the spec.
func start(command string, args ...string) *process {
	GinkgoHelper()
	p := &process{cmd: exec.Command(command, args...), log: gbytes.NewBuffer(), done: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = "../..", p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	Expect(p.cmd.Start()).To(Succeed())
	go func() { p.done <- p.cmd.Wait() }()
	DeferCleanup(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		if CurrentSpecReport().Failed() {
			GinkgoWriter.Printf("log of %s:\n%s\n", command, p.log.Contents())
		}
	})
	return p
}

// buildManager returns the file of a manager that was just compiled.
func buildManager(ctx context.Context) string {
	GinkgoHelper()
	binary := filepath.Join(GinkgoT().TempDir(), "manager")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "../../cmd/manager").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return binary
}

// interrupt is Ctrl-C.
func (p *process) interrupt() {
	GinkgoHelper()
	Expect(syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT)).To(Succeed())
	Eventually(p.done).WithTimeout(30*time.Second).Should(Receive(), "it must end: %s", p.log.Contents())
}

// address is one that nothing listened on a moment ago.
func address() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close() //nolint:errcheck // It only told a number.
	return listener.Addr().String()
}

func get(address, path string) (string, error) {
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // It is only read.
	body, err := io.ReadAll(response.Body)
	return response.Status + "\n" + string(body), err
}

var _ = Describe("The controller's process", func() {
	BeforeEach(OncePerOrdered, func(ctx context.Context) { bindShippedRole(ctx) })

	It("runs from a developer's machine, and does what its flags say", func(ctx context.Context) {
		near, far := newNamespace(ctx, nil), newNamespace(ctx, nil)
		metrics, health := address(), address()
		p := start("go", "run", "./cmd/manager", "controller", "--kubeconfig", kubeconfig(controllerUser), "--log-format", "text", "--log-level", "debug",
			"--namespaces", near, "--max-concurrent-reconciles", "7", "--kube-api-qps", "2", "--kube-api-burst", "1",
			"--agent-image", "agent:7", "--mysql-image", "mysql:7", "--mariadb-image", "mariadb:7", "--cleanup-timeout", "1h",
			"--retry-base-delay", "10ms", "--retry-max-delay", "20s", "--retry-fixed-delay", "0s",
			"--metrics-bind-address", metrics, "--health-probe-bind-address", health)
		Eventually(func() (string, error) { return get(health, "/readyz") }).WithTimeout(3*time.Minute).
			Should(HavePrefix("200"), "it must be compiled and start")

		By("working in its namespaces only, with the images that it was told")
		other := backup(ctx, far, "other", nil)
		began := time.Now()
		for i, engine := range []backupv1.Engine{backupv1.EngineMySQL, backupv1.EngineMariaDB, backupv1.EngineMySQL, backupv1.EngineMySQL} {
			backup(ctx, near, fmt.Sprintf("a-%d", i), func(b *backupv1.BackupJob) {
				b.Spec.Source.Engine = engine
				b.Annotations = map[string]string{backupv1.AnnotationRunRequestedAt: "now"}
			})
		}
		Eventually(ctx, func(g Gomega) {
			var list backupv1.BackupJobList
			g.Expect(admin.List(ctx, &list, client.InNamespace(near))).To(Succeed())
			for _, b := range list.Items {
				g.Expect(b.Status.Active).To(HaveLen(1))
			}
		}).WithTimeout(soon).Should(Succeed(), "the runs must start")
		images := map[string]int{}
		for _, job := range jobsIn(ctx, near) {
			images[job.Spec.Template.Spec.InitContainers[0].Image+" "+job.Spec.Template.Spec.Containers[0].Image]++
		}
		Expect(images).To(Equal(map[string]int{"agent:7 mysql:7": 3, "agent:7 mariadb:7": 1}))
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(other), other)).To(Succeed())
		Expect(other.Status.Phase).To(BeEmpty())

		By("sending no more requests than it may: four Jobs at two a second")
		Expect(time.Since(began)).To(BeNumerically(">", 1400*time.Millisecond))
		text, err := get(metrics, "/metrics")
		Expect(err).NotTo(HaveOccurred())
		Expect(text).To(ContainSubstring(`controller_runtime_max_concurrent_reconciles{controller="backupjob"} 7`))

		By("saying each step once, with the object")
		Expect(string(p.log.Contents())).To(MatchRegexp(`Step.*"step": "report"`))
		Expect(string(p.log.Contents())).To(MatchRegexp(regexp.QuoteMeta(near) + `.*a-0`))
		p.interrupt()
	})

	It("ends when it is told to, though a right is missing without which it cannot begin", func(ctx context.Context) {
		p := start(buildManager(ctx), "controller", "--kubeconfig", kubeconfig("without-any-right"), "--namespaces", newNamespace(ctx, nil),
			"--metrics-bind-address", "0", "--health-probe-bind-address", "0")
		Eventually(p.log).WithTimeout(soon).Should(gbytes.Say("is forbidden"))
		p.interrupt()
		Expect(p.cmd.ProcessState.ExitCode()).To(Equal(0))
	})

	It("hands the work over at once when it is told to stop", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		bindLease(ctx, ns, controllerUser, shippedLease().Rules)
		binary := buildManager(ctx)
		args := []string{
			"controller", "--kubeconfig", kubeconfig(controllerUser), "--namespaces", ns, "--leader-elect", "--leader-election-namespace", ns,
			"--metrics-bind-address", "0", "--health-probe-bind-address", "0",
		}
		holder := func() string {
			var lease coordinationv1.Lease
			if admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: "backupjob-operator.example.com"}, &lease) != nil || lease.Spec.HolderIdentity == nil {
				return ""
			}
			return *lease.Spec.HolderIdentity
		}
		first := start(binary, args...)
		Eventually(holder).WithTimeout(soon).ShouldNot(BeEmpty())
		was := holder()
		second := start(binary, args...)
		observed(ctx, backup(ctx, ns, "a", nil))
		Consistently(holder).WithTimeout(2 * time.Second).Should(Equal(was))
		first.interrupt()
		// A lease that is not given back lasts for 15 seconds.
		Eventually(holder).WithTimeout(5 * time.Second).ShouldNot(Or(BeEmpty(), Equal(was)))
		observed(ctx, backup(ctx, ns, "b", nil))
		second.interrupt()
		Expect(holder()).To(BeEmpty())
	})
})

// shippedLease is the Role for the lease.
func shippedLease() *rbacv1.Role {
	GinkgoHelper()
	for _, role := range typed[rbacv1.Role](rendered(), "Role") {
		if role.Name == "backupjob-controller-lease" {
			return role
		}
	}
	Fail("config/default has no Role backupjob-controller-lease")
	return nil
}

// bindLease gives a user rights in a namespace.
func bindLease(ctx context.Context, namespace, user string, rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "lease"}, Rules: rules}
	Expect(admin.Create(ctx, role)).To(Succeed())
	Expect(admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "lease"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})).To(Succeed())
}
