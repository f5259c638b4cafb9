// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// asController is a client of the controller's account with every right.
func asController() client.Client {
	GinkgoHelper()
	cfg := rest.CopyConfig(config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: controllerUser, Groups: []string{"system:masters"}}
	return clientWithHandler(cfg, rest.NoWarnings{})
}

// askingTooLong gives an object an annotation that no schema can refuse.
func askingTooLong(u *unstructured.Unstructured) *unstructured.Unstructured {
	u.SetAnnotations(map[string]string{backupv1.AnnotationRunRequestedAt: strings.Repeat("x", 257)})
	return u
}

// invariant is one rule of the second lock: a value that it refuses, and
// another one that is as bad.
type invariant struct {
	name       string
	v1, old    string // as in bound
	bad, worse any
	says       string
}

var invariants = []invariant{
	{name: "root as the user", v1: "podTemplate.runAsUser", bad: int64(0), worse: int64(-1), says: "spec.podTemplate.runAsUser: must be"},
	{name: "root as the group", v1: "podTemplate.fsGroup", bad: int64(0), worse: int64(-1), says: "spec.podTemplate.fsGroup: must be"},
	{name: "a label of ours", v1: "podTemplate.labels", bad: map[string]any{"backup.example.com/uid": "x"},
		worse: map[string]any{"backup.example.com/uid": "y"}, says: "spec.podTemplate.labels: must not"},
	{name: "an annotation of batch", v1: "podTemplate.annotations", bad: map[string]any{"batch.kubernetes.io/job-name": "x"},
		worse: map[string]any{"batch.kubernetes.io/job-name": "x", "app.kubernetes.io/name": "y"}, says: "spec.podTemplate.annotations: must not"},
	{name: "a database that looks like an option", v1: "DATABASE", old: "database", bad: "-h", worse: "--all-databases", says: "name of a database"},
	{name: "a database that looks like a path", v1: "DATABASE", old: "database", bad: "../x", worse: "x/y", says: "name of a database"},
	{name: "a database with a line break", v1: "DATABASE", old: "database", bad: "a\nb", worse: "a\nc", says: "name of a database"},
	{name: "a host that looks like an option", v1: "source.host", old: "HOST", bad: "-db", worse: "--db", says: "the host must not"},
	{name: "a host with a blank", v1: "source.host", old: "HOST", bad: "db x", worse: "db y", says: "the host must not"},
	{name: "a zone inside the schedule", v1: "schedule", old: "SCHEDULE", bad: "TZ=UTC 0 2 * * *", worse: "TZ=0", says: "must not contain a time zone"},
	{name: "two zones inside the schedule", v1: "schedule", old: "SCHEDULE", bad: "CRON_TZ=UTC TZ=UTC 0 2 * * *", worse: "CRON_TZ=UTC =", says: "must not contain a time zone"},
	{name: "retention of no days", v1: "retention.days", old: "retentionDays", bad: int64(0), worse: int64(-1), says: "days of retention must"},
	{name: "no backup kept", v1: "retention.minBackups", old: "minBackups", bad: int64(0), worse: int64(-1), says: "always kept must"},
	{name: "an absolute folder", v1: "storage.persistentVolumeClaim.subPath", bad: "/etc", worse: "/var", says: "subPath: must be relative"},
	{name: "a folder that climbs", v1: "storage.persistentVolumeClaim.subPath", bad: "a/../../b", worse: "..", says: "subPath: must be relative"},
}

// in returns an object with the value in the place of the version.
func (i invariant) in(u *unstructured.Unstructured, version, kind string, value any) *unstructured.Unstructured {
	GinkgoHelper()
	path := i.v1
	if version == "v1alpha1" && i.old != "" {
		path = strings.NewReplacer("SCHEDULE", scheduleField(version, kind), "HOST", hostField(kind)).Replace(i.old)
	}
	if path == "DATABASE" {
		return set(u, []any{"good", value}, "spec", "source", "databases")
	}
	return set(u, value, append([]string{"spec"}, strings.Split(path, ".")...)...)
}

func refusedByPolicy(err error, policy, says string) {
	GinkgoHelper()
	Expect(err).To(MatchError(And(ContainSubstring("ValidatingAdmissionPolicy '"+policy+"'"), ContainSubstring(says))))
	Expect(apierrors.IsInvalid(err) || apierrors.IsForbidden(err)).To(BeTrue(), "it is a refusal, not a fault: %v", err)
}

