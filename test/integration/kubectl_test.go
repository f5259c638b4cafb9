// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// kubeconfigFile writes a kubeconfig of the suite's API server.
func kubeconfigFile() string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"it": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"it": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"it": {Cluster: "it", AuthInfo: "it"}},
		CurrentContext: "it",
	}, file)).To(Succeed())
	return file
}

// kubectl runs the real kubectl and returns what it printed.
func kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	GinkgoHelper()
	cmd := kubectlCommand(ctx, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// printed is what the next command of a pipe gets, without warnings.
func printed(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := kubectlCommand(ctx, args...).Output()
	Expect(err).NotTo(HaveOccurred())
	return string(out)
}

func kubectlCommand(ctx context.Context, args ...string) *exec.Cmd {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfigFile())
	return cmd
}

var _ = Describe("What a user of kubectl sees", func() {
	for _, version := range versions {
		It("answers a second apply in "+version+" with unchanged, client side and server side", func(ctx context.Context) {
			for _, kind := range kinds {
				ns := newNamespace(ctx, nil)
				manifest, err := object(version, kind, ns, "a", nil).MarshalJSON()
				Expect(err).NotTo(HaveOccurred())
				for _, word := range []string{"created", "unchanged", "unchanged"} {
					out, err := kubectl(ctx, string(manifest), "apply", "-f", "-")
					Expect(err).NotTo(HaveOccurred(), out)
					Expect(out).To(ContainSubstring("/a " + word))
				}
				before := read(ctx, "v1", kind, ns, "a")
				for range 2 {
					out, err := kubectl(ctx, string(manifest), "apply", "--server-side", "--force-conflicts", "-f", "-")
					Expect(err).NotTo(HaveOccurred(), out)
				}
				out, err := kubectl(ctx, string(manifest), "diff", "-f", "-")
				Expect(err).NotTo(HaveOccurred(), out)
				Expect(read(ctx, "v1", kind, ns, "a").GetGeneration()).To(Equal(before.GetGeneration()))
			}
		})

		It("lists four faults of "+version+" as bullets", func(ctx context.Context) {
			for _, kind := range kinds {
				spec, fields := fourFaults(version, kind)
				manifest, err := object(version, kind, "default", "wrong", spec).MarshalJSON()
				Expect(err).NotTo(HaveOccurred())
				out, err := kubectl(ctx, string(manifest), "create", "--validate=false", "-f", "-")
				Expect(err).To(HaveOccurred())
				Expect(out).To(ContainSubstring(`The ` + kind + ` "wrong" is invalid:`))
				for _, field := range fields {
					Expect(out).To(ContainSubstring("* " + field + ": "))
				}
			}
		})
	}

	It("lists both kinds by the category, with the columns of the design", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		for _, kind := range kinds {
			Expect(admin.Create(ctx, object("v1", kind, ns, "a", map[string]any{"timeZone": "Asia/Tokyo"}))).To(Succeed())
		}
		out, err := kubectl(ctx, "", "get", "dbbackups", "-n", ns)
		Expect(err).NotTo(HaveOccurred(), out)
		for _, text := range []string{"SCHEDULE", "TIME ZONE", "SUSPENDED", "PHASE", "LAST SUCCESS", "NEXT RUN", "AGE",
			"backupjob.backup.example.com/a", "mysqlbackup.backup.example.com/a", "Asia/Tokyo"} {
			Expect(out).To(ContainSubstring(text))
		}
		for _, short := range []string{"bj", "mb"} {
			out, err := kubectl(ctx, "", "get", short, "a", "-n", ns)
			Expect(err).NotTo(HaveOccurred(), out)
		}
	})

	It("explains every field of the spec", func(ctx context.Context) {
		for _, resource := range []string{"bj", "mb"} {
			for _, version := range versions {
				out, err := kubectl(ctx, "", "explain", resource+".spec", "--recursive=false", "--api-version="+backupv1.GroupName+"/"+version)
				Expect(err).NotTo(HaveOccurred(), out)
				Expect(out).NotTo(ContainSubstring("<no description>"))
			}
		}
	})

	It("refuses an unknown field before any webhook sees it", func(ctx context.Context) {
		manifest, err := object("v1", backupv1.KindBackupJob, "default", "unknown", map[string]any{"retentionDays": int64(7)}).MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		out, err := kubectl(ctx, string(manifest), "apply", "-f", "-")
		Expect(err).To(HaveOccurred())
		Expect(out).To(ContainSubstring(`unknown field "spec.retentionDays"`))
	})
})
