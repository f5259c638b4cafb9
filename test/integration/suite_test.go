// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration runs the front door and the controller against a real
// kube-apiserver and etcd, with the manifests as they are shipped. There are
// no Pods here; test/e2e has them.
package integration

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	backupv1 "example.com/backupjob-operator/api/v1"
	backupv1alpha1 "example.com/backupjob-operator/api/v1alpha1"
)

var (
	scheme = runtime.NewScheme()
	config *rest.Config
	// admin is a client without a cache, so that each read is the server's.
	admin client.Client
	door  *frontDoor
	// auditLog is the API server's audit log.
	auditLog string
	// etcdURL is where the API server keeps its objects.
	etcdURL string
	logs    = &logBuffer{}
)

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Integration")
}

var _ = BeforeSuite(func() {
	Expect(os.Getenv("KUBEBUILDER_ASSETS")).NotTo(BeEmpty(),
		"KUBEBUILDER_ASSETS must name the folder with etcd, kube-apiserver and kubectl: run 'make integration'")
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, certmanagerv1.AddToScheme, backupv1.AddToScheme, backupv1alpha1.AddToScheme,
	} {
		Expect(add(scheme)).To(Succeed())
	}
	ctrl.SetLogger(logs.logger())

	dir := GinkgoT().TempDir()
	auditLog = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "audit.yaml")
	Expect(os.WriteFile(policy, []byte(auditPolicy), 0o600)).To(Succeed())

	env := &envtest.Environment{}
	args := env.ControlPlane.GetAPIServer().Configure()
	args.Append("audit-log-path", auditLog)
	args.Append("audit-policy-file", policy)
	args.Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	var err error
	config, err = env.Start()
	Expect(err).NotTo(HaveOccurred())
	config.QPS, config.Burst = -1, -1
	etcdURL = env.ControlPlane.Etcd.URL.String()
	DeferCleanup(env.Stop)

	admin, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	door = openFrontDoor(config)
	DeferCleanup(door.close)
	installManifests(admin, door)
})

const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  resources: [{group: backup.example.com}]
- level: None
`

// newNamespace makes a namespace that is deleted after the spec. Labels say
// which part of the front door it skips.
func newNamespace(ctx context.Context, labels map[string]string) string {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "it-", Labels: labels}}
	Expect(admin.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, ns)).To(Succeed()) })
	return ns.Name
}

// soon is how long the API server may take to notice something.
const soon = 20 * time.Second