// withoutTheRest takes away all that stands in front of the second lock until
// the end of the specs: both webhook configurations, and the schemas.
func withoutTheRest(ctx context.Context) {
	GinkgoHelper()
	for _, o := range []client.Object{&admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}} {
		Expect(admin.Get(ctx, client.ObjectKey{Name: "backupjob-webhook"}, o)).To(Succeed())
		Expect(admin.Delete(ctx, o)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			o.SetResourceVersion("")
			Expect(admin.Create(ctx, o)).To(Succeed())
			awaitWebhooks(ctx, admin)
		})
	}
	for _, crd := range crds(ctx) {
		closed := crd.DeepCopy()
		open := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &open}
		}
		Expect(admin.Update(ctx, &crd)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(closed), &crd)).To(Succeed())
			crd.Spec.Versions = closed.Spec.Versions
			Expect(admin.Update(ctx, &crd)).To(Succeed())
			for _, version := range versions {
				awaitSchema(ctx, version, crd.Spec.Names.Kind, MatchError(ContainSubstring("spec.compression")))
			}
		})
	}
	for _, kind := range kinds {
		for _, version := range versions {
			awaitSchema(ctx, version, kind, Succeed())
		}
	}
}

// awaitSchema waits until the server judges an object with a compression of no
// such name in that way.
func awaitSchema(ctx context.Context, version, kind string, verdict OmegaMatcher) {
	GinkgoHelper()
	Eventually(ctx, func() error {
		return admin.Create(ctx, object(version, kind, "default", "schema", map[string]any{"compression": "Bzip2"}), client.DryRunAll)
	}).WithTimeout(soon).Should(verdict, "a schema takes a moment to be used")
}

// withoutInvariants takes the policy of the invariants away, as before there
// was one, and returns what puts it back.
func withoutInvariants(ctx context.Context) (back func()) {
	GinkgoHelper()
	ctx = context.WithoutCancel(ctx)
	ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
	return unbound(ctx, func() error {
		return admin.Create(ctx, askingTooLong(object("v1", backupv1.KindBackupJob, ns, "probe", nil)), client.DryRunAll)
	})
}

// unbound takes the binding of the invariants away and returns what puts it back.
func unbound(ctx context.Context, noticed func() error) (back func()) {
	GinkgoHelper()
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	Expect(admin.Get(ctx, client.ObjectKey{Name: "backupjob-invariants"}, binding)).To(Succeed())
	Expect(admin.Delete(ctx, binding)).To(Succeed())
	Eventually(ctx, noticed).WithTimeout(soon).Should(Succeed(), "a binding takes a moment to be forgotten")
	return func() {
		GinkgoHelper()
		binding.ResourceVersion = ""
		Expect(admin.Create(ctx, binding)).To(Succeed())
		Eventually(ctx, noticed).WithTimeout(soon).ShouldNot(Succeed(), "a binding takes a moment to be held")
	}
}

var _ = Describe("The second lock, with the webhook configurations deleted and the schemas opened", Serial, Ordered, func() {
	var ns string
	BeforeAll(func(ctx context.Context) {
		ns = newNamespace(ctx, nil)
		withoutTheRest(ctx)
	})

	for _, kind := range kinds {
		for _, version := range versions {
			for _, i := range invariants {
				It("refuses in "+version+" "+kind+" "+i.name, func(ctx context.Context) {
					refusedByPolicy(admin.Create(ctx, i.in(object(version, kind, ns, "bad", nil), version, kind, i.bad)), "backupjob-invariants", i.says)
					good := object(version, kind, ns, "good", nil)
					Expect(admin.Create(ctx, good)).To(Succeed())
					refusedByPolicy(admin.Update(ctx, i.in(good.DeepCopy(), version, kind, i.bad)), "backupjob-invariants", i.says)
					Expect(admin.Delete(ctx, good)).To(Succeed())
				})
			}

			It("lets what was stored in "+version+" "+kind+" before it be edited, finalized and deleted, but not made worse", func(ctx context.Context) {
				back := unbound(ctx, func() error {
					return admin.Create(ctx, askingTooLong(object("v1", kind, ns, "probe", nil)), client.DryRunAll)
				})
				for n, i := range invariants {
					u := i.in(object(version, kind, ns, storedName(n), nil), version, kind, i.bad)
					u.SetFinalizers([]string{"integration.test/hold"})
					Expect(admin.Create(ctx, u)).To(Succeed())
				}
				back()
				for n, i := range invariants {
					By(i.name)
					editStored(ctx, version, kind, ns, storedName(n))
					worse := i.in(read(ctx, version, kind, ns, storedName(n)), version, kind, i.worse)
					refusedByPolicy(admin.Update(ctx, worse), "backupjob-invariants", i.says)

					Expect(admin.Delete(ctx, read(ctx, version, kind, ns, storedName(n)))).To(Succeed())
					u := read(ctx, version, kind, ns, storedName(n))
					Expect(u.GetDeletionTimestamp()).NotTo(BeNil())
					u.SetFinalizers(nil)
					Expect(admin.Update(ctx, u)).To(Succeed())
				}
			})
		}
	}
})

