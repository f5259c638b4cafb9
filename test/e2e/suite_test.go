// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// Package e2e runs the operator as it is shipped on a real cluster: real Pods,
// real cert-manager, real MariaDB. It needs a cluster in KUBECONFIG on which
// config/default is deployed, and kubectl in PATH; 'make e2e' sees to both.
package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	backupv1 "example.com/backupjob-operator/api/v1"
)

const (
	operatorNamespace = "backupjob-system"
	// aRun is how long a requested run may take on a busy machine, Pod start
	// and database included.
	aRun = 3 * time.Minute
	// soon is how long the cluster may take to notice something.
	soon = time.Minute
	// aCommand is how long a command may take, which is longer than any waits by
	// itself, undeploy.sh included: one that hangs fails, and says what it printed.
	aCommand = 15 * time.Minute
)

var (
	scheme  = runtime.NewScheme()
	cluster client.Client
)

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "End to end")
}

var _ = BeforeSuite(func(ctx context.Context) {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, backupv1.AddToScheme, cmv1.AddToScheme} {
		Expect(add(scheme)).To(Succeed())
	}
	ctrl.SetLogger(GinkgoLogr)
	cfg, err := config.GetConfig()
	Expect(err).NotTo(HaveOccurred())
	cfg.QPS, cfg.Burst = -1, -1
	cfg.WarningHandler = rest.NoWarnings{} // a line for each object of a migration
	cluster, err = client.New(cfg, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	kubectl(ctx, "apply", "-f", "../database/servers.yaml")
	kubectl(ctx, "rollout", "status", "deployment/mysql-primary", "deployment/mysql-empty", "--timeout=180s")
	data, err := os.ReadFile("../database/data.sql")
	Expect(err).NotTo(HaveOccurred())
	sql(ctx, "mysql-primary", string(data))
})

// asController is a client as the controller's account, which alone may write
// a status, with all rights besides.
func asController() client.Client {
	GinkgoHelper()
	cfg, err := config.GetConfig()
	Expect(err).NotTo(HaveOccurred())
	cfg.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + operatorNamespace + ":backupjob-controller", Groups: []string{"system:masters"},
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// kubectl runs a command that has to succeed and returns what it printed.
func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := run(ctx, "kubectl", args...)
	Expect(err).NotTo(HaveOccurred(), "kubectl %s\n%s", strings.Join(args, " "), out)
	return out
}

// run runs a command and returns what it printed.
func run(ctx context.Context, name string, args ...string) (string, error) {
	out, err := command(ctx, name, args...).CombinedOutput()
	return string(out), err
}

// command is a command that ends with the spec or when its time is over.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return commandWithin(ctx, aCommand, name, args...)
}

func commandWithin(ctx context.Context, limit time.Duration, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(ctx, limit)
	context.AfterFunc(ctx, cancel) // at the spec's end; a cleanup may not ask for another
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second // children may hold the pipe
	return cmd
}

// sql runs statements as root on one of the database servers.
func sql(ctx context.Context, server, statements string) string {
	GinkgoHelper()
	cmd := command(ctx, "kubectl", "exec", "-i", "deploy/"+server, "--",
		"sh", "-c", `exec mariadb -uroot -p"$MARIADB_ROOT_PASSWORD" --batch`)
	cmd.Stdin = strings.NewReader(statements)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	Expect(cmd.Run()).To(Succeed(), stderr.String())
	return stdout.String()
}

// checksums are those of every table of the data.
func checksums(ctx context.Context, server string) string {
	GinkgoHelper()
	return sql(ctx, server, "CHECKSUM TABLE user_profiles.users, user_profiles.avatars, user_profiles.`odd name-täble`, "+
		"user_profiles.empty_table, user_profiles.audit_log; SELECT * FROM user_profiles.best; SELECT user_profiles.double_it(21);"+
		"SELECT event_name FROM information_schema.events; SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = 'user_profiles'")
}

// newNamespace makes a namespace that is deleted after the spec.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	Expect(cluster.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(cluster.Delete(ctx, ns))).To(Succeed()) })
	return ns.Name
}

// prepared makes the Secret and the claim that an object of that name uses.
func prepared(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	Expect(cluster.Create(ctx, secret(namespace, name))).To(Succeed())
	Expect(cluster.Create(ctx, claim(namespace, name+"-backups"))).To(Succeed())
}

// secret has the credentials that an object of that name uses.
func secret(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-credentials"},
		StringData: map[string]string{"username": "example-user", "password": "example-password-change-me"},
	}
}

func backupJob(namespace, name string, mutate func(*backupv1.BackupJob)) *backupv1.BackupJob {
	b := &backupv1.BackupJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	b.Spec.Source.Host = "mysql-primary.default.svc.cluster.local"
	b.Spec.Source.Databases = []backupv1.DatabaseName{"user_profiles"}
	b.Spec.Schedule = "0 0 1 1 *"
	if mutate != nil {
		mutate(b)
	}
	return b
}

func mysqlBackup(namespace, name string, mutate func(*backupv1.MySQLBackup)) *backupv1.MySQLBackup {
	b := &backupv1.MySQLBackup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	b.Spec.Source.Host = "mysql-primary.default.svc.cluster.local"
	b.Spec.Source.Databases = []backupv1.DatabaseName{"user_profiles"}
	b.Spec.Schedule = "0 0 1 1 *"
	if mutate != nil {
		mutate(b)
	}
	return b
}

// requestRun asks for a run now.
func requestRun(ctx context.Context, b client.Object) {
	GinkgoHelper()
	kind := "backupjob"
	if _, ok := b.(*backupv1.MySQLBackup); ok {
		kind = "mysqlbackup"
	}
	kubectl(ctx, "annotate", "--overwrite", "-n", b.GetNamespace(), kind+"/"+b.GetName(),
		backupv1.AnnotationRunRequestedAt+"="+time.Now().Format(time.RFC3339Nano))
}

// claim asks for a volume of the default class.
func claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
}

// jobsOf are the Jobs of an object.
func jobsOf(ctx context.Context, b client.Object) []batchv1.Job {
	GinkgoHelper()
	var jobs batchv1.JobList
	Expect(cluster.List(ctx, &jobs, client.InNamespace(b.GetNamespace()), client.MatchingLabels{backupv1.LabelUID: string(b.GetUID())})).To(Succeed())
	return jobs.Items
}
