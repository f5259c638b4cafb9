// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/conversion"
)

// busy is the object that is written meanwhile.
const busy = "busy"

var plurals = map[string]string{backupv1.KindBackupJob: "backupjobs", backupv1.KindMySQLBackup: "mysqlbackups"}

// fleet are the objects that are migrated, suspended so that nothing runs.
type fleet struct {
	namespace string
	schemas   map[string]*structuralschema.Structural
}

func newFleet(ctx context.Context) *fleet {
	GinkgoHelper()
	f := &fleet{namespace: newNamespace(ctx), schemas: map[string]*structuralschema.Structural{}}
	for _, crd := range f.crds(ctx) {
		props := &apiextensions.JSONSchemaProps{}
		i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == "v1" })
		Expect(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[i].Schema.OpenAPIV3Schema, props, nil)).To(Succeed())
		structural, err := structuralschema.NewStructural(props)
		Expect(err).NotTo(HaveOccurred())
		f.schemas[crd.Spec.Names.Kind] = structural
	}
	return f
}

func (f *fleet) crds(ctx context.Context) []apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	var found []apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"backupjobs", "mysqlbackups"} {
		var crd apiextensionsv1.CustomResourceDefinition
		Expect(cluster.Get(ctx, client.ObjectKey{Name: plural + "." + backupv1.GroupName}, &crd)).To(Succeed())
		found = append(found, crd)
	}
	return found
}

func (f *fleet) storedVersions(ctx context.Context) (all []string) {
	GinkgoHelper()
	for _, crd := range f.crds(ctx) {
		all = append(all, strings.Join(crd.Status.StoredVersions, ","))
	}
	return all
}

// store says in which version objects are stored from now on.
func (f *fleet) store(ctx context.Context, version string) {
	GinkgoHelper()
	for _, crd := range f.crds(ctx) {
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == version
		}
		Expect(cluster.Update(ctx, &crd, client.FieldOwner("e2e"))).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(&crd), &crd)).To(Succeed())
			g.Expect(crd.Status.StoredVersions).To(ContainElement(version))
		}).WithTimeout(soon).Should(Succeed(), "the server notes which versions it may store")
	}
}

// restore brings back what is shipped.
func (f *fleet) restore(ctx context.Context) {
	GinkgoHelper()
	kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-k", "../../config/default")
	for kind, plural := range plurals {
		kubectl(ctx, "wait", "crd/"+plural+"."+backupv1.GroupName, "--timeout=120s", "--for=jsonpath={.spec.conversion.webhook.clientConfig.caBundle}")
		Eventually(ctx, func() error {
			return cluster.Create(ctx, f.configOf(kind, "probe", 0), client.DryRunAll)
		}).WithTimeout(2*soon).Should(Succeed(), "v1alpha1 must work again")
	}
}

// drop takes v1alpha1 out of the CRDs.
func (f *fleet) drop(ctx context.Context) {
	GinkgoHelper()
	for _, crd := range f.crds(ctx) {
		crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name != "v1" })
		crd.Spec.Conversion = nil
		delete(crd.Annotations, "cert-manager.io/inject-ca-from")
		Expect(cluster.Update(ctx, &crd, client.FieldOwner("e2e"))).To(Succeed())
	}
}

func kindOf(i int) string {
	return []string{backupv1.KindBackupJob, backupv1.KindMySQLBackup}[i%2]
}

func (f *fleet) config(name string, i int) *unstructured.Unstructured {
	return f.configOf(kindOf(i), name, i)
}

// configOf is what a team applies in v1alpha1.
func (f *fleet) configOf(kind, name string, i int) *unstructured.Unstructured {
	host, schedule := "databaseHost", "schedule"
	if kind == backupv1.KindMySQLBackup {
		host, schedule = "host", "backupSchedule"
	}
	spec := map[string]any{
		host: fmt.Sprintf("db-%d.example.com:%d", i, 3306+i), schedule: "CRON_TZ=Europe/Berlin 0 2 * * *", "suspend": true,
		"database": "shop", "retentionDays": int64(1 + i%30), "minBackups": int64(3), "secretRef": "login", "storageClaim": "claim",
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": backupv1.GroupName + "/v1alpha1", "kind": kind,
		"metadata": map[string]any{"namespace": f.namespace, "name": name, "labels": map[string]any{"team": "a"}}, "spec": spec,
	}}
}

// each does something for all objects, several at a time.
func (f *fleet) each(ctx context.Context, do func(ctx context.Context, i int) error) {
	GinkgoHelper()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range migrated {
		group.Go(func() error { return do(ctx, i) })
	}
	Expect(group.Wait()).To(Succeed())
}

