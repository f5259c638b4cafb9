// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp/cmpopts"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/webhooks"
)

// exchange is a ConversionReview with its answer.
type exchange struct {
	asked, answered apiextensionsv1.ConversionReview
}

// recorder keeps what the API server asks /convert, and what it gets.
type recorder struct {
	sync.Mutex
	bodies [][2][]byte
}

func (r *recorder) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != webhooks.PathConvert {
			next.ServeHTTP(w, req)
			return
		}
		asked, _ := io.ReadAll(req.Body) // a body that breaks off is no review, which the next one tells
		req.Body = io.NopCloser(bytes.NewReader(asked))
		both := &teeing{ResponseWriter: w}
		next.ServeHTTP(both, req)
		r.Lock()
		defer r.Unlock()
		r.bodies = append(r.bodies, [2][]byte{asked, both.copy.Bytes()})
	})
}

type teeing struct {
	http.ResponseWriter
	copy bytes.Buffer
}

func (t *teeing) Write(p []byte) (int, error) {
	t.copy.Write(p)
	return t.ResponseWriter.Write(p)
}

func (r *recorder) exchanges() []exchange {
	GinkgoHelper()
	r.Lock()
	defer r.Unlock()
	all := make([]exchange, len(r.bodies))
	for i, bodies := range r.bodies {
		Expect(json.Unmarshal(bodies[0], &all[i].asked)).To(Succeed())
		Expect(json.Unmarshal(bodies[1], &all[i].answered)).To(Succeed(), string(bodies[1]))
	}
	return all
}

// parts are the names of an object's fields, in order.
func parts(raw []byte) []string {
	GinkgoHelper()
	var fields map[string]json.RawMessage
	Expect(json.Unmarshal(raw, &fields)).To(Succeed())
	var names []string
	for _, name := range []string{"metadata", "spec", "status"} {
		if _, found := fields[name]; found {
			names = append(names, name)
		}
	}
	return names
}

// ask posts a review to the open door, as the API server does.
func ask(ctx context.Context, version string, objects ...string) *apiextensionsv1.ConversionResponse {
	GinkgoHelper()
	review := apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "ConversionReview"},
		Request:  &apiextensionsv1.ConversionRequest{UID: types.UID("asked"), DesiredAPIVersion: backupv1.GroupName + "/" + version, Objects: []runtime.RawExtension{}},
	}
	for _, o := range objects {
		review.Request.Objects = append(review.Request.Objects, runtime.RawExtension{Raw: []byte(o)})
	}
	body, err := json.Marshal(review)
	Expect(err).NotTo(HaveOccurred())
	roots := x509.NewCertPool()
	Expect(roots.AppendCertsFromPEM(door.bundle)).To(BeTrue())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, door.url(webhooks.PathConvert), bytes.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	response, err := (&http.Client{Transport: transport}).Do(post)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(response.Body.Close()).To(Succeed()) }()
	Expect(response.StatusCode).To(Equal(http.StatusOK))
	var answer apiextensionsv1.ConversionReview
	Expect(json.NewDecoder(response.Body).Decode(&answer)).To(Succeed())
	Expect(answer.Response.UID).To(Equal(review.Request.UID))
	return answer.Response
}

