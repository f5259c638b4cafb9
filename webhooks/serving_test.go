// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// authority signs the certificates of a test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	pair := sign(t, a, &x509.Certificate{
		Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	a.certificate, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	a.pool = x509.NewCertPool()
	a.pool.AddCert(a.certificate)
	return a
}

func (a *authority) server(t *testing.T) *tls.Certificate {
	t.Helper()
	return sign(t, a, &x509.Certificate{
		DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
	})
}

func (a *authority) client(t *testing.T, name string, usage x509.ExtKeyUsage) *tls.Certificate {
	t.Helper()
	return sign(t, a, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{usage}, KeyUsage: x509.KeyUsageDigitalSignature,
	})
}

func sign(t *testing.T, by *authority, template *x509.Certificate) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, parentKey := by.certificate, by.key
	if parent == nil {
		parent, parentKey = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

// door is a running server with everything that a test looks at.
type door struct {
	url     string
	address string
	http2   bool
	client  *http.Client
	ca      *authority
	metrics *prometheus.Registry
	log     *journal
	stop    context.CancelFunc
	stopped chan error
}

// journal keeps log lines.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) logger() logr.Logger {
	return funcr.NewJSON(func(line string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.lines = append(j.lines, line)
	}, funcr.Options{})
}

// decisions are the lines of decisions, decoded.
func (j *journal) decisions(t *testing.T) []map[string]any {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []map[string]any
	for _, line := range j.lines {
		var values map[string]any
		if err := json.Unmarshal([]byte(line), &values); err != nil {
			t.Fatal(err)
		}
		if values["msg"] == "Decided" {
			all = append(all, values)
		}
	}
	return all
}

// open starts the routes on a loopback port with real TLS.
func open(t *testing.T, routes Options, server ServerOptions) *door {
	t.Helper()
	d := &door{http2: server.HTTP2, ca: newAuthority(t), metrics: prometheus.NewRegistry(), log: &journal{}, stopped: make(chan error, 1)}
	if server.Handler == nil {
		routes.Log, routes.Registerer = d.log.logger(), d.metrics
		if routes.Reviewer == nil && routes.References == "" {
			routes.References = ReferencesOff
		}
		handler, err := Routes(routes)
		if err != nil {
			t.Fatal(err)
		}
		server.Handler = handler
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pair := d.ca.server(t)
	server.Listener, server.Log, server.Registerer = listener, d.log.logger(), d.metrics
	server.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair, nil }
	s, err := NewServer(server)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	d.stop = stop
	go func() { d.stopped <- s.Run(ctx) }()
	t.Cleanup(stop)
	d.address, d.url = listener.Addr().String(), "https://"+listener.Addr().String()
	d.client = d.caller(nil)
	t.Cleanup(d.client.CloseIdleConnections)
	return d
}

// caller is a client with a certificate of its own, or none.
func (d *door) caller(pair *tls.Certificate) *http.Client {
	config := &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost"}
	if pair != nil {
		// As the API server does: whatever CA the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: d.http2}, Timeout: 30 * time.Second}
}

func (d *door) post(t *testing.T, client *http.Client, path string, body io.Reader) (code int, text string, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer), response.Header
}

// review asks one of the admission routes about a write.
func (d *door) review(t *testing.T, path string, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	code, text, _ := d.post(t, d.client, path, bytes.NewReader(reviewOf(t, request)))
	if code != http.StatusOK {
		t.Fatalf("got %d: %s", code, text)
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal([]byte(text), &review); err != nil {
		t.Fatal(err)
	}
	if review.Response.UID != request.UID {
		t.Errorf("got the answer to %q, asked %q", review.Response.UID, request.UID)
	}
	return review.Response
}

func reviewOf(t *testing.T, request *admissionv1.AdmissionRequest) []byte {
	t.Helper()
	raw, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// writeOf is the request that an API server makes of the write of an object.
func writeOf(t *testing.T, raw, old []byte) *admissionv1.AdmissionRequest {
	t.Helper()
	var o struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(o.APIVersion, "/")
	request := &admissionv1.AdmissionRequest{
		UID: types.UID("r-" + t.Name()), Kind: metav1.GroupVersionKind{Group: "backup.example.com", Version: version, Kind: o.Kind},
		Namespace: o.Namespace, Name: o.Name, Operation: admissionv1.Create, UserInfo: developer, Object: runtime.RawExtension{Raw: raw},
	}
	if old != nil {
		request.Operation, request.OldObject.Raw = admissionv1.Update, old
	}
	return request
}

// metric sums the samples of a metric that carry the labels.
func (d *door) metric(t *testing.T, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := d.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, family := range families {
		for _, sample := range family.GetMetric() {
			left := len(labels)
			for _, label := range sample.GetLabel() {
				if labels[label.GetName()] == label.GetValue() {
					left--
				}
			}
			if family.GetName() == name && left == 0 {
				total += sample.GetCounter().GetValue() + float64(sample.GetHistogram().GetSampleCount())
			}
		}
	}
	return total
}
