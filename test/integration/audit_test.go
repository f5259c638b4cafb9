// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// auditReport is what programs read of 'kubectl backup audit -o json'.
type auditReport struct {
	Namespace string
	Summary   struct{ Pass, Warn, Fail, NotChecked int }
	Rows      []struct {
		ID, Status, Do string
		Checked        bool
		Seen           []string
	}
	MissingRights []string
}

func (r auditReport) statuses() map[string]string {
	found := map[string]string{}
	for _, row := range r.Rows {
		found[row.ID] = row.Status
	}
	return found
}

func (r auditReport) seen(id string) string {
	for _, row := range r.Rows {
		if row.ID == id {
			return strings.Join(row.Seen, "\n")
		}
	}
	return ""
}

// audit runs the command as a user does.
func audit(ctx context.Context, binary string, args ...string) (auditReport, int) {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, binary, append([]string{"audit", "-o", "json", "--kubeconfig", kubeconfigFile()}, args...)...)
	out, err := cmd.Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed {
		Expect(exit.Stderr).To(BeEmpty())
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	var report auditReport
	Expect(json.Unmarshal(out, &report)).To(Succeed(), string(out))
	return report, cmd.ProcessState.ExitCode()
}

// operatorNamespace is where config/default installs.
const operatorNamespace = "backupjob-system"

// installTheRest creates what the suite does without: the operator's own
// namespace with all that is in it, and Pods that no kubelet runs.
func installTheRest(ctx context.Context) {
	GinkgoHelper()
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	Expect(err).NotTo(HaveOccurred())
	folder := filepath.Join(strings.TrimSpace(string(module)), "deploy", "crds")
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{
		filepath.Join(folder, "cert-manager.io_certificates.yaml"), filepath.Join(folder, "cert-manager.io_issuers.yaml"),
	}})
	Expect(err).NotTo(HaveOccurred())
	for _, u := range rendered() {
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, u))).To(Succeed(), u.GetKind()+" "+u.GetName())
	}
	// No controller of Deployments runs here.
	for _, d := range typed[appsv1.Deployment](rendered(), "Deployment") {
		for _, node := range []string{"a", "b"} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name + "-" + node, Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
			pod.Spec.NodeName = node
			Expect(admin.Create(ctx, pod)).To(Succeed())
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			Expect(admin.Status().Update(ctx, pod)).To(Succeed())
			DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed()) })
		}
	}
	issue(ctx)
}

// issue sets what cert-manager would.
func issue(ctx context.Context) {
	GinkgoHelper()
	until := metav1.NewTime(time.Now().Add(80 * 24 * time.Hour))
	var certificates certmanagerv1.CertificateList
	Expect(admin.List(ctx, &certificates, client.InNamespace(operatorNamespace))).To(Succeed())
	for _, c := range certificates.Items {
		c.Status.NotAfter = &until
		c.Status.Conditions = []certmanagerv1.CertificateCondition{{Type: certmanagerv1.CertificateConditionReady, Status: cmmeta.ConditionTrue}}
		Expect(admin.Status().Update(ctx, &c)).To(Succeed())
	}
	var issuers certmanagerv1.IssuerList
	Expect(admin.List(ctx, &issuers, client.InNamespace(operatorNamespace))).To(Succeed())
	for _, i := range issuers.Items {
		i.Status.Conditions = []certmanagerv1.IssuerCondition{{Type: certmanagerv1.IssuerConditionReady, Status: cmmeta.ConditionTrue}}
		Expect(admin.Status().Update(ctx, &i)).To(Succeed())
	}
}

// altered changes an object of the server and returns what puts it back.
func altered[T client.Object](ctx context.Context, o T, name string, change func(T)) func() {
	return alteredWith(ctx, func(ctx context.Context, o T) error { return admin.Update(ctx, o) }, o, name, change)
}

// alteredStatus is altered for a status.
func alteredStatus[T client.Object](ctx context.Context, o T, name string, change func(T)) func() {
	return alteredWith(ctx, func(ctx context.Context, o T) error { return admin.Status().Update(ctx, o) }, o, name, change)
}