func storedName(n int) string { return "stored-" + string(rune('a'+n)) }

// editStored edits what is none of the faults of an object, in both versions.
func editStored(ctx context.Context, written, kind, ns, name string) {
	GinkgoHelper()
	for _, version := range versions {
		u := read(ctx, version, kind, ns, name)
		u.SetLabels(map[string]string{"edited": version})
		Expect(admin.Update(ctx, u)).To(Succeed())
	}
	Expect(admin.Update(ctx, set(read(ctx, written, kind, ns, name), true, "spec", "suspend"))).To(Succeed())
}

var _ = Describe("The second lock", func() {
	for _, kind := range kinds {
		for _, version := range versions {
			It("holds what no schema can say of "+version+" "+kind+", and no older one back", Serial, func(ctx context.Context) {
				ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
				long := func(name string) *unstructured.Unstructured {
					return askingTooLong(object(version, kind, ns, name, nil))
				}
				refusedByPolicy(admin.Create(ctx, long("long")), "backupjob-invariants", "at most 256 characters")
				back := unbound(ctx, func() error { return admin.Create(ctx, long("probe"), client.DryRunAll) })
				Expect(admin.Create(ctx, long("long"))).To(Succeed())
				back()
				editStored(ctx, version, kind, ns, "long")
				u := read(ctx, version, kind, ns, "long")
				u.SetAnnotations(map[string]string{backupv1.AnnotationRunRequestedAt: strings.Repeat("y", 257)})
				refusedByPolicy(admin.Update(ctx, u), "backupjob-invariants", "at most 256 characters")
				Expect(admin.Delete(ctx, read(ctx, version, kind, ns, "long"))).To(Succeed())
			})

			It("lets nobody but the controller write a status of "+version+" "+kind, func(ctx context.Context) {
				ns := newNamespace(ctx, nil)
				Expect(admin.Create(ctx, object(version, kind, ns, "a", nil))).To(Succeed())
				forged := set(read(ctx, version, kind, ns, "a"), "Succeeded", "status", "lastResult")
				refusedByPolicy(admin.Status().Update(ctx, forged.DeepCopy()), "backupjob-status", "only "+controllerUser+" writes the status")
				patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Running"}}`))
				refusedByPolicy(admin.Status().Patch(ctx, forged.DeepCopy(), patch), "backupjob-status", "only")
				Expect(asController().Status().Update(ctx, forged)).To(Succeed())
				same := read(ctx, version, kind, ns, "a")
				Expect(same.Object["status"]).To(HaveKeyWithValue("lastResult", "Succeeded"))
				Expect(admin.Status().Update(ctx, same)).To(Succeed(), "a write that changes nothing")
			})

			for _, file := range []string{"schedules.yaml", "timezones.yaml"} {
				It("refuses nothing of "+file+" that the webhooks accept in "+version+" "+kind, func(ctx context.Context) {
					ns := newNamespace(ctx, map[string]string{labelNoWebhooks: ""})
					accepted := 0
					for _, c := range readCases(file) {
						u := object(version, kind, "default", "case", caseSpec(c, file, version, kind))
						if admin.Create(ctx, u.DeepCopy(), client.DryRunAll) != nil {
							continue
						}
						accepted++
						u.SetNamespace(ns)
						Expect(admin.Create(ctx, u, client.DryRunAll)).To(Succeed(), c.Value)
					}
					Expect(accepted).To(BeNumerically(">", 5))
				})
			}
		}
	}

	It("refuses none of the samples, with and without the webhooks", func(ctx context.Context) {
		for _, labels := range []map[string]string{nil, {labelNoWebhooks: ""}} {
			ns := newNamespace(ctx, labels)
			for _, u := range samples() {
				u.SetNamespace(ns)
				Expect(admin.Create(ctx, u)).To(Succeed())
			}
		}
	})
})