var _ = Describe("Contract 4: metadata, count and order", Serial, func() {
	for _, kind := range kinds {
		It("gives back what server-side apply asks of "+kind+" with nothing invented, halves of objects included", func(ctx context.Context) {
			ns := newNamespace(ctx, nil)
			r := &recorder{}
			door.with(func(d *frontDoor) { d.wrap = r.wrap })
			all := everything(kind, ns, "whole")
			all.SetLabels(map[string]string{"a": "b"})
			all.SetAnnotations(map[string]string{"c": "<d>\u2028"})
			for _, manager := range versions {
				Expect(applyAs(ctx, manager, inVersion(manager, all))).To(Succeed())
			}
			By("managers of a part giving it up again")
			source, _, _ := unstructured.NestedMap(all.Object, "spec", "source")
			less := object("v1", kind, ns, "whole", map[string]any{"source": map[string]any{"host": "db.example.com", "databases": source["databases"]}})
			for _, u := range []*unstructured.Unstructured{inVersion("v1alpha1", less), less} {
				manager := strings.TrimPrefix(u.GetAPIVersion(), backupv1.GroupName+"/")
				Expect(admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager), client.ForceOwnership)).To(Succeed())
			}
			for _, version := range versions {
				labelled := as(version, kind)
				labelled.SetNamespace(ns)
				labelled.SetName("whole")
				labelled.SetLabels(map[string]string{"e": "f"})
				Expect(applyAs(ctx, "labels", labelled)).To(Succeed())
				labelled.SetLabels(nil)
				Expect(applyAs(ctx, "labels", labelled)).To(Succeed())
				Expect(asController().Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(set(labelled, "Scheduled", "status", "phase")), client.FieldOwner("status"))).To(Succeed())
			}

			By("a manager giving up the whole spec, which the server converts before it refuses it")
			Expect(applyAs(ctx, "v1alpha1", inVersion("v1alpha1", everything(kind, ns, "half")))).To(Succeed())
			half := as("v1", kind)
			half.SetNamespace(ns)
			half.SetName("half")
			half.SetLabels(map[string]string{"e": "f"})
			Expect(applyAs(ctx, "v1", half)).To(Succeed())
			half.SetAPIVersion(backupv1.GroupName + "/v1alpha1")
			Expect(applyAs(ctx, "v1alpha1", half)).To(MatchError(ContainSubstring("spec")))

			halves := 0
			exchanges := r.exchanges()
			Expect(len(exchanges)).To(BeNumerically(">", 4))
			for _, e := range exchanges {
				Expect(e.answered.Response.Result.Status).To(Equal(metav1.StatusSuccess), e.answered.Response.Result.Message)
				Expect(e.answered.Response.UID).To(Equal(e.asked.Request.UID))
				Expect(e.answered.Response.ConvertedObjects).To(HaveLen(len(e.asked.Request.Objects)))
				for i, o := range e.asked.Request.Objects {
					halves += checkParts(o.Raw, e.answered.Response.ConvertedObjects[i].Raw)
				}
			}
			Expect(halves).To(BeNumerically(">", 0), "the server must have asked for a part of an object")
		})
	}

	It("answers reviews without objects, with objects without parts and with mixed versions", func(ctx context.Context) {
		Expect(ask(ctx, "v1").ConvertedObjects).To(BeEmpty())
		const kind = `"kind":"BackupJob"`
		old, hub := `"apiVersion":"backup.example.com/v1alpha1",`+kind, `"apiVersion":"backup.example.com/v1",`+kind
		metadata := `"metadata":{"name":"a","uid":"u","generation":3,"deletionTimestamp":"2026-11-30T00:00:00Z","finalizers":["f"],"ownerReferences":[{"uid":"o"}]}`
		response := ask(ctx, "v1",
			"{"+old+"}",
			"{"+old+`,"metadata":null}`,
			"{"+hub+`,"spec":{"databaseHost":"stays"}}`,
			"{"+old+","+metadata+"}",
			"{"+old+","+metadata+`,"spec":{"databaseHost":"db:1"}}`,
			"{"+hub+","+metadata+`,"status":{"phase":"Running"}}`,
			"{"+old+","+metadata+`,"status":{"phase":"Running"}}`,
		)
		Expect(response.Result.Status).To(Equal(metav1.StatusSuccess))
		var answers []string
		for _, o := range response.ConvertedObjects {
			answers = append(answers, string(o.Raw))
		}
		Expect(answers).To(HaveExactElements(
			MatchJSON("{"+hub+`,"metadata":{}}`),
			MatchJSON("{"+hub+`,"metadata":{}}`),
			MatchJSON("{"+hub+`,"spec":{"databaseHost":"stays"}}`),
			MatchJSON("{"+hub+","+metadata+"}"),
			MatchJSON("{"+hub+","+metadata+`,"spec":{"source":{"host":"db","port":1}}}`),
			MatchJSON("{"+hub+","+metadata+`,"status":{"phase":"Running"}}`),
			MatchJSON("{"+hub+","+metadata+`,"status":{"phase":"Running"}}`),
		))
	})
})

// checkParts compares the fields of an object before and after, and counts it
// if it is half of one.
func checkParts(asked, answered []byte) int {
	GinkgoHelper()
	want := parts(asked)
	half := len(want) < 2
	if !slices.Contains(want, "metadata") {
		want = append([]string{"metadata"}, want...)
	}
	got := parts(answered)
	if len(got) < len(want) && !slices.Contains(got, "spec") { // a spec that held nothing but empty objects
		got = slices.Insert(got, 1, "spec")
	}
	Expect(got).To(Equal(want), "%s became %s", asked, answered)
	var was, is struct{ Metadata map[string]any }
	Expect(json.Unmarshal(asked, &was)).To(Succeed())
	Expect(json.Unmarshal(answered, &is)).To(Succeed())
	Expect(is.Metadata).To(BeComparableTo(was.Metadata, cmpopts.EquateEmpty()))
	if half {
		return 1
	}
	return 0
}

var _ = Describe("Contract 6: a fault is told with the object's name", Serial, func() {
	It("to whoever asks for the object, and the next one is served", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		for _, name := range []string{"good", "stranger"} {
			Expect(admin.Create(ctx, object("v1", backupv1.KindBackupJob, ns, name, nil))).To(Succeed())
		}
		door.with(func(d *frontDoor) { d.wrap = estranged })
		key := client.ObjectKey{Namespace: ns, Name: "stranger"}
		Expect(admin.Get(ctx, key, as("v1alpha1", backupv1.KindBackupJob))).To(MatchError(And(
			ContainSubstring("conversion webhook for backup.example.com/v1, Kind=BackupJob failed"),
			ContainSubstring(fmt.Sprintf("Stranger %q", ns+"/stranger")))))
		Expect(admin.Get(ctx, key, as("v1", backupv1.KindBackupJob))).To(Succeed(), "which takes no conversion")
		Expect(read(ctx, "v1alpha1", backupv1.KindBackupJob, ns, "good").GetName()).To(Equal("good"))
		Expect(door.metric("backupjob_conversion_panics_total", nil)).To(BeZero())
	})
})

// estranged makes an object of a kind that nobody can convert out of the one
// that is called stranger.
func estranged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a body that breaks off is no review, which the next one tells
		if bytes.Contains(body, []byte(`"name":"stranger"`)) {
			body = bytes.ReplaceAll(body, []byte(`"kind":"BackupJob"`), []byte(`"kind":"Stranger"`))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		next.ServeHTTP(w, r)
	})
}