func alteredWith[T client.Object](ctx context.Context, write func(context.Context, T) error, o T, name string, change func(T)) func() {
	GinkgoHelper()
	key := client.ObjectKey{Name: name}
	if slash := strings.IndexByte(name, '/'); slash > 0 {
		key = client.ObjectKey{Namespace: name[:slash], Name: name[slash+1:]}
	}
	Expect(admin.Get(ctx, key, o)).To(Succeed())
	before := o.DeepCopyObject().(T)
	change(o)
	Expect(write(ctx, o)).To(Succeed())
	return func() {
		ctx := context.WithoutCancel(ctx)
		Expect(admin.Get(ctx, key, o)).To(Succeed())
		before.SetResourceVersion(o.GetResourceVersion())
		Expect(write(ctx, before)).To(Succeed())
	}
}

// created creates an object and returns what takes it away.
func created(ctx context.Context, objects ...client.Object) func() {
	GinkgoHelper()
	for _, o := range objects {
		Expect(admin.Create(ctx, o)).To(Succeed())
	}
	return func() {
		for _, o := range objects {
			Expect(admin.Delete(context.WithoutCancel(ctx), o)).To(Succeed())
		}
	}
}

// deleted deletes an object and returns what makes it again.
func deleted(ctx context.Context, o client.Object, name string) func() {
	GinkgoHelper()
	Expect(admin.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: name}, o)).To(Succeed())
	Expect(admin.Delete(ctx, o)).To(Succeed())
	return func() {
		o.SetResourceVersion("")
		o.SetUID("")
		Expect(admin.Create(ctx, o)).To(Succeed())
	}
}

// everywhere gives a subject a right in the whole cluster.
func everywhere(ctx context.Context, name string, subject rbacv1.Subject, rule rbacv1.PolicyRule) func() {
	return created(ctx,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}, Subjects: []rbacv1.Subject{subject},
		})
}

func eve() rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: "eve"}
}

func rule(group, resource, verb string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
}

const ourWebhooks, ourCRD = "backupjob-webhook", "backupjobs.backup.example.com"

func webhookArgs(ctx context.Context, args ...string) func() {
	return altered(ctx, &appsv1.Deployment{}, operatorNamespace+"/backupjob-webhook", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Args = append([]string{"webhook"}, args...)
	})
}

// selfSigned is a pair that the door's bundle does not trust, for so long.
func selfSigned(lifetime time.Duration) (pem []byte, pair tls.Certificate) {
	GinkgoHelper()
	pem, key, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{Host: "127.0.0.1", AlternateIPs: []net.IP{net.IPv4(127, 0, 0, 1)}, MaxAge: lifetime})
	Expect(err).NotTo(HaveOccurred())
	pair, err = tls.X509KeyPair(pem, key)
	Expect(err).NotTo(HaveOccurred())
	return pem, pair
}

// auditBreakage breaks what a row looks at, on the server.
type auditBreakage struct {
	row, want, seen string
	make            func(ctx context.Context) (back func())
}

// mistrusted has the API server distrust the converter of a kind.
func mistrusted(ctx context.Context) (back func()) {
	GinkgoHelper()
	restore := altered(ctx, &apiextensionsv1.CustomResourceDefinition{}, ourCRD, func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Spec.Conversion.Webhook.ClientConfig.CABundle, _ = selfSigned(time.Hour)
	})
	return func() {
		restore()
		Eventually(ctx, func() error { return admin.List(ctx, listOf("v1alpha1", backupv1.KindBackupJob)) }).
			WithTimeout(soon).Should(Succeed(), "a converter takes a moment to be exchanged")
	}
}

