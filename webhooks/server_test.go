// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
)

func TestConversionIsServed(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	body := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"backup.example.com/v1","objects":[%s]}}`,
		object(t, jobAlpha))
	code, text, _ := d.post(t, d.client, PathConvert, strings.NewReader(body))
	if code != http.StatusOK || !strings.Contains(text, `"host":"db.example.com"`) || !strings.Contains(text, `"Success"`) {
		t.Errorf("got %d %s", code, text)
	}
}

func TestGarbageIsAnsweredAndTheServerGoesOn(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	for _, body := range []string{"", "{", "null", "[]", `{"kind":"AdmissionReview"}`, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":null}`, rand.String(1000)} {
		for _, path := range routes {
			if code, text, _ := d.post(t, d.client, path, strings.NewReader(body)); strings.Contains(text, `"allowed":true`) {
				t.Errorf("%s: %q was allowed: %d %s", path, body, code, text)
			}
		}
	}
	response, err := d.client.Get(d.url + PathValidateBackupJob) //nolint:noctx // the client has a time-out
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a GET got %d", response.StatusCode)
	}
	if code, _, _ := d.post(t, d.client, "/other", nil); code != http.StatusNotFound {
		t.Errorf("another path got %d", code)
	}
	if !d.review(t, PathValidateBackupJob, writeOf(t, object(t, jobV1), nil)).Allowed {
		t.Error("a right review was refused")
	}
}

// endless is a body that does not say how long it is.
type endless struct {
	left  int
	begun bool
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	copy(p, bytes.Repeat([]byte(" "), n))
	if !e.begun {
		p[0], e.begun = '{', true
	}
	e.left -= n
	return n, nil
}

func TestAHugeBodyIsNotRead(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	for path, limit := range map[string]int{PathMutateBackupJob: maxReview, PathConvert: maxConversion} {
		if code, text, _ := d.post(t, d.client, path, bytes.NewReader(make([]byte, limit+1))); code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: got %d %s", path, code, text)
		}
		if code, text, _ := d.post(t, d.client, path, &endless{left: limit + 1}); strings.Contains(text, `"allowed":true`) || !strings.Contains(text, "too large") && code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s, length unknown: got %d %s", path, code, text)
		}
	}
}

