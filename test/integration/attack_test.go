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
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"

	backupv1 "example.com/backupjob-operator/api/v1"
	"example.com/backupjob-operator/test/attack"
	"example.com/backupjob-operator/webhooks"
)

// mostConnections is how many the server holds.
const mostConnections = 1024

// longest is more than any attack needs on a machine that is busy.
const longest = 4 * time.Minute

var _ = Describe("Attacks upon the webhook's process", Ordered, ContinueOnFailure, func() {
	var binary string
	var memory, limit int64
	BeforeAll(func(ctx context.Context) {
		binary = buildManager(ctx)
		memory, limit = shippedMemory()
	})

	for _, a := range attack.All {
		It("change nothing for others: "+a.Name, func(ctx context.Context) {
			w := startWebhook(binary, memory, a.HTTP2)
			h := w.honest()
			h.goOn(ctx, 20)
			quiet, err := w.held()
			Expect(err).NotTo(HaveOccurred())

			attacked, stop := context.WithCancel(ctx)
			DeferCleanup(stop)
			var progress attack.Progress
			over := make(chan struct{})
			go func() {
				defer close(over)
				a.Run(attacked, attack.Target{Address: w.address, Roots: w.roots, From: net.IPv4(127, 0, 0, 2)}, &progress)
			}()
			Eventually(progress.Dealt).WithTimeout(longest).Should(BeNumerically(">=", a.Enough), func() string {
				return "the server must deal with the strikes; the last one that went wrong: " + progress.Wrong()
			})
			h.goOn(ctx, 50)
			Expect(w.held()).To(HaveField("Files", BeNumerically("<=", quiet.Files+mostConnections+5)), "connections must be bounded")
			stop()
			Eventually(over).WithTimeout(longest).Should(BeClosed())

			Eventually(w.held).WithTimeout(longest).Should(And(
				HaveField("Goroutines", BeNumerically("<=", quiet.Goroutines+20)),
				HaveField("Files", BeNumerically("<=", quiet.Files+5)),
			), "what the attack held must be given back")
			h.goOn(ctx, 20)
			Expect(w.done).NotTo(Receive(), "the process must still be the same")
			peak := w.peak()
			GinkgoWriter.Printf("%s: %d strikes, %d honest answers, at most %d MiB\n", a.Name, progress.Dealt(), h.answered.Load(), peak>>20)
			Expect(peak).To(BeNumerically("<", limit), "the kernel must not end it in a Pod")
			if a.HTTP2 {
				Expect(string(w.log.Contents())).To(ContainSubstring("frames of HTTP/2 without end"), "it must have been spoken")
			}
			for line := range bytes.Lines(w.log.Contents()) {
				Expect(len(line)).To(BeNumerically("<", 32<<10), "nobody may fill the log with a line: %.500s", line)
			}
		})
	}
})

// shippedMemory is what the Deployment tells the process to stay within, and
// what it is ended at.
func shippedMemory() (told, limit int64) {
	GinkgoHelper()
	for _, d := range typed[appsv1.Deployment](rendered(), "Deployment") {
		if d.Name != "backupjob-webhook" {
			continue
		}
		c := d.Spec.Template.Spec.Containers[0]
		for _, e := range c.Env {
			if e.Name == "GOMEMLIMIT" {
				mib, err := strconv.ParseInt(strings.TrimSuffix(e.Value, "MiB"), 10, 64)
				Expect(err).NotTo(HaveOccurred())
				return mib << 20, c.Resources.Limits.Memory().Value()
			}
		}
	}
	Fail("config/default has no Deployment backupjob-webhook with a GOMEMLIMIT")
	return 0, 0
}

// webhookProcess is the front door as a process of its own.
type webhookProcess struct {
	*process
	address, metrics string
	roots            *x509.CertPool
}

func startWebhook(binary string, memory int64, http2 bool) *webhookProcess {
	GinkgoHelper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	Expect(os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)).To(Succeed())
	w := &webhookProcess{address: address(), metrics: address(), roots: x509.NewCertPool()}
	w.roots.AppendCertsFromPEM(certificate)
	_, port, _ := net.SplitHostPort(w.address)
	health := address()
	w.process = start("env", fmt.Sprintf("GOMEMLIMIT=%d", memory), binary, "webhook", "--bind-address=127.0.0.1", "--port="+port, "--cert-dir="+dir,
		"--reference-authorization=off", fmt.Sprintf("--enable-http2=%t", http2), "--metrics-bind-address="+w.metrics, "--health-probe-bind-address="+health)
	Eventually(func() (string, error) { return get(health, "/readyz") }).WithTimeout(soon).Should(HavePrefix("200"), "it must start")
	return w
}

