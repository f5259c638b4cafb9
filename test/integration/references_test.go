// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// user returns a client of a user with the given rules in a namespace.
func user(ctx context.Context, name, namespace string, rules ...rbacv1.PolicyRule) client.Client {
	GinkgoHelper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Rules: rules}
	Expect(admin.Create(ctx, role)).To(Succeed())
	Expect(admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	})).To(Succeed())
	cfg := rest.CopyConfig(config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	// Roles reach the authorizer through a cache.
	Eventually(ctx, func() error {
		return c.Create(ctx, object("v1", backupv1.KindBackupJob, namespace, "probe", map[string]any{"schedule": "never"}), client.DryRunAll)
	}).WithTimeout(soon).Should(MatchError(ContainSubstring("five fields")), "the user's rights take a moment")
	return c
}

var (
	writeBackups = rbacv1.PolicyRule{APIGroups: []string{backupv1.GroupName}, Resources: []string{"backupjobs", "mysqlbackups"}, Verbs: []string{"*"}}
	readSecrets  = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}
	createPods   = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}
)

var _ = Describe("References", func() {
	for _, kind := range kinds {
		for _, version := range versions {
			path := "spec.source.credentialsSecretRef"
			if version == "v1alpha1" {
				path = "spec.secretRef"
			}
			It("refuses in "+version+" "+kind+" a Secret that the user may not read, and says which right is missing", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				mallory := user(ctx, "no-secrets", ns, writeBackups)
				found := causes(mallory.Create(ctx, object(version, kind, ns, "a", nil)))
				Expect(found).To(HaveKey(HavePrefix(path)))
				for _, message := range found {
					Expect(message).To(And(ContainSubstring("get"), ContainSubstring("a-credentials")))
				}
			})
		}
	}

	It("lets a user without the right edit what is harmless, and nothing that moves the Secret's content", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		Expect(admin.Create(ctx, object("v1", backupv1.KindBackupJob, ns, "a", nil))).To(Succeed())
		editor := user(ctx, "no-secrets", ns, writeBackups)
		edit := func(value any, path ...string) error {
			u := read(ctx, "v1", backupv1.KindBackupJob, ns, "a")
			return editor.Update(ctx, set(u, value, append([]string{"spec"}, path...)...))
		}
		By("harmless edits")
		Expect(edit("0 3 * * *", "schedule")).To(Succeed())
		Expect(edit("Europe/Berlin", "timeZone")).To(Succeed())
		Expect(edit(int64(14), "retention", "days")).To(Succeed())
		Expect(edit(true, "suspend")).To(Succeed())
		By("the host, the database, the image and the claim")
		Expect(edit("evil.example.com", "source", "host")).NotTo(Succeed())
		Expect(edit([]any{"b"}, "source", "databases")).NotTo(Succeed())
		Expect(edit("evil:1", "podTemplate", "image")).NotTo(Succeed())
		Expect(edit("other", "storage", "persistentVolumeClaim", "claimName")).NotTo(Succeed())
		Expect(edit("Disabled", "source", "tls", "mode")).NotTo(Succeed())
	})

	It("lets an account with the rights do all of it", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		gitops := user(ctx, "gitops", ns, writeBackups, readSecrets, createPods)
		u := object("v1", backupv1.KindBackupJob, ns, "a", nil)
		Expect(gitops.Create(ctx, u)).To(Succeed())
		Expect(gitops.Update(ctx, set(u, "mysql:8.0.40", "spec", "podTemplate", "image"))).To(Succeed())
		Expect(gitops.Update(ctx, set(u, "db2.example.com", "spec", "source", "host"))).To(Succeed())
	})

	It("asks for the right to create Pods where the Pod is changed", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		reader := user(ctx, "reader", ns, writeBackups, readSecrets)
		u := object("v1", backupv1.KindBackupJob, ns, "a", nil)
		Expect(reader.Create(ctx, u)).To(Succeed())
		found := causes(reader.Update(ctx, set(u, "evil:1", "spec", "podTemplate", "image")))
		Expect(found).To(HaveKey(HavePrefix("spec.podTemplate")))
	})
})
