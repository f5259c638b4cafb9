// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/webhooks"
)

// user returns a client of a user with the given rules in a namespace.
func user(ctx context.Context, name, namespace string, rules ...rbacv1.PolicyRule) client.Client {
	GinkgoHelper()
	grant(ctx, name, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}, rules...)
	c := impersonated(name, rest.NoWarnings{})
	awaitRights(ctx, c, namespace)
	return c
}

func impersonated(name string, w rest.WarningHandler) client.Client {
	GinkgoHelper()
	cfg := rest.CopyConfig(config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name}
	return clientWithHandler(cfg, w)
}

// grant gives someone the rules in a namespace.
func grant(ctx context.Context, name, namespace string, subject rbacv1.Subject, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
	Expect(admin.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules})).To(Succeed())
	Expect(admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{subject},
	})).To(Succeed())
}

// awaitRights waits until a user may write our objects: roles reach the
// authorizer through a cache.
func awaitRights(ctx context.Context, c client.Client, namespace string) {
	GinkgoHelper()
	Eventually(ctx, func() error {
		return c.Create(ctx, object("v1", backupv1.KindBackupJob, namespace, "probe", map[string]any{"schedule": "never"}), client.DryRunAll)
	}).WithTimeout(soon).Should(MatchError(ContainSubstring("five fields")), "the user's rights take a moment")
}

// serviceAccount returns a client with the token of a new account.
func serviceAccount(ctx context.Context, name, namespace string) client.Client {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	Expect(admin.Create(ctx, account)).To(Succeed())
	token := &authenticationv1.TokenRequest{}
	Expect(admin.SubResource("token").Create(ctx, account, token)).To(Succeed())
	cfg := rest.AnonymousClientConfig(config)
	cfg.QPS, cfg.BearerToken = -1, token.Status.Token
	return clientWithHandler(cfg, rest.NoWarnings{})
}

// secretField is where an object names its Secret.
func secretField(version string) string {
	if version == "v1alpha1" {
		return "spec.secretRef"
	}
	return "spec.source.credentialsSecretRef.name"
}

var (
	writeBackups = rbacv1.PolicyRule{APIGroups: []string{backupv1.GroupName}, Resources: []string{"backupjobs", "mysqlbackups"}, Verbs: []string{"*"}}
	readSecrets  = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}
	createPods   = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}
)

var _ = Describe("References", func() {
	for _, kind := range kinds {
		for _, version := range versions {
			path := secretField(version)
			It("refuses in "+version+" "+kind+" a Secret that the user may not read, and says which right is missing", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				developer := user(ctx, "no-secrets", ns, writeBackups)
				Expect(causes(developer.Create(ctx, object(version, kind, ns, "a", nil)))).To(Equal(map[string]string{
					path: "Forbidden: user 'no-secrets' has no right to 'get' the Secret 'a-credentials' in namespace '" + ns + "'; ask for it, or use what you have a right to",
				}))
			})

			It("refuses in "+version+" "+kind+" whoever keeps the reference and changes where its content goes, however they write it", func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				Expect(admin.Create(ctx, object(version, kind, ns, "a", nil))).To(Succeed())
				developer := user(ctx, "no-secrets", ns, writeBackups)
				hosts := map[string]any{hostField(kind): "evil.example.com"}
				if version == "v1" {
					hosts = map[string]any{"source": map[string]any{"host": "evil.example.com"}}
				}
				image := map[string]any{"podTemplate": map[string]any{"image": "evil:1"}}
				for path, edit := range map[string]map[string]any{path: hosts, "spec.podTemplate": image} {
					patch, err := json.Marshal(map[string]any{"spec": edit})
					Expect(err).NotTo(HaveOccurred())
					u := read(ctx, version, kind, ns, "a")
					By("a merge patch of " + string(patch))
					refused := causes(developer.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, patch)))
					Expect(refused).To(HaveKeyWithValue(path, ContainSubstring("has no right to")))
					By("a server-side apply")
					part := as(version, kind)
					part.SetNamespace(ns)
					part.SetName("a")
					part.Object["spec"] = edit
					refused = causes(developer.Apply(ctx, client.ApplyConfigurationFromUnstructured(part), client.FieldOwner("evil"), client.ForceOwnership))
					Expect(refused).To(HaveKeyWithValue(path, ContainSubstring("has no right to")))
				}
				Expect(developer.Patch(ctx, read(ctx, version, kind, ns, "a"), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`)))).To(Succeed())
			})
		}
	}

	It("lets a service account, by its token and the groups that it stands for, do what it has the rights to", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		deployer, stranger := serviceAccount(ctx, "gitops", ns), serviceAccount(ctx, "stranger", newNamespace(ctx, nil))
		grant(ctx, "gitops", ns, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:" + ns},
			writeBackups, readSecrets, createPods)
		grant(ctx, "writers", ns, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts"}, writeBackups)
		awaitRights(ctx, deployer, ns)
		awaitRights(ctx, stranger, ns)
		for _, kind := range kinds {
			for _, version := range versions {
				u := object(version, kind, ns, "a-"+version, map[string]any{"podTemplate": map[string]any{"image": "mysql:8.0.40"}})
				for range 2 {
					Expect(deployer.Apply(ctx, client.ApplyConfigurationFromUnstructured(u.DeepCopy()), client.FieldOwner("gitops"))).To(Succeed())
				}
				u.SetName("b-" + version)
				found := causes(stranger.Create(ctx, u))
				Expect(found).To(HaveKeyWithValue(secretField(version), ContainSubstring(":stranger' has no right to 'get' the Secret")))
				Expect(found).To(HaveKeyWithValue("spec.podTemplate", ContainSubstring("has no right to 'create' pods in namespace '"+ns+"'")))
			}
		}
	})

	It("only warns where the mode is warn, of the same in the same words", Serial, func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		developer := user(ctx, "no-secrets", ns, writeBackups)
		said := causes(developer.Create(ctx, object("v1alpha1", backupv1.KindMySQLBackup, ns, "a", nil)))
		door.with(func(d *frontDoor) { d.routes.References = webhooks.ReferencesWarn })
		w := &warnings{}
		Expect(impersonated("no-secrets", w).Create(ctx, object("v1alpha1", backupv1.KindMySQLBackup, ns, "a", nil))).To(Succeed())
		Expect(w.texts).To(Equal([]string{"spec.secretRef: " + strings.TrimPrefix(said["spec.secretRef"], "Forbidden: ")}))
		Expect(door.metric("backupjob_admission_reference_checks_total", map[string]string{"result": "denied"})).To(BeNumerically("==", 1))
	})

	It("asks nobody where the mode is off", Serial, func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		user(ctx, "no-secrets", ns, writeBackups)
		door.with(func(d *frontDoor) { d.routes.References, d.routes.Reviewer = webhooks.ReferencesOff, nil })
		w := &warnings{}
		for _, kind := range kinds {
			Expect(impersonated("no-secrets", w).Create(ctx, object("v1", kind, ns, "a", map[string]any{"podTemplate": map[string]any{"image": "x"}}))).To(Succeed())
		}
		Expect(w.texts).To(BeEmpty())
		Expect(door.metric("backupjob_admission_reference_checks_total", nil)).To(BeZero())
	})

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
