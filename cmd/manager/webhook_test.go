// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	conversionReview = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-1",
"desiredAPIVersion":"backup.example.com/v1","objects":[{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob",
"metadata":{"name":"nightly","namespace":"default"},"spec":{"databaseHost":"db:3307","schedule":"0 2 * * *"}}]}}`

	admissionReview = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-2",
"kind":{"group":"backup.example.com","version":"v1alpha1","kind":"BackupJob"},
"resource":{"group":"backup.example.com","version":"v1alpha1","resource":"backupjobs"},
"name":"nightly","namespace":"default","operation":"CREATE","userInfo":{"username":"jane"},
"object":{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob","metadata":{"name":"nightly","namespace":"default"},
"spec":{"databaseHost":"db:3307","schedule":"every night","retentionDays":-1}}}}`
)

// door is a webhook process with the addresses of its ports.
type door struct {
	*process
	certDir                 string
	webhooks, probe, metric string
	client                  *http.Client
	pair                    tls.Certificate
}

// startDoor starts a webhook process whose certificate is not there yet.
func startDoor(t *testing.T, args ...string) *door {
	t.Helper()
	port, probe, metric := freePort(t), freePort(t), freePort(t)
	d := &door{
		certDir:  t.TempDir(),
		webhooks: "https://127.0.0.1:" + port,
		probe:    "http://127.0.0.1:" + probe,
		metric:   "http://127.0.0.1:" + metric + "/metrics",
	}
	// The standard library's own pair for tests is valid for 127.0.0.1.
	borrowed := httptest.NewUnstartedServer(nil)
	borrowed.StartTLS()
	d.pair = borrowed.TLS.Certificates[0]
	roots := x509.NewCertPool()
	roots.AddCert(borrowed.Certificate())
	borrowed.Close()
	d.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	t.Cleanup(d.client.CloseIdleConnections)
	d.process = startManager(t, append([]string{
		"webhook", "--bind-address=127.0.0.1", "--port=" + port, "--cert-dir=" + d.certDir,
		"--health-probe-bind-address=127.0.0.1:" + probe, "--metrics-bind-address=127.0.0.1:" + metric,
	}, args...)...)
	return d
}

// bringCertificate does what cert-manager and the kubelet do.
func (d *door) bringCertificate(t *testing.T) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(d.pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: d.pair.Certificate[0]},
		"tls.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(d.certDir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// get reads a page; a code other than 200 is an error with the page in it.
func (d *door) get(t *testing.T, url string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d.do(request)
}

func (d *door) post(t *testing.T, path string, body io.Reader) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.webhooks+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	return d.do(request)
}

func (d *door) do(request *http.Request) (string, error) {
	response, err := d.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	page, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, page)
	}
	return string(page), err
}

func (d *door) waitReady(t *testing.T) {
	t.Helper()
	waitFor(t, func() error { _, err := d.get(t, d.probe+"/readyz"); return err })
}

func TestWebhookStartsWithNothingAndServesOnceTheCertificateIsThere(t *testing.T) {
	t.Parallel()
	// The API server that this file names does not exist.
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	config := `{"apiVersion":"v1","kind":"Config","current-context":"x",
"clusters":[{"name":"x","cluster":{"server":"https://127.0.0.1:` + freePort(t) + `"}}],
"contexts":[{"name":"x","context":{"cluster":"x","user":"x"}}],"users":[{"name":"x","user":{}}]}`
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDoor(t, "--reference-authorization=enforce", "--kubeconfig="+kubeconfig)

	waitFor(t, func() error { _, err := d.get(t, d.probe+"/healthz"); return err })
	_, err := d.get(t, d.probe+"/readyz")
	if err == nil || wantText(err.Error(), "503", "no serving certificate is loaded yet", d.certDir) != nil {
		t.Errorf("without a certificate readyz says %v", err)
	}

	d.bringCertificate(t)
	d.waitReady(t)

	page, err := d.post(t, "/convert", strings.NewReader(conversionReview))
	if err := errors.Join(err, wantText(page, `"host":"db"`, `"port":3307`)); err != nil {
		t.Errorf("convert: %v", err)
	}
	page, err = d.post(t, "/mutate-backupjob", strings.NewReader(admissionReview))
	if err := errors.Join(err, wantText(page, `"allowed":false`, "spec.schedule", "spec.retentionDays")); err != nil {
		t.Errorf("mutate: %v", err)
	}
	page, err = d.get(t, d.metric)
	if err := errors.Join(err, wantText(page, "backupjob_certificate_expiry_seconds", "backupjob_admission_decisions_total")); err != nil {
		t.Errorf("metrics: %v", err)
	}
	d.askToStop(t)
	wantExit(t, d.wait(t), 0)
}

func TestWebhookFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	d := startDoor(t, "--reference-authorization=off", "--shutdown-delay=3s")
	d.bringCertificate(t)
	d.waitReady(t)

	// Half a request is in before the signal, the rest comes after it.
	body, writer := io.Pipe()
	answer := make(chan error, 1)
	go func() {
		page, err := d.post(t, "/convert", body)
		answer <- errors.Join(err, wantText(page, `"port":3307`))
	}()
	half := len(conversionReview) / 2
	if _, err := io.WriteString(writer, conversionReview[:half]); err != nil {
		t.Fatal(err)
	}
	d.askToStop(t)
	waitFor(t, func() error {
		_, err := d.get(t, d.probe+"/readyz")
		if err == nil {
			return errors.New("still ready")
		}
		return wantText(err.Error(), "asked to stop")
	})
	if _, err := d.get(t, d.probe+"/healthz"); err != nil {
		t.Errorf("not alive while it drains: %v", err)
	}
	if _, err := d.post(t, "/convert", strings.NewReader(conversionReview)); err != nil {
		t.Errorf("a caller that has not learned of it yet is turned away: %v", err)
	}
	if _, err := io.WriteString(writer, conversionReview[half:]); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writer.Close(), <-answer); err != nil {
		t.Errorf("the request in flight: %v", err)
	}
	wantExit(t, d.wait(t), 0)
}

func TestWebhookDemandsClientCertificatesForAdmissionOnly(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	d := startDoor(t, "--reference-authorization=off", "--admission-client-ca="+ca, "--admission-client-name=backupjob-webhook.backupjob-system.svc")
	wantExit(t, d.wait(t), 1)
	if err := wantText(d.log.String(), "read --admission-client-ca"); err != nil {
		t.Errorf("without the file: %v", err)
	}

	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.pair.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	d = startDoor(t, "--reference-authorization=off", "--admission-client-ca="+ca, "--admission-client-name=backupjob-webhook.backupjob-system.svc")
	d.bringCertificate(t)
	d.waitReady(t)
	if _, err := d.post(t, "/mutate-backupjob", strings.NewReader(admissionReview)); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("mutate without a client certificate: %v, want 403", err)
	}
	if _, err := d.post(t, "/convert", strings.NewReader(conversionReview)); err != nil {
		t.Errorf("convert without a client certificate: %v", err)
	}
}

// clientPair signs itself, so that it is its own CA.
func clientPair(t *testing.T, name string) (pair tls.Certificate, ca []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestWebhookFollowsTheCAOfItsClients(t *testing.T) {
	t.Parallel()
	const name = "backupjob-webhook.backupjob-system.svc"
	ca := filepath.Join(t.TempDir(), "ca.crt")
	replace := func(content []byte) {
		t.Helper()
		if err := errors.Join(os.WriteFile(ca+".new", content, 0o600), os.Rename(ca+".new", ca)); err != nil {
			t.Fatal(err)
		}
	}
	_, oldCA := clientPair(t, name)
	pair, newCA := clientPair(t, name)
	replace(oldCA)
	d := startDoor(t, "--reference-authorization=off", "--admission-client-ca="+ca, "--admission-client-name="+name)
	d.client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{pair}
	d.bringCertificate(t)
	d.waitReady(t)
	ask := func() error {
		_, err := d.post(t, "/mutate-backupjob", strings.NewReader(admissionReview))
		return err
	}
	if err := ask(); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("a client of a CA that is not in the file: %v, want a refusal", err)
	}
	replace(newCA)
	waitFor(t, ask)
	replace([]byte("half a file"))
	waitFor(t, func() error { return wantText(d.log.String(), "admission-client-ca", "failed with") })
	if err := ask(); err != nil {
		t.Errorf("with a broken file: %v, want the last good one", err)
	}
}

func TestWebhookEndsWhenAPortIsTaken(t *testing.T) {
	t.Parallel()
	taken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(taken.Close)
	address := taken.Listener.Addr().String()
	cases := map[string]struct{ flag, words string }{
		"by another's probes":  {"--health-probe-bind-address=" + address, "listen for probes"},
		"by another's metrics": {"--metrics-bind-address=" + address, "metrics server"},
		"by another's webhook": {"--port=" + address[strings.LastIndex(address, ":")+1:], "listen for webhooks"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDoor(t, "--reference-authorization=off", tc.flag)
			wantExit(t, d.wait(t), 1)
			if err := wantText(d.log.String(), tc.words, "address already in use"); err != nil {
				t.Error(err)
			}
		})
	}
}