func nameOf(i int) string { return fmt.Sprintf("m-%d", i) }

// create makes the objects and waits until the controller has seen them, so
// that it does not write them any more.
func (f *fleet) create(ctx context.Context) {
	GinkgoHelper()
	f.each(ctx, func(ctx context.Context, i int) error {
		return cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(f.config(nameOf(i), i)), client.FieldOwner("team-a"))
	})
	Eventually(ctx, func() (int, error) {
		seen := 0
		all, err := f.listed(ctx, "v1")
		for _, u := range all {
			if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase == string(backupv1.PhaseSuspended) {
				seen++
			}
		}
		return seen, err
	}).WithTimeout(whole).WithPolling(2*time.Second).Should(Equal(migrated), "the controller sees each")
}

func (f *fleet) listed(ctx context.Context, version string) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for kind := range plurals {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(backupv1.GroupName + "/" + version)
		list.SetKind(kind + "List")
		if err := cluster.List(ctx, list, client.InNamespace(f.namespace)); err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(list.Items, func(u unstructured.Unstructured) bool { return u.GetName() == busy })...)
	}
	return all, nil
}

func (f *fleet) list(ctx context.Context, version string) (all []unstructured.Unstructured) {
	GinkgoHelper()
	Eventually(ctx, func() (err error) {
		all, err = f.listed(ctx, version)
		if err != nil && !apierrors.IsTooManyRequests(err) {
			return StopTrying("no list").Wrap(err)
		}
		return err
	}).WithTimeout(whole).Should(Succeed(), "a server that takes up a CRD reads all objects first")
	return all
}

// contents are checksums of every object in both versions: of all that it says,
// as v1 and with v1's defaults, which the server fills in when it stores v1.
func (f *fleet) contents(ctx context.Context) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, version := range []string{"v1", "v1alpha1"} {
		for _, u := range f.list(ctx, version) {
			u.SetResourceVersion("")
			u.SetManagedFields(nil)
			u.SetGeneration(0)
			// The controller looks again at what has another generation.
			for _, path := range [][]string{{"status", "observedGeneration"}, {"status", "conditions"}} {
				unstructured.RemoveNestedField(u.Object, path...)
			}
			hub := inNew(&u)
			defaulting.Default(hub.Object, f.schemas[u.GetKind()])
			data, err := json.Marshal(hub.Object)
			Expect(err).NotTo(HaveOccurred())
			sum := sha256.Sum256(data)
			found[version+" "+u.GetKind()+"/"+u.GetName()] = hex.EncodeToString(sum[:])
		}
	}
	return found
}

func inNew(u *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	raw, err := u.MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	converted, err := conversion.Convert(raw, backupv1.GroupVersion.String())
	Expect(err).NotTo(HaveOccurred())
	hub := &unstructured.Unstructured{}
	Expect(hub.UnmarshalJSON(converted)).To(Succeed())
	return hub
}

// goOnInNew has every team apply its config in v1, and then a part of it.
func (f *fleet) goOnInNew(ctx context.Context) {
	GinkgoHelper()
	f.each(ctx, func(ctx context.Context, i int) error {
		full := inNew(f.config(nameOf(i), i))
		if err := cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(full.DeepCopy()), client.FieldOwner("team-a")); err != nil {
			return fmt.Errorf("the same in v1: %w", err)
		}
		for _, path := range [][]string{{"spec", "timeZone"}, {"spec", "source", "port"}, {"spec", "retention", "minBackups"}, {"metadata", "labels"}} {
			unstructured.RemoveNestedField(full.Object, path...)
		}
		if err := cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(full), client.FieldOwner("team-a")); err != nil {
			return fmt.Errorf("less in v1: %w", err)
		}
		now := &unstructured.Unstructured{}
		now.SetAPIVersion(full.GetAPIVersion())
		now.SetKind(full.GetKind())
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(full), now); err != nil {
			return err
		}
		spec := now.Object["spec"].(map[string]any)
		source, retention := spec["source"].(map[string]any), spec["retention"].(map[string]any)
		if spec["timeZone"] != nil || source["port"] != nil || retention["minBackups"] != int64(1) || len(now.GetLabels()) > 0 ||
			source["host"] != fmt.Sprintf("db-%d.example.com", i) {
			return fmt.Errorf("%s is not pruned, or too much is: %v", nameOf(i), now.Object)
		}
		return nil
	})
}

func (f *fleet) deleteBusy(ctx context.Context) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(cluster.Delete(ctx, f.config(busy, 0)))).To(Succeed())
}

// policy refuses each write of one object.
const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: owners.e2e.example.com}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [backup.example.com], apiVersions: ["*"], operations: [UPDATE], resources: ["*"]}
  validations:
  - {expression: "object.metadata.name != '%s'", message: this backup needs an owner}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: owners.e2e.example.com}