var auditBreakages = []auditBreakage{
	{"webhook-rules", "fail", "sees CREATE of v1alpha1/backupjobs", func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
			c.Webhooks[0].Rules[0].APIVersions = []string{"v1"}
		})
	}},
	{"webhook-failure-policy", "fail", "failurePolicy Ignore", func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
			c.Webhooks[1].FailurePolicy = new(admissionregistrationv1.Ignore)
		})
	}},
	{"webhook-exemptions", "fail", labelNoWebhooks, func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
			c.Webhooks[0].NamespaceSelector = webhookNamespaces()
		})
	}},
	{"webhook-answers", "warn", "may take 30 seconds", func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
			c.Webhooks[0].TimeoutSeconds = new(int32(30))
		})
	}},
	{"webhook-target", "fail", "in namespace evil", func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
			c.Webhooks[0].ClientConfig.URL = nil
			c.Webhooks[0].ClientConfig.Service = &admissionregistrationv1.ServiceReference{Namespace: "evil", Name: "x", Path: new("/validate-backupjob")}
		})
	}},
	{"other-webhooks", "warn", "spy.example.com", func(ctx context.Context) func() {
		return created(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "spy"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "spy.example.com", FailurePolicy: new(admissionregistrationv1.Ignore), SideEffects: new(admissionregistrationv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1"},
				ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
				Rules: []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{"*"},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"backup.example.com"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
				}},
			}},
		})
	}},
	{"ca-bundles", "fail", "the CA bundle is empty", func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
			c.Webhooks[1].ClientConfig.CABundle = nil
		})
	}},
	{"served-certificate", "fail", "does not trust", func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
			c.Webhooks[0].ClientConfig.CABundle, _ = selfSigned(time.Hour)
		})
	}},
	{"certificate-expiry", "fail", "has expired", func(context.Context) func() {
		before := door.pair
		_, door.pair = selfSigned(2 * time.Second)
		return func() { door.pair = before }
	}},
	{"cert-manager", "fail", "Certificate backupjob-ca is not ready: no issuer", func(ctx context.Context) func() {
		return alteredStatus(ctx, &certmanagerv1.Certificate{}, operatorNamespace+"/backupjob-ca", func(c *certmanagerv1.Certificate) {
			c.Status.Conditions[0].Status, c.Status.Conditions[0].Message = cmmeta.ConditionFalse, "no issuer"
		})
	}},
	{"conversion", "fail", "backupjobs.backup.example.com is not converted", func(ctx context.Context) func() {
		return altered(ctx, &apiextensionsv1.CustomResourceDefinition{}, ourCRD, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		})
	}},
	{"conversion-works", "fail", "cannot be read as v1alpha1", mistrusted},
	{"conversion-works", "fail", "cannot be read as v1:", func(ctx context.Context) func() {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}} // the first of the list
		Expect(admin.Create(ctx, ns)).To(Succeed())
		toNew := anEarlierRelease(ctx, false)
		old := object("v1alpha1", backupv1.KindBackupJob, ns.Name, "stored-long-ago", nil)
		Expect(admin.Create(ctx, old)).To(Succeed())
		toNew(ctx)
		back := mistrusted(ctx)
		return func() {
			back()
			Expect(admin.Delete(ctx, old)).To(Succeed())
			forgetStoredVersions(ctx)
			Expect(admin.Delete(ctx, ns)).To(Succeed())
		}
	}},
	{"stored-versions", "warn", "stored as v1, v1alpha1", func(ctx context.Context) func() {
		return alteredStatus(ctx, &apiextensionsv1.CustomResourceDefinition{}, ourCRD, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Status.StoredVersions = []string{"v1", "v1alpha1"}
		})
	}},
	{"schemas", "warn", "the schema of backupjobs.backup.example.com v1", func(ctx context.Context) func() {
		return altered(ctx, &apiextensionsv1.CustomResourceDefinition{}, ourCRD, func(d *apiextensionsv1.CustomResourceDefinition) {
			spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			delete(spec.Properties, "podTemplate")
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
		})
	}},
	{"second-lock", "fail", "no binding of the policy backupjob-status denies", func(ctx context.Context) func() {
		return altered(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}, "backupjob-status", func(b *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
			b.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Audit}
		})
	}},
	{"replicas", "warn", "backupjob-webhook: 1 of 2 are ready", func(ctx context.Context) func() {
		return alteredStatus(ctx, &corev1.Pod{}, operatorNamespace+"/backupjob-webhook-a", func(p *corev1.Pod) {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
		})
	}},
	{"disruption-budgets", "warn", "backupjob-webhook has no", func(ctx context.Context) func() {
		return deleted(ctx, &policyv1.PodDisruptionBudget{}, "backupjob-webhook")
	}},
	{"pods-restricted", "fail", "may write to its root file system", func(ctx context.Context) func() {
		return altered(ctx, &appsv1.Deployment{}, operatorNamespace+"/backupjob-controller", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem = nil
		})
	}},
	{"reference-authorization", "fail", `the mode is "off"`, func(ctx context.Context) func() { return webhookArgs(ctx, "--reference-authorization=off") }},
	{"client-authentication", "pass", "demand a client certificate of api", func(ctx context.Context) func() {
		return webhookArgs(ctx, "--admission-client-ca=/ca.crt", "--admission-client-name=api")
	}},
	{"pod-security", "fail", `enforces only "privileged"`, func(ctx context.Context) func() {
		return altered(ctx, &corev1.Namespace{}, operatorNamespace, func(n *corev1.Namespace) { n.Labels["pod-security.kubernetes.io/enforce"] = "privileged" })
	}},
	{"network-policies", "fail", "backupjob-webhook: no NetworkPolicy bounds who may call it", func(ctx context.Context) func() {
		return deleted(ctx, &networkingv1.NetworkPolicy{}, "backupjob-webhook")
	}},
	{"own-rights", "fail", "backupjob-webhook may get secrets", func(ctx context.Context) func() {
		return everywhere(ctx, "more", rbacv1.Subject{Kind: "ServiceAccount", Namespace: operatorNamespace, Name: "backupjob-webhook"}, rule("", "secrets", "get"))
	}},
	{"user-roles", "fail", "backupjob-viewer lets users delete jobs of batch", func(ctx context.Context) func() {
		return altered(ctx, &rbacv1.ClusterRole{}, "backupjob-viewer", func(c *rbacv1.ClusterRole) { c.Rules = append(c.Rules, rule("batch", "jobs", "delete")) })
	}},
	{"who-writes-webhooks", "warn", "User:eve by ClusterRoleBinding eve", func(ctx context.Context) func() {
		return everywhere(ctx, "eve", eve(), rule("admissionregistration.k8s.io", "validatingwebhookconfigurations", "delete"))
	}},
	{"who-writes-crds", "warn", "User:eve", func(ctx context.Context) func() {
		return everywhere(ctx, "eve", eve(), rule("apiextensions.k8s.io", "customresourcedefinitions", "patch"))
	}},
	{"who-writes-policies", "warn", "User:eve", func(ctx context.Context) func() {
		return everywhere(ctx, "eve", eve(), rule("admissionregistration.k8s.io", "validatingadmissionpolicybindings", "update"))
	}},
	{"who-reaches-secrets", "fail", "Group:system:authenticated, which is everyone", func(ctx context.Context) func() {
		return everywhere(ctx, "all", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:authenticated"}, rule("", "secrets", "list"))
	}},
	{"who-runs-pods", "warn", "User:eve by RoleBinding eve (edit)", func(ctx context.Context) func() {
		return created(ctx,
			&rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "eve"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"}, Subjects: []rbacv1.Subject{eve()},
			})
	}},
	{"who-writes-services", "warn", "User:eve", func(ctx context.Context) func() { return everywhere(ctx, "eve", eve(), rule("", "services", "patch")) }},
	{"who-takes-rights", "warn", "User:eve", func(ctx context.Context) func() {
		return everywhere(ctx, "eve", eve(), rule("", "users", "impersonate"))
	}},
}

