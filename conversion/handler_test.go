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
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

func reviewOf(tb testing.TB, apiVersion string, objects ...string) []byte {
	tb.Helper()
	request := &apiextensionsv1.ConversionRequest{UID: "u-<1>", DesiredAPIVersion: apiVersion}
	for _, object := range objects {
		request.Objects = append(request.Objects, runtime.RawExtension{Raw: []byte(object)})
	}
	return encode(tb, &apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "ConversionReview"},
		Request:  request,
	})
}

// ask sends a body over a connection and decodes the answer as an API server does.
func ask(tb testing.TB, h http.Handler, body []byte) *apiextensionsv1.ConversionResponse {
	tb.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	response, err := server.Client().Post(server.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err != nil || closeErr != nil || response.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %v, %v\n%s", response.Status, err, closeErr, answer)
	}
	var review apiextensionsv1.ConversionReview
	if err := json.Unmarshal(answer, &review); err != nil {
		tb.Fatalf("decode the answer: %v\n%s", err, answer)
	}
	switch {
	case review.GroupVersionKind() != apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"):
		tb.Fatalf("the answer is a %s", review.GroupVersionKind())
	case review.Response == nil || review.Response.UID != types.UID("u-<1>"):
		tb.Fatalf("the answer is not for the request: %+v", review.Response)
	}
	return review.Response
}

func quietHandler(tb testing.TB) http.Handler {
	tb.Helper()
	return Handler(HandlerOptions{Log: funcr.New(func(_, args string) { tb.Errorf("logged: %s", args) }, funcr.Options{Verbosity: 9})})
}

func named(version, kind, name, rest string) string {
	return fmt.Sprintf(`{"apiVersion":"backup.example.com/%s","kind":%q,"metadata":{"name":%q}%s}`, version, kind, name, rest)
}

func TestAReviewIsAnsweredInOrderWithoutAWordInTheLog(t *testing.T) {
	response := ask(t, quietHandler(t), reviewOf(t, newVersion,
		named("v1alpha1", "BackupJob", "a", `,"spec":{"databaseHost":"db:1"}`),
		named("v1", "BackupJob", "b", `,"spec":{"databaseHost":"stays"}`),
		named("v1alpha1", "MySQLBackup", "c", ``),
		`{"apiVersion":"backup.example.com/v1alpha1","kind":"MySQLBackup"}`,
	))
	if response.Result.Status != metav1.StatusSuccess {
		t.Fatalf("the result is %+v", response.Result)
	}
	want := []string{
		named("v1", "BackupJob", "a", `,"spec":{"source":{"host":"db","port":1}}`),
		named("v1", "BackupJob", "b", `,"spec":{"databaseHost":"stays"}`),
		named("v1", "MySQLBackup", "c", ``),
		`{"apiVersion":"backup.example.com/v1","kind":"MySQLBackup","metadata":{}}`,
	}
	if len(response.ConvertedObjects) != len(want) {
		t.Fatalf("%d objects, want %d", len(response.ConvertedObjects), len(want))
	}
	for i := range want {
		if got := string(response.ConvertedObjects[i].Raw); got != want[i] {
			t.Errorf("object %d\ngot  %s\nwant %s", i, got, want[i])
		}
	}
}

// TestTheAnswersMetadataIsTheRequests to the byte: the server takes labels and annotations alone from it, but
// whoever audits the path need not know that.
func TestTheAnswersMetadataIsTheRequests(t *testing.T) {
	const head, rest = `{"apiVersion":"backup.example.com/`, `"kind":"BackupJob","metadata":{"name":"a","namespace":"b","uid":"u",` +
		`"generation":3,"labels":{"c":"d"},"annotations":{"e":"f"},"finalizers":["g"],"managedFields":[{"manager":"m"}]}`
	response := ask(t, quietHandler(t), reviewOf(t, newVersion, head+`v1alpha1",`+rest+`,"spec":{"databaseHost":"h"}}`))
	want := head + `v1",` + rest + `,"spec":{"source":{"host":"h"}}}`
	if got := string(response.ConvertedObjects[0].Raw); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnEmptyListIsAnswered(t *testing.T) {
	for _, objects := range []string{``, `,"objects":[]`, `,"objects":null`} {
		response := ask(t, quietHandler(t), []byte(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1",`+
			`"request":{"uid":"u-<1>","desiredAPIVersion":"backup.example.com/v1"`+objects+`}}`))
		if response.Result.Status != metav1.StatusSuccess || response.ConvertedObjects == nil || len(response.ConvertedObjects) > 0 {
			t.Errorf("with %q the answer is %+v", objects, response)
		}
	}
}

// listOf are objects for an answer of several chunks.
func listOf(n int) []string {
	objects := make([]string, n)
	for i := range objects {
		objects[i] = named("v1alpha1", "BackupJob", fmt.Sprint("n", i), `,"spec":{"databaseHost":"`+strings.Repeat("h", 253)+`:1"}`)
	}
	return objects
}

func TestALongAnswerIsWhole(t *testing.T) {
	h, objects := quietHandler(t), listOf(5000)
	for range 2 { // the second one meets the buffers of the first
		response := ask(t, h, reviewOf(t, newVersion, objects...))
		if len(response.ConvertedObjects) != len(objects) {
			t.Fatalf("%d objects, want %d", len(response.ConvertedObjects), len(objects))
		}
		for i, object := range response.ConvertedObjects {
			if want := mustConvertText(t, objects[i]); string(object.Raw) != want {
				t.Fatalf("object %d\ngot  %s\nwant %s", i, object.Raw, want)
			}
		}
	}
}

func mustConvertText(t *testing.T, object string) string {
	t.Helper()
	converted, err := Convert([]byte(object), newVersion)
	if err != nil {
		t.Fatal(err)
	}
	return string(converted)
}

func TestWhatCannotBeConvertedFailsTheReviewByName(t *testing.T) {
	for name, objects := range map[string][]string{
		"alone":               {named("v1", "Pod", "stranger", "")},
		"in a long answer":    append(listOf(5000), named("v1", "Pod", "stranger", "")),
		"no object":           {`"Pod stranger"`, `7`},
		"an unwanted version": {named("v2", "Pod", "stranger", "")},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			h := Handler(HandlerOptions{Log: funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{})})
			response := ask(t, h, reviewOf(t, newVersion, objects...))
			if response.Result.Status != metav1.StatusFailure || !strings.Contains(response.Result.Message, "must be a") {
				t.Errorf("the result is %+v", response.Result)
			}
			if name != "no object" && !strings.Contains(response.Result.Message, `Pod "stranger"`) {
				t.Errorf("the result does not name the object: %s", response.Result.Message)
			}
			if log.Len() == 0 {
				t.Error("nothing was logged")
			}
		})
	}
}