spec: {policyName: owners.e2e.example.com, validationActions: [Deny]}
`

func (f *fleet) refuse(ctx context.Context, name string) {
	GinkgoHelper()
	f.pipe(ctx, fmt.Sprintf(policy, name), "apply", "-f", "-")
	Eventually(ctx, func() error { return f.touch(ctx) }).WithTimeout(soon).Should(MatchError(ContainSubstring("needs an owner")), "a policy takes a moment")
}

func (f *fleet) acceptAll(ctx context.Context) {
	GinkgoHelper()
	f.pipe(ctx, fmt.Sprintf(policy, ""), "delete", "-f", "-")
	Eventually(ctx, func() error { return f.touch(ctx) }).WithTimeout(soon).Should(Succeed())
}

func (f *fleet) touch(ctx context.Context) error {
	u := f.config("m-7", 7)
	return cluster.Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte("{}")), client.DryRunAll)
}

func (f *fleet) pipe(ctx context.Context, stdin string, args ...string) {
	GinkgoHelper()
	cmd := command(ctx, "kubectl", args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

// requests counts the StorageVersionMigrations of our kinds.
func (f *fleet) requests() int {
	GinkgoHelper()
	var all storagemigrationv1.StorageVersionMigrationList
	Expect(cluster.List(context.Background(), &all)).To(Succeed())
	return len(slices.DeleteFunc(all.Items, func(m storagemigrationv1.StorageVersionMigration) bool {
		failed := meta.IsStatusConditionTrue(m.Status.Conditions, string(storagemigrationv1.MigrationFailed))
		return m.Spec.Resource.Group != backupv1.GroupName || failed
	}))
}

// ask has the cluster migrate by itself, as someone does without our command.
func (f *fleet) ask(ctx context.Context) {
	GinkgoHelper()
	var asked []*storagemigrationv1.StorageVersionMigration
	for _, plural := range plurals {
		one := &storagemigrationv1.StorageVersionMigration{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-" + plural + "-"},
			Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: backupv1.GroupName, Resource: plural}},
		}
		Expect(cluster.Create(ctx, one)).To(Succeed())
		asked = append(asked, one)
	}
	for _, one := range asked {
		Eventually(ctx, func(g Gomega) {
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(one), one)).To(Succeed())
			g.Expect(meta.IsStatusConditionTrue(one.Status.Conditions, string(storagemigrationv1.MigrationSucceeded))).To(BeTrue())
			g.Expect(meta.IsStatusConditionFalse(one.Status.Conditions, string(storagemigrationv1.MigrationRunning))).To(BeTrue())
		}).WithTimeout(whole).WithPolling(500 * time.Millisecond).Should(Succeed())
		Expect(cluster.Delete(ctx, one)).To(Succeed())
	}
}

// plugin runs a step as a user does.
func (f *fleet) plugin(ctx context.Context, args ...string) (out string, code int) {
	GinkgoHelper()
	return f.interrupted(ctx, "", args...)
}

// interrupted runs a step, and sends it SIGINT once it has printed a text.
func (f *fleet) interrupted(ctx context.Context, text string, args ...string) (out string, code int) {
	GinkgoHelper()
	cmd := commandWithin(ctx, whole, "kubectl-backup", append([]string{"migrate"}, args...)...)
	var printed printed
	cmd.Stdout, cmd.Stderr = &printed, &printed
	Expect(cmd.Start()).To(Succeed())
	if text != "" {
		Eventually(ctx, printed.String).WithTimeout(soon).Should(ContainSubstring(text))
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return printed.String(), exit.ExitCode()
	}
	Expect(err).NotTo(HaveOccurred())
	return printed.String(), 0
}

// printed is what a process wrote, to be read meanwhile.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *printed) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(data)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// report is what a program reads of -o json.
type report struct {
	Resources []struct {
		Name, Checksum     string
		Objects, Different int64
	}
	Managers    []struct{ Name string }
	Checks      []struct{ Name, Result, Message string }
	Problems    []struct{ Name, Reason, Message, Advice string }
	Notes, Next []string
}

// migrate runs a step and reads its report.
func (f *fleet) migrate(ctx context.Context, args ...string) (r report, code int) {
	GinkgoHelper()
	cmd := commandWithin(ctx, whole, "kubectl-backup", append(append([]string{"migrate"}, args...), "-o", "json")...)
	printed, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
		GinkgoWriter.Printf("%s\n", exit.Stderr)
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	if len(printed) > 0 {
		Expect(json.Unmarshal(printed, &r)).To(Succeed(), string(printed))
	}
	return r, code
}
