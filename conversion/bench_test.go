// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// stored reads an object as a server holds it: with managedFields, what kubectl applied last, and a status.
func stored(tb testing.TB, kind string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "stored-"+kind+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		tb.Fatal(err)
	}
	return compact.Bytes()
}

// directions are both conversions of both kinds.
func directions(tb testing.TB, run func(name string, raw []byte, to string)) {
	tb.Helper()
	for _, kind := range []string{"BackupJob", "MySQLBackup"} {
		hub := stored(tb, kind)
		old, err := Convert(hub, oldVersion)
		if err != nil {
			tb.Fatal(err)
		}
		run(kind+"/to v1alpha1", hub, oldVersion)
		run(kind+"/to v1", old, newVersion)
	}
}

func TestTheStoredObjectsComeBackTheSame(t *testing.T) {
	directions(t, func(name string, raw []byte, to string) {
		back := mustConvert(t, mustConvert(t, raw, to), otherVersion(to))
		if d := diff(t, raw, back); d != "" {
			t.Errorf("%s, want -, got +:\n%s", name, d)
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	directions(b, func(name string, raw []byte, to string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := Convert(raw, to); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// copier answers with the objects as they came, but for the version in front: the least that a converter
// can do with the libraries that everybody uses.
func copier(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	wanted := []byte(`"apiVersion":"` + review.Request.DesiredAPIVersion + `"`)
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range review.Request.Objects {
		other := []byte(`"apiVersion":"` + otherVersion(review.Request.DesiredAPIVersion) + `"`)
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: bytes.Replace(object.Raw, other, wanted, 1)})
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		panic(err)
	}
}

// echo writes a fixed answer: what the connection alone costs.
func echo(answer []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	}
}

// BenchmarkHandler sends one object per review over a TLS connection that is kept alive, to each handler in
// turn, because the machine's noise comes and goes.
func BenchmarkHandler(b *testing.B) {
	directions(b, func(name string, raw []byte, to string) {
		b.Run(name, func(b *testing.B) {
			body := reviewOf(b, to, string(raw))
			peers := []*peer{
				newPeer(b, "echo", echo(body)),
				newPeer(b, "copier", http.HandlerFunc(copier)),
				newPeer(b, "ours", Handler(HandlerOptions{Log: logr.Discard()})),
			}
			for b.Loop() {
				for _, p := range peers {
					p.send(b, body)
				}
			}
			for _, p := range peers {
				slices.Sort(p.took)
				b.ReportMetric(float64(p.took[len(p.took)/2].Microseconds()), "p50-µs-"+p.name)
				b.ReportMetric(float64(p.took[len(p.took)*99/100].Microseconds()), "p99-µs-"+p.name)
			}
			b.ReportMetric(float64(peers[2].took[len(peers[2].took)/2])/float64(peers[1].took[len(peers[1].took)/2]), "p50-ours/copier")
		})
	})
}

type peer struct {
	name   string
	server *httptest.Server
	took   []time.Duration
}

func newPeer(b *testing.B, name string, h http.Handler) *peer {
	b.Helper()
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	return &peer{name: name, server: server}
}

func (p *peer) send(b *testing.B, body []byte) {
	b.Helper()
	start := time.Now()
	response, err := p.server.Client().Post(p.server.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(io.Discard, response.Body)
	if closeErr := response.Body.Close(); err != nil || closeErr != nil || response.StatusCode != http.StatusOK {
		b.Fatal(err, closeErr, response.Status)
	}
	p.took = append(p.took, time.Since(start))
}

// BenchmarkLongReview shows what a review of many objects costs in memory.
func BenchmarkLongReview(b *testing.B) {
	objects := make([]string, 1000)
	for i := range objects {
		objects[i] = string(stored(b, "BackupJob"))
	}
	body := reviewOf(b, oldVersion, objects...)
	h := Handler(HandlerOptions{Log: logr.Discard()})
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		recorder := &discard{header: http.Header{}}
		h.ServeHTTP(recorder, httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/convert", bytes.NewReader(body)))
		if recorder.status != 0 {
			b.Fatal(fmt.Sprint("status ", recorder.status))
		}
	}
}

type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