// held is what an attacker may have a process hold.
type held struct{ Goroutines, Files float64 }

func (w *webhookProcess) held() (h held, err error) {
	page, err := get(w.metrics, "/metrics")
	if err != nil {
		return h, err
	}
	for name, value := range map[string]*float64{"go_goroutines": &h.Goroutines, "process_open_fds": &h.Files} {
		found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(page)
		if found == nil {
			return h, fmt.Errorf("there is no metric %s", name)
		}
		if *value, err = strconv.ParseFloat(found[1], 64); err != nil {
			return h, err
		}
	}
	return h, nil
}

// peak is the most memory that the process ever held, in bytes.
func (w *webhookProcess) peak() int64 {
	GinkgoHelper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	Expect(err).NotTo(HaveOccurred())
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	Expect(found).NotTo(BeNil())
	kib, err := strconv.ParseInt(string(found[1]), 10, 64)
	Expect(err).NotTo(HaveOccurred())
	return kib << 10
}

// honest is the API server: it goes on asking, and each answer must be right.
type honest struct {
	answered atomic.Int64
	failed   chan error
}

// question is a review with what the answer to it must say.
type question struct {
	path, says string
	body       []byte
}

func (w *webhookProcess) honest() *honest {
	GinkgoHelper()
	ctx, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	h, questions := &honest{failed: make(chan error, 2)}, questions()
	// One keeps its connection, as API servers do, the other has just started.
	for _, anew := range []bool{false, true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.roots}, DisableKeepAlives: anew}
		DeferCleanup(transport.CloseIdleConnections)
		go func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := questions[i%len(questions)].ask(ctx, transport, w.address); err != nil && ctx.Err() == nil {
					h.failed <- err
					return
				}
				h.answered.Add(1)
			}
		}()
	}
	return h
}

// goOn waits for so many more right answers.
func (h *honest) goOn(ctx context.Context, answers int64) {
	GinkgoHelper()
	until := h.answered.Load() + answers
	Eventually(ctx, func() int64 {
		select {
		case err := <-h.failed:
			StopTrying("an honest question was not answered as it should be").Wrap(err).Now()
		default:
		}
		return h.answered.Load()
	}).WithTimeout(longest).Should(BeNumerically(">=", until), "others must be answered")
}

func (q question) ask(ctx context.Context, transport *http.Transport, address string) error {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+q.path, bytes.NewReader(q.body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // It is only read.
	answer, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(q.says))) {
		err = fmt.Errorf("%s: got %s %.500s, want %s in it", q.path, response.Status, answer, q.says)
	}
	return err
}

// questions are an update of an object as API servers store it, the same with
// a fault, and its conversion.
func questions() []question {
	GinkgoHelper()
	raw, err := os.ReadFile("../../conversion/testdata/stored-BackupJob.json")
	Expect(err).NotTo(HaveOccurred())
	replace := func(field, value string) []byte {
		changed := regexp.MustCompile(`"`+field+`": [^,]*,`).ReplaceAll(raw, []byte(`"`+field+`": `+value+","))
		Expect(changed).NotTo(Equal(raw))
		return changed
	}
	old, wrong := replace("maxRetries", "7"), replace("schedule", `"every night"`)
	conversion := fmt.Sprintf(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"backup.example.com/v1alpha1","objects":[%s]}}`, raw)
	all := []question{{path: webhooks.PathConvert, body: []byte(conversion), says: `"databaseHost"`}}
	for _, path := range []string{webhooks.PathMutateBackupJob, webhooks.PathValidateBackupJob} {
		all = append(all,
			question{path: path, body: reviewOfUpdate(raw, old), says: `"allowed":true`},
			question{path: path, body: reviewOfUpdate(wrong, old), says: `spec.schedule`})
	}
	return all
}

func reviewOfUpdate(to, from []byte) []byte {
	GinkgoHelper()
	var o metav1.PartialObjectMetadata
	Expect(json.Unmarshal(to, &o)).To(Succeed())
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "u", Operation: admissionv1.Update, Namespace: o.Namespace, Name: o.Name,
			Kind:   metav1.GroupVersionKind{Group: backupv1.GroupName, Version: "v1", Kind: backupv1.KindBackupJob},
			Object: runtime.RawExtension{Raw: to}, OldObject: runtime.RawExtension{Raw: from},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return body
}
