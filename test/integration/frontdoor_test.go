// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/backupjob-operator/webhooks"
)

// frontDoor is the webhook server as the manager runs it, in this process, so
// that its clock can be set and it can be stopped and started.
type frontDoor struct {
	address string
	bundle  []byte
	pair    tls.Certificate
	metrics *prometheus.Registry
	routes  webhooks.Options
	// wrap, if set, stands in front of everything that is served.
	wrap func(http.Handler) http.Handler
	stop context.CancelFunc
	done chan error
}

// today is the day on which the cases were written; warnings look a year
// ahead of it.
var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func openFrontDoor(cfg *rest.Config) *frontDoor {
	GinkgoHelper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	Expect(err).NotTo(HaveOccurred())
	pair, err := tls.X509KeyPair(certificate, key)
	Expect(err).NotTo(HaveOccurred())
	clientset, err := kubernetes.NewForConfig(cfg)
	Expect(err).NotTo(HaveOccurred())
	d := &frontDoor{bundle: certificate, pair: pair, address: "127.0.0.1:0", metrics: prometheus.NewRegistry()}
	d.routes = webhooks.Options{
		Clock:    clocktesting.NewFakePassiveClock(today),
		Log:      logs.logger(),
		Reviewer: clientset.AuthorizationV1().SubjectAccessReviews(),
	}
	d.open()
	return d
}

// open starts to listen, on the same port as before.
func (d *frontDoor) open() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", d.address)
	Expect(err).NotTo(HaveOccurred())
	d.address = listener.Addr().String()
	d.metrics = prometheus.NewRegistry()
	d.routes.Registerer = d.metrics
	handler, err := webhooks.Routes(d.routes)
	Expect(err).NotTo(HaveOccurred())
	if d.wrap != nil {
		handler = d.wrap(handler)
	}
	server, err := webhooks.NewServer(webhooks.ServerOptions{
		Listener:          listener,
		Handler:           handler,
		GetCertificate:    func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &d.pair, nil },
		AskForCertificate: d.routes.Clients != nil,
		Log:               logs.logger(),
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.Background())
	d.stop, d.done = stop, make(chan error, 1)
	go func() { d.done <- server.Run(ctx) }()
}

func (d *frontDoor) close() {
	GinkgoHelper()
	d.stop()
	Eventually(d.done).WithTimeout(2*soon).Should(Receive(BeNil()), "what is in flight is finished first")
}

// away closes the door until the end of the spec.
func (d *frontDoor) away() {
	GinkgoHelper()
	d.close()
	DeferCleanup(d.open)
}

// with starts the door with other settings until the end of the spec.
func (d *frontDoor) with(change func(*frontDoor)) {
	GinkgoHelper()
	routes, wrap := d.routes, d.wrap
	d.close()
	change(d)
	d.open()
	DeferCleanup(func() {
		d.close()
		d.routes, d.wrap = routes, wrap
		d.open()
	})
}

// metric sums up the door's counters of a name that have the labels.
func (d *frontDoor) metric(name string, labels map[string]string) float64 {
	GinkgoHelper()
	families, err := d.metrics.Gather()
	Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			got := map[string]string{}
			for _, pair := range m.GetLabel() {
				got[pair.GetName()] = pair.GetValue()
			}
			if maps.Equal(got, mapsMerged(got, labels)) {
				sum += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

func mapsMerged(a, b map[string]string) map[string]string {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged
}

func (d *frontDoor) url(path string) string { return "https://" + d.address + path }

func (d *frontDoor) redirect(cc *admissionregistrationv1.WebhookClientConfig) {
	cc.URL, cc.CABundle = new(d.url(*cc.Service.Path)), d.bundle
	cc.Service = nil
}

func (d *frontDoor) convertHere(crd *apiextensionsv1.CustomResourceDefinition) {
	cc := crd.Spec.Conversion.Webhook.ClientConfig
	cc.URL, cc.CABundle = new(d.url(*cc.Service.Path)), d.bundle
	cc.Service = nil
}

// logBuffer keeps the log as JSON lines.
type logBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

func (b *logBuffer) Sync() error { return nil }

func (b *logBuffer) logger() logr.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zapr.NewLogger(zap.New(zapcore.NewCore(encoder, b, zapcore.DebugLevel)))
}

// decisions are the lines about decisions on one of our objects.
func (b *logBuffer) decisions(namespace, name string) []map[string]any {
	GinkgoHelper()
	b.Lock()
	text := b.String()
	b.Unlock()
	var found []map[string]any
	for line := range strings.Lines(text) {
		var entry map[string]any
		Expect(json.Unmarshal([]byte(line), &entry)).To(Succeed())
		if entry["msg"] == "Decided" && entry["namespace"] == namespace && entry["name"] == name {
			found = append(found, entry)
		}
	}
	return found
}

// auditAnnotations are what the API server's audit log says about the requests
// on one of our objects, an annotation a line.
func auditAnnotations(namespace, name string) []string {
	data, err := os.ReadFile(auditLog)
	if err != nil {
		return nil
	}
	var found []string
	for line := range strings.Lines(string(data)) {
		var event struct {
			ObjectRef   struct{ Namespace, Name string }
			Annotations map[string]string
		}
		if json.Unmarshal([]byte(line), &event) != nil || event.ObjectRef.Namespace != namespace {
			continue
		}
		// On create the name is in the body, which this level does not log.
		if event.ObjectRef.Name != "" && event.ObjectRef.Name != name {
			continue
		}
		for key, value := range event.Annotations {
			found = append(found, fmt.Sprintf("%s=%s", key, value))
		}
	}
	return found
}