func caseSpec(c fieldCase, file, version, kind string) map[string]any {
	field := scheduleField(version, kind)
	switch {
	case file == "schedules.yaml":
		return map[string]any{field: c.Value}
	case version == "v1alpha1":
		return map[string]any{field: "CRON_TZ=" + c.Value + " 0 12 * * *"}
	}
	return map[string]any{field: "0 12 * * *", "timeZone": c.Value}
}

// samples are our objects in config/samples.
func samples() []*unstructured.Unstructured {
	GinkgoHelper()
	files, err := filepath.Glob("../../config/samples/v1*.yaml")
	Expect(err).NotTo(HaveOccurred())
	var found []*unstructured.Unstructured
	for _, name := range files {
		file, err := os.Open(name)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(file.Close)
		u := &unstructured.Unstructured{}
		Expect(yaml.NewYAMLOrJSONDecoder(file, 4096).Decode(u)).To(Succeed())
		Expect(u.GetAPIVersion()).To(HavePrefix(backupv1.GroupName))
		found = append(found, u)
	}
	Expect(found).To(HaveLen(len(kinds) * len(versions)))
	return found
}

// safeJob is what the controller's account may create.
func safeJob(namespace string) *batchv1.Job {
	no, yes, id := false, true, int64(65532)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "job", Labels: map[string]string{backupv1.LabelUID: "x"}},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: &no,
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &id, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "c", Image: "c", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		}}},
	}
}

var _ = Describe("The second lock on the controller's Jobs", func() {
	for name, spoil := range map[string]func(*batchv1.Job, *corev1.PodSpec){
		"is for none of our objects": func(j *batchv1.Job, _ *corev1.PodSpec) { j.Labels = nil },
		"shares its node's network":  func(_ *batchv1.Job, p *corev1.PodSpec) { p.HostNetwork = true },
		"sees its node's processes":  func(_ *batchv1.Job, p *corev1.PodSpec) { p.HostPID = true },
		"mounts a folder of its node": func(_ *batchv1.Job, p *corev1.PodSpec) {
			p.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		},
		"projects a token": func(_ *batchv1.Job, p *corev1.PodSpec) {
			p.Volumes[0].VolumeSource = corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}}}}}
		},
		"has the token of an account":  func(_ *batchv1.Job, p *corev1.PodSpec) { p.AutomountServiceAccountToken = nil },
		"may be root":                  func(_ *batchv1.Job, p *corev1.PodSpec) { p.SecurityContext.RunAsNonRoot = nil },
		"has a container that is root": func(_ *batchv1.Job, p *corev1.PodSpec) { p.Containers[0].SecurityContext.RunAsNonRoot = new(false) },
		"has no seccomp profile":       func(_ *batchv1.Job, p *corev1.PodSpec) { p.SecurityContext.SeccompProfile = nil },
		"has a privileged container": func(_ *batchv1.Job, p *corev1.PodSpec) {
			p.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		},
		"has a container that gains rights": func(_ *batchv1.Job, p *corev1.PodSpec) {
			p.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
		},
		"has a container with a capability": func(_ *batchv1.Job, p *corev1.PodSpec) {
			p.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"NET_RAW"}
		},
		"has a container that may write": func(_ *batchv1.Job, p *corev1.PodSpec) { p.Containers[0].SecurityContext.ReadOnlyRootFilesystem = nil },
		"has a first container without bound": func(_ *batchv1.Job, p *corev1.PodSpec) {
			p.InitContainers = []corev1.Container{{Name: "i", Image: "i"}}
		},
	} {
		It("refuses a Job that "+name, func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			job := safeJob(ns)
			spoil(job, &job.Spec.Template.Spec)
			Expect(admin.Create(ctx, job.DeepCopy(), client.DryRunAll)).To(Succeed(), "it is only the controller that must not")
			refusedByPolicy(asController().Create(ctx, job), "backupjob-jobs", "must")
		})
	}

	It("lets the controller create what it does", func(ctx context.Context) {
		Expect(asController().Create(ctx, safeJob(newNamespace(ctx, nil)))).To(Succeed())
	})
})