func TestAReviewOfManyObjectsIsConverted(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	const objects = 10000
	raw := string(object(t, jobAlpha, `{metadata: {annotations: {long: "`+strings.Repeat("x", 2048)+`"}}}`))
	body := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"backup.example.com/v1","objects":[` +
		strings.Repeat(raw+",", objects-1) + raw + `]}}`
	code, text, _ := d.post(t, d.client, PathConvert, strings.NewReader(body))
	if converted := strings.Count(text, `"host":"db.example.com"`); code != http.StatusOK || converted != objects || !strings.Contains(text, `"status":"Success"`) {
		t.Errorf("got %d with %d objects of %d", code, converted, objects)
	}
}

func TestAnObjectAsLargeAsEtcdStoresPasses(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	raw := object(t, jobV1, `{metadata: {annotations: {big: "`+strings.Repeat("x", 1400<<10)+`"}}}`)
	if response := d.review(t, PathValidateBackupJob, writeOf(t, raw, raw)); !response.Allowed {
		t.Errorf("got %+v", response.Result)
	}
}

func TestASlowBodyIsCutOffAndKeepsNobodyElseOut(t *testing.T) {
	d := open(t, Options{MaxAdmissions: 1, MaxWait: time.Millisecond}, ServerOptions{ReadTimeout: 300 * time.Millisecond})
	conn, err := tls.Dial("tcp", d.address, &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", PathMutateBackupJob); err != nil {
		t.Fatal(err)
	}
	for range 20 { // the slow one is in by then, and there is one place
		code, text, _ := d.post(t, d.client, PathValidateBackupJob, bytes.NewReader(reviewOf(t, writeOf(t, object(t, jobV1), nil))))
		if !strings.Contains(text, `"allowed":true`) {
			t.Fatalf("another client was kept out: %d %s", code, text)
		}
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return // hung up on, which is as good
	}
	defer func() { _ = response.Body.Close() }()
	if answer, _ := io.ReadAll(response.Body); !strings.Contains(string(answer), `"allowed":false`) {
		t.Errorf("the slow client got %q; it must be refused", answer)
	}
}

func TestABodyThatDoesNotComeIsToldSo(t *testing.T) {
	d := open(t, Options{}, ServerOptions{ReadTimeout: 100 * time.Millisecond})
	body, never := io.Pipe()
	defer func() { _ = never.Close() }()
	if code, text, _ := d.post(t, d.client, PathConvert, body); code != http.StatusRequestTimeout {
		t.Errorf("got %d %s", code, text)
	}
}

// The sender of a large review decides how much memory it takes, so there is
// one of them at a time, and no ordinary one waits for it.
func TestLargeReviewsTakeTurnsAndOrdinaryOnesDoNotWaitForThem(t *testing.T) {
	m, err := newMetrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	g := &guard{share: newShare(1, time.Millisecond), large: newShare(1, time.Millisecond), limit: 2 * maxOrdinary, metrics: m}
	d := open(t, Options{}, ServerOptions{Handler: g.around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			close(entered)
			<-release
		}
	}))})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/hold", &endless{left: maxOrdinary + 1})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		if response, err := d.client.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-entered
	for name, c := range map[string]struct{ size, code int }{
		"another large one": {maxOrdinary + 1, http.StatusServiceUnavailable},
		"an ordinary one":   {maxOrdinary, http.StatusOK},
	} {
		if code, text, _ := d.post(t, d.client, "/", &endless{left: c.size}); code != c.code {
			t.Errorf("%s: got %d %s", name, code, text)
		}
	}
	close(release)
	<-ended
	waitFor(t, func() bool { // the place is given back right after the answer
		code, _, _ := d.post(t, d.client, "/", &endless{left: maxOrdinary + 1})
		return code == http.StatusOK
	})
}

func TestEachKindOfRequestHasAShareOfItsOwn(t *testing.T) {
	review := &rights{hangs: true}
	d := open(t, Options{Reviewer: review, ReviewTimeout: time.Minute, MaxAdmissions: 1, MaxWait: 10 * time.Millisecond}, ServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+PathValidateBackupJob, bytes.NewReader(reviewOf(t, writeOf(t, object(t, jobV1), nil))))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if response, err := d.client.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	waitFor(t, func() bool {
		review.mu.Lock()
		defer review.mu.Unlock()
		return len(review.asked) > 0
	})
	code, _, header := d.post(t, d.client, PathMutateBackupJob, strings.NewReader("{}"))
	if code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("got %d, Retry-After %q", code, header.Get("Retry-After"))
	}
	if n := d.metric(t, "backupjob_webhook_refused_total", map[string]string{"route": PathMutateBackupJob, "reason": "Busy"}); n != 1 {
		t.Errorf("got %v refusals counted", n)
	}
	if code, text, _ := d.post(t, d.client, PathConvert, strings.NewReader("{}")); code == http.StatusServiceUnavailable {
		t.Errorf("conversion was starved: %s", text)
	}
	cancel() // the caller gives up, its place is free again
	<-ended
	waitFor(t, func() bool {
		code, _, _ := d.post(t, d.client, PathMutateBackupJob, strings.NewReader("{}"))
		return code == http.StatusOK
	})
}

// waitFor tries until it is so; the test's own time limit ends it.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for !so() {
		if t.Context().Err() != nil {
			t.Fatal("it never came to be")
		}
	}
}

func TestRequestsInFlightAreFinishedAtTheEnd(t *testing.T) {
	eachProtocol(t, requestsInFlightAreFinished)
}

// eachProtocol tests with HTTP/1.1 and HTTP/2.
func eachProtocol(t *testing.T, test func(t *testing.T, http2 bool)) {
	t.Helper()
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) { test(t, http2) })
	}
}

func requestsInFlightAreFinished(t *testing.T, http2 bool) {
	t.Helper()
	entered, release := make(chan struct{}), make(chan struct{})
	d := open(t, Options{}, ServerOptions{HTTP2: http2, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "finished "+r.Proto)
	})})
	answered := make(chan string, 1)
	go func() {
		response, err := d.client.Get(d.url) //nolint:noctx // the client has a time-out
		if err != nil {
			answered <- err.Error()
			return
		}
		defer func() { _ = response.Body.Close() }()
		text, _ := io.ReadAll(response.Body)
		answered <- string(text)
	}()
	<-entered
	d.stop()
	waitFor(t, func() bool { // the port closes first
		conn, err := tls.Dial("tcp", d.address, &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost"})
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	close(release)
	if text := <-answered; !strings.HasPrefix(text, "finished HTTP/") || http2 != strings.HasSuffix(text, "HTTP/2.0") {
		t.Errorf("got %q", text)
	}
	if err := <-d.stopped; err != nil {
		t.Errorf("got %v", err)
	}
}

func TestTheServerStillTakesRequestsWhileTheServiceForgetsIt(t *testing.T) {
	d := open(t, Options{}, ServerOptions{ShutdownDelay: 300 * time.Millisecond})
	if !d.review(t, PathValidateBackupJob, writeOf(t, object(t, jobV1), nil)).Allowed {
		t.Error("refused before the end")
	}
	d.stop()
	if !d.review(t, PathValidateBackupJob, writeOf(t, object(t, jobV1), nil)).Allowed {
		t.Error("refused right after the end was asked for")
	}
	if err := <-d.stopped; err != nil {
		t.Errorf("got %v", err)
	}
}

// TestClientsGiveUpTheirConnectionsBeforeTheyAreClosed: an API server that
// writes a request to a connection which is being closed fails that request.
func TestClientsGiveUpTheirConnectionsBeforeTheyAreClosed(t *testing.T) {
	d := open(t, Options{}, ServerOptions{ShutdownDelay: time.Second})
	givenUp := func() bool {
		response, err := d.client.Get(d.url + PathConvert) //nolint:noctx // the client has a time-out
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.Close
	}
	if givenUp() {
		t.Error("a connection is given up before the end was asked for")
	}
	d.stop()
	waitFor(t, givenUp)
	if err := <-d.stopped; err != nil {
		t.Errorf("got %v", err)
	}
}

func TestWhatDoesNotEndIsCutOffInTheEnd(t *testing.T) {
	entered := make(chan struct{})
	d := open(t, Options{}, ServerOptions{Drain: 20 * time.Millisecond, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})})
	go func() {
		if response, err := d.client.Get(d.url); err == nil { //nolint:noctx // the client has a time-out
			_ = response.Body.Close()
		}
	}()
	<-entered
	d.stop()
	if err := <-d.stopped; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAHandlerThatPanicsEndsOneRequest(t *testing.T) {
	m, err := newMetrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	log := &journal{}
	g := &guard{route: PathConvert, share: newShare(1, time.Second), limit: 10, metrics: m, log: log.logger()}
	d := open(t, Options{}, ServerOptions{Handler: g.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("hunter2") }))})
	for range 2 { // the place is given back
		if code, text, _ := d.post(t, d.client, "/", strings.NewReader("{}")); code != http.StatusInternalServerError || strings.Contains(text, "hunter2") {
			t.Errorf("got %d %s", code, text)
		}
	}
}

func TestOnlyAllowedClientsMayAskForAdmission(t *testing.T) {
	eachProtocol(t, onlyAllowedClientsMayAsk)
}

func onlyAllowedClientsMayAsk(t *testing.T, http2 bool) {
	t.Helper()
	ca, other := newAuthority(t), newAuthority(t)
	d := open(t, Options{Clients: &Clients{CAs: func() *x509.CertPool { return ca.pool }, Names: []string{"apiserver"}}}, ServerOptions{AskForCertificate: true, HTTP2: http2})
	review := reviewOf(t, writeOf(t, object(t, jobV1), nil))
	for name, c := range map[string]struct {
		pair *tls.Certificate
		code int
		says string
	}{
		"the API server":          {ca.client(t, "apiserver", x509.ExtKeyUsageClientAuth), http.StatusOK, `"allowed":true`},
		"nobody":                  {nil, http.StatusForbidden, "a client certificate is needed"},
		"somebody else":           {ca.client(t, "stranger", x509.ExtKeyUsageClientAuth), http.StatusForbidden, "not allowed"},
		"another CA's API server": {other.client(t, "apiserver", x509.ExtKeyUsageClientAuth), http.StatusForbidden, "not trusted"},
		"a server's certificate":  {ca.client(t, "apiserver", x509.ExtKeyUsageServerAuth), http.StatusForbidden, "not trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			client := d.caller(c.pair)
			defer client.CloseIdleConnections()
			if code, text, _ := d.post(t, client, PathValidateBackupJob, bytes.NewReader(review)); code != c.code || !strings.Contains(text, c.says) {
				t.Errorf("got %d %s", code, text)
			}
			if code, text, _ := d.post(t, client, PathConvert, strings.NewReader("{}")); code == http.StatusForbidden {
				t.Errorf("/convert must ask nobody, got %s", text)
			}
		})
	}
}

func TestTheConnectionIsTLS12AtLeastAndHTTP1UnlessAskedFor(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	old := &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost", MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10} //nolint:gosec // it must be refused
	if conn, err := tls.Dial("tcp", d.address, old); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 was accepted")
	}
	if got := protocolOf(t, d); got != "http/1.1" && got != "" {
		t.Errorf("got %q", got)
	}
	if got := protocolOf(t, open(t, Options{}, ServerOptions{HTTP2: true})); got != "h2" {
		t.Errorf("got %q, want h2", got)
	}
}

func protocolOf(t *testing.T, d *door) string {
	t.Helper()
	conn, err := tls.Dial("tcp", d.address, &tls.Config{RootCAs: d.ca.pool, ServerName: "localhost", NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().NegotiatedProtocol
}

func TestPlainHTTPIsNotServed(t *testing.T) {
	d := open(t, Options{}, ServerOptions{})
	response, err := http.Get("http://" + d.address + PathConvert) //nolint:noctx,gosec // loopback, and refused at once
	if err != nil {
		return
	}
	defer func() { _ = response.Body.Close() }()
	if line, _ := bufio.NewReader(response.Body).ReadString('\n'); response.StatusCode != http.StatusBadRequest {
		t.Errorf("got %d %s", response.StatusCode, line)
	}
}

func TestSettingsThatCannotWorkAreRefusedAtTheStart(t *testing.T) {
	for name, o := range map[string]Options{
		"enforce without a reviewer": {},
		"an unknown mode":            {References: "maybe"},
		"clients without a CA":       {References: ReferencesOff, Clients: &Clients{Names: []string{"a"}}},
		"clients without names":      {References: ReferencesOff, Clients: &Clients{CAs: x509.NewCertPool}},
	} {
		if _, err := Routes(o); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := NewServer(ServerOptions{}); err == nil {
		t.Error("a server without a handler was accepted")
	}
	taken := open(t, Options{}, ServerOptions{})
	s, err := NewServer(ServerOptions{Handler: http.NotFoundHandler(), Address: taken.address, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "listen for webhooks") {
		t.Errorf("got %v", err)
	}
}