func TestAPanicIsAFailureThatNamesTheObject(t *testing.T) {
	registry := prometheus.NewRegistry()
	h := Handler(HandlerOptions{Log: logr.Discard(), Registerer: registry}).(*handler)
	h.convert = func(dst []byte, o *object, apiVersion string) ([]byte, error) {
		if bytes.Contains(o.text, []byte("bad")) {
			panic("injected")
		}
		return appendConverted(dst, o, apiVersion)
	}
	for range 2 {
		response := ask(t, h, reviewOf(t, newVersion, named("v1alpha1", "BackupJob", "good", ""),
			`{"apiVersion":"backup.example.com/v1alpha1","kind":"BackupJob","metadata":{"name":"bad","namespace":"ns"}}`))
		if got := response.Result; got.Status != metav1.StatusFailure || !strings.Contains(got.Message, `BackupJob "ns/bad"`) {
			t.Errorf("the result is %+v", got)
		}
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP backupjob_conversion_panics_total Objects whose conversion panicked. Anything but 0 is a bug.
# TYPE backupjob_conversion_panics_total counter
backupjob_conversion_panics_total 2
`)); err != nil {
		t.Error(err)
	}
}

func TestAPanicOverNoObjectIsAFailureToo(t *testing.T) {
	h := Handler(HandlerOptions{}).(*handler)
	h.convert = func([]byte, *object, string) ([]byte, error) { panic("injected") }
	if got := ask(t, h, reviewOf(t, newVersion, "7")).Result; got.Status != metav1.StatusFailure {
		t.Errorf("the result is %+v", got)
	}
}

func TestWhatIsNoReviewIsABadRequest(t *testing.T) {
	const head = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"`
	for name, tc := range map[string]struct {
		body, says string
		status     int
	}{
		"nothing":                  {``, "no object", 400},
		"half a review":            {head, "no object", 400},
		"a list":                   {`[]`, "no object", 400},
		"another kind":             {`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, `"AdmissionReview"`, 400},
		"an older version":         {`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1"}`, "v1beta1", 400},
		"no request":               {head + `}`, "must have a request", 400},
		"a request of text":        {head + `,"request":"x"}`, "must have a request", 400},
		"no UID":                   {head + `,"request":{"desiredAPIVersion":"a","objects":[]}}`, "uid", 400},
		"no version":               {head + `,"request":{"uid":"a","objects":[]}}`, "desiredAPIVersion", 400},
		"objects of a number":      {head + `,"request":{"uid":"a","desiredAPIVersion":"a","objects":7}}`, "objects", 400},
		"deeper than JSON goes":    {strings.Repeat("[", 200), "no object", 400},
		"an object of half a word": {head + `,"request":{"uid":"a","desiredAPIVersion":"a","objects":[{"a":tru}]}}`, "no object in JSON", 400},
		"too long":                 {strings.Repeat(" ", 1025), "at most 1024 bytes", 413},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			h := Handler(HandlerOptions{MaxBodyBytes: 1024})
			h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", strings.NewReader(tc.body)))
			if recorder.Code != tc.status || !strings.Contains(recorder.Body.String(), tc.says) {
				t.Errorf("got %d %q, want %d with %q", recorder.Code, recorder.Body, tc.status, tc.says)
			}
		})
	}
}

func TestABrokenBodyAndABrokenConnectionAreSurvived(t *testing.T) {
	var logged int
	h := Handler(HandlerOptions{Log: funcr.New(func(_, _ string) { logged++ }, funcr.Options{})})
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", brokenReader{}))
	if recorder.Code != http.StatusBadRequest {
		t.Errorf("status %d", recorder.Code)
	}
	for _, n := range []int{1, 5000} {
		h.ServeHTTP(brokenWriter{}, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert",
			bytes.NewReader(reviewOf(t, newVersion, listOf(n)...))))
	}
	if logged != 2 {
		t.Errorf("logged %d times, want once per answer", logged)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type brokenWriter struct{}

func (brokenWriter) Header() http.Header       { return http.Header{} }
func (brokenWriter) WriteHeader(int)           {}
func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