var _ = Describe("kubectl backup audit", Serial, Ordered, func() {
	var binary string
	BeforeAll(func(ctx context.Context) {
		binary = filepath.Join(GinkgoT().TempDir(), "kubectl-backup")
		out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "../../cmd/kubectl-backup").CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		aggregateRoles()
		installTheRest(ctx)
		// The suite's own exemption is what the audit is there to find.
		DeferCleanup(altered(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
			for i := range c.Webhooks {
				c.Webhooks[i].NamespaceSelector = nil
			}
		}))
		DeferCleanup(altered(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, ourWebhooks, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
			for i := range c.Webhooks {
				c.Webhooks[i].NamespaceSelector = nil
			}
		}))
		ns := newNamespace(ctx, nil)
		for _, kind := range kinds {
			Expect(admin.Create(ctx, object("v1", kind, ns, "converted", nil))).To(Succeed())
		}
	})

	// The suite calls the webhooks at a URL, and without client certificates.
	expected := map[string]string{"webhook-target": "warn", "client-authentication": "warn"}

	It("finds nothing else wrong with what is shipped", func(ctx context.Context) {
		Eventually(ctx, func(g Gomega) {
			report, code := audit(ctx, binary)
			for id, status := range report.statuses() {
				want := "pass"
				if _, ok := expected[id]; ok {
					want = expected[id]
				}
				g.Expect(status).To(Equal(want), id+": "+report.seen(id))
			}
			g.Expect(code).To(Equal(0))
			g.Expect(report.Namespace).To(Equal(operatorNamespace))
			g.Expect(report.MissingRights).To(BeEmpty())
			g.Expect(report.seen("conversion-works")).To(ContainSubstring("BackupJob: read as v1alpha1"))
			g.Expect(report.seen("served-certificate")).To(ContainSubstring("TLS 1.3, trusted by all that call it"))
		}).WithTimeout(soon).Should(Succeed(), "the built-in roles are made up of others in a moment")
		_, code := audit(ctx, binary, "--strict", "--accept", "webhook-target,client-authentication")
		Expect(code).To(Equal(0))
		_, code = audit(ctx, binary, "--strict")
		Expect(code).To(Equal(1))
	})

	for _, b := range auditBreakages {
		It("sees what "+b.row+" is about", func(ctx context.Context) {
			back := b.make(ctx)
			defer back()
			Eventually(ctx, func(g Gomega) {
				report, code := audit(ctx, binary, "--operator-namespace", operatorNamespace)
				g.Expect(report.statuses()).To(HaveKeyWithValue(b.row, b.want), report.seen(b.row))
				g.Expect(report.seen(b.row)).To(ContainSubstring(b.seen))
				g.Expect(code == 1).To(Equal(report.Summary.Fail > 0))
				g.Expect(b.want != "fail" || code == 1).To(BeTrue())
			}).WithTimeout(soon).Should(Succeed(), "what the API server serves follows in a moment")
		})
	}

	It("has each of its rows broken above", func(ctx context.Context) {
		report, _ := audit(ctx, binary)
		for id := range report.statuses() {
			Expect(slices.ContainsFunc(auditBreakages, func(b auditBreakage) bool { return b.row == id })).To(BeTrue(), id)
		}
	})

	It("needs only to get and to list", func(ctx context.Context) {
		role := auditorRole()
		for _, r := range role.Rules {
			Expect(r.Verbs).To(HaveEach(BeElementOf("get", "list")))
		}
		Expect(admin.Create(ctx, role)).To(Succeed())
		DeferCleanup(created(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "auditor"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "auditor"}},
		}))
		DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, role)).To(Succeed()) })
		whole, _ := audit(ctx, binary)
		Eventually(ctx, func(g Gomega) {
			report, code := audit(ctx, binary, "--as", "auditor")
			g.Expect(report.statuses()).To(Equal(whole.statuses()))
			g.Expect(report.MissingRights).To(BeEmpty())
			g.Expect(code).To(Equal(0))
		}).WithTimeout(soon).Should(Succeed(), "rights take a moment to be used")
	})

	It("says what it may not read, and checks the rest", func(ctx context.Context) {
		DeferCleanup(everywhere(ctx, "half", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: "half"},
			rbacv1.PolicyRule{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"list"}}))
		Eventually(ctx, func(g Gomega) {
			report, code := audit(ctx, binary, "--as", "half")
			g.Expect(report.statuses()).To(HaveKeyWithValue("webhook-failure-policy", "pass"))
			g.Expect(report.statuses()).To(HaveKeyWithValue("who-writes-webhooks", "warn"))
			g.Expect(report.seen("who-writes-webhooks")).To(HavePrefix("not checked\nyou have no right to list clusterroles"))
			g.Expect(report.MissingRights).To(ContainElements("list clusterroles", "get customresourcedefinitions", "list pods in namespace backupjob-system"))
			g.Expect(code).To(Equal(0))
		}).WithTimeout(soon).Should(Succeed(), "rights take a moment to be used")
		_, code := audit(ctx, binary, "--as", "half", "--strict")
		Expect(code).To(Equal(1))
	})

	It("writes a page that asks for nothing from elsewhere", func(ctx context.Context) {
		out, err := exec.CommandContext(ctx, binary, "audit", "-o", "html", "--kubeconfig", kubeconfigFile()).Output()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(out)).To(HavePrefix("<!DOCTYPE html>"))
		Expect(string(out)).NotTo(MatchRegexp(`(?i)<(script|link|img|iframe)|\bsrc=|url\(|@import`))
		Expect(bytes.Count(out, []byte(`class="mark`))).To(BeNumerically(">", len(auditBreakages)))
	})
})

// auditorRole is the role that docs/security.md tells to give to whoever runs
// the audit.
func auditorRole() *rbacv1.ClusterRole {
	GinkgoHelper()
	roles := documentedRoles("../../docs/security.md")
	Expect(roles).To(HaveLen(1))
	return roles[0]
}

// documentedRoles are the ClusterRoles that stand in a document.
func documentedRoles(file string) []*rbacv1.ClusterRole {
	GinkgoHelper()
	text, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	var found []*rbacv1.ClusterRole
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		role := &rbacv1.ClusterRole{}
		if yaml.Unmarshal([]byte(block), role) == nil && role.Kind == "ClusterRole" {
			found = append(found, role)
		}
	}
	return found
}
