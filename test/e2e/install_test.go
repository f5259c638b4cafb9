// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	backupv1 "example.com/backupjob-operator/api/v1"
)

// samples are one object of each kind in each version, as people write them.
var samples = []string{"v1_backupjob", "v1alpha1_mysqlbackup", "v1alpha1_backupjob", "v1_mysqlbackup"}

// install does what the guide says, in a folder with config, and as soon as
// that is over applies a sample of each kind and version, once. The turn says
// which of them is the first.
func install(ctx context.Context, folder, namespace string, turn int) {
	GinkgoHelper()
	ns := newNamespace(ctx)
	follow(ctx, folder, strings.ReplaceAll(commands("operating.md", "## Install")[0], operatorNamespace, namespace))
	args := []string{"apply", "-n", ns}
	for i := range samples {
		args = append(args, "-f", filepath.Join(project, "config", "samples", samples[(turn+i)%len(samples)]+".yaml"))
	}
	Expect(strings.Count(kubectl(ctx, args...), ".backup.example.com/")).To(Equal(len(samples)))
}

// elsewhere is a folder with config whose one line says another namespace and
// a prefix, as the guide does.
func elsewhere(ctx context.Context) string {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	Expect(os.CopyFS(filepath.Join(folder, "config"), os.DirFS(filepath.Join(project, "config")))).To(Succeed())
	follow(ctx, folder, commands("operating.md", "### Into another namespace, under other names")[0])
	return folder
}

// installed is all that config/default has, as it is in the cluster.
func installed(ctx context.Context) map[string]*unstructured.Unstructured {
	GinkgoHelper()
	var list struct{ Items []map[string]any }
	Expect(json.Unmarshal([]byte(kubectl(ctx, "get", "-k", project+"/"+current, "-o", "json")), &list)).To(Succeed())
	found := map[string]*unstructured.Unstructured{}
	for _, item := range list.Items {
		u := &unstructured.Unstructured{Object: item}
		found[u.GetKind()+" "+u.GetName()] = u
	}
	return found
}

// unchanged compares what is installed with what was. Objects that were not
// written at all have the same version, except that others write statuses.
func unchanged(ctx context.Context, before map[string]*unstructured.Unstructured, written bool) {
	GinkgoHelper()
	now := installed(ctx)
	Expect(now).To(HaveLen(len(before)))
	for name, was := range before {
		is := now[name]
		Expect(is).NotTo(BeNil(), name)
		Expect(is.GetGeneration()).To(Equal(was.GetGeneration()), name)
		for _, part := range []string{"spec", "webhooks", "rules", "roleRef", "subjects"} {
			Expect(reflect.DeepEqual(is.Object[part], was.Object[part])).To(BeTrue(), "%s of %s: %v", part, name, is.Object[part])
		}
		if !written && reflect.DeepEqual(is.Object["status"], was.Object["status"]) {
			Expect(is.GetResourceVersion()).To(Equal(was.GetResourceVersion()), name)
		}
	}
}

var _ = Describe("Applying config/default again", Serial, func() {
	It("changes nothing and never touches a bundle, by the client and by the server", func(ctx context.Context) {
		load := startApplier(ctx, newNamespace(ctx), 50*time.Millisecond)
		before, trusted := installed(ctx), bundles(ctx, Default)
		for _, way := range []struct{ flag, nothing string }{
			// kubectl sends the selector of a disruption budget each time, as its
			// type asks for, and takes that for a change.
			{"--server-side=false", `(?m) unchanged$|^poddisruptionbudget\S+ configured$`},
			{"--server-side=true", `(?m) serverside-applied$`},
		} {
			By("applying with " + way.flag)
			kubectl(ctx, "apply", way.flag, "-k", project+"/"+current) // may note who manages what
			unchanged(ctx, before, true)
			noted := installed(ctx)
			out := kubectl(ctx, "apply", way.flag, "-k", project+"/"+current)
			Expect(regexp.MustCompile(way.nothing).FindAllString(out, -1)).To(HaveLen(len(before)), out)
			unchanged(ctx, noted, false)
			Expect(bundles(ctx, Default)).To(Equal(trusted))
		}
		load.goOn(ctx, 20)
		load.end()
	})
})

var _ = Describe("The operator in another namespace, under other names", Serial, func() {
	BeforeEach(func() { DeferCleanup(func(ctx context.Context) { deploy(ctx, current) }) })

	It("works, is found by the audit, and keeps every backup when it is removed", func(ctx context.Context) {
		out, err := undeploy(ctx, "release", current)
		Expect(err).NotTo(HaveOccurred(), out)
		folder := elsewhere(ctx)
		install(ctx, folder, "elsewhere", 0)
		kept := backedUp(ctx, "kept", backupv1.DeletionDelete)

		By("having it audited")
		out, code := plugin(ctx, "audit", "--strict", "--accept", "replicas,client-authentication")
		Expect(code).To(Equal(0), out)
		Expect(out).To(MatchRegexp(`Pod team-a-backupjob-webhook-\S+, by port-forward, serves serial [0-9a-f]+ of team-a-backupjob-webhook.elsewhere.svc, TLS 1.3, trusted by all`))
		Expect(out).To(ContainSubstring(" 0 warn, 0 fail."))

		By("removing it")
		out, err = undeploy(ctx, "release", filepath.Join(folder, current))
		Expect(err).NotTo(HaveOccurred(), out)
		nothingLeft(ctx)
		Expect(stored(ctx, kept)).To(ContainSubstring(".sql."))
		goes(ctx, kept.Namespace)
	})
})
