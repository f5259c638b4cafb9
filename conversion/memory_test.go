// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"
)

// repeated is a text with a part that is repeated, as a stream: the test itself must not hold what it measures.
type repeated struct {
	head, part, tail string
	times            int
}

func (r repeated) size() int64 { return int64(len(r.head) + len(r.part)*r.times + len(r.tail)) }

func (r repeated) reader() io.Reader {
	return io.MultiReader(strings.NewReader(r.head), &cycle{part: r.part, left: r.times}, strings.NewReader(r.tail))
}

// cycle reads a part again and again.
type cycle struct {
	part     string
	at, left int
}

func (c *cycle) Read(p []byte) (n int, err error) {
	for n < len(p) && c.left > 0 {
		copied := copy(p[n:], c.part[c.at:])
		n += copied
		if c.at += copied; c.at == len(c.part) {
			c.at, c.left = 0, c.left-1
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// slack is what one review may take besides its body: buffers, one object at a time, and the test's own.
const slack = 4 << 20

const reviewHead = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"backup.example.com/v1","objects":[`

// live is the memory that is in use, garbage apart.
func live() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestAReviewTakesNoMoreMemoryThanItsBody looks at the memory before the first, in the middle and at the last
// of the objects, which is where most of it would be held.
func TestAReviewTakesNoMoreMemoryThanItsBody(t *testing.T) {
	example := named("v1alpha1", "BackupJob", "a", `,"spec":{"databaseHost":"db:1","schedule":"0 2 * * *","secretRef":"`+strings.Repeat("s", 200)+`"}`)
	for name, tc := range map[string]struct {
		objects repeated
		known   bool // the length is told
	}{
		"50,000 objects":                  {repeated{reviewHead, example + ",", example + "]}}", 49999}, true},
		"50,000 objects, length not told": {repeated{reviewHead, example + ",", example + "]}}", 49999}, false},
		"a million objects of nothing":    {repeated{reviewHead, "{},", "{}]}}", 1<<20 - 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := Handler(HandlerOptions{Log: logr.Discard()}).(*handler)
			before, most, seen := live(), int64(0), 0
			h.convert = func(dst []byte, o *object, apiVersion string) ([]byte, error) {
				if seen++; seen == 1 || seen == tc.objects.times/2 || seen == tc.objects.times {
					most = max(most, live()-before)
				}
				if string(o.text) == "{}" {
					return append(dst, o.text...), nil
				}
				return appendConverted(dst, o, apiVersion)
			}
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", tc.objects.reader())
			limit := tc.objects.size() + slack
			if tc.known {
				request.ContentLength = tc.objects.size()
			} else {
				limit = 2*tc.objects.size() + slack // the buffer doubles
			}
			h.ServeHTTP(&discard{header: http.Header{}}, request)
			if seen != tc.objects.times+1 || most > limit {
				t.Errorf("after %d objects the review held %d bytes at most; want at most %d for a body of %d", seen, most, limit, tc.objects.size())
			}
		})
	}
}

// allocated is how much memory a call takes in all, garbage included.
func allocated(call func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestWhatIsNoReviewIsNotTakenApart proves that many small members cost no more than their bytes. With the race
// detector a buffer is made twice.
func TestWhatIsNoReviewIsNotTakenApart(t *testing.T) {
	const kind = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1",`
	for name, body := range map[string]repeated{
		"members beside the request": {kind, `"":1,`, `"":1}`, 2 << 20},
		"members of the request":     {kind + `"request":{`, `"":1,`, `"":1}}`, 2 << 20},
		"deep lists":                 {kind + `"request":`, `[`, ``, 8 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			h, recorder := Handler(HandlerOptions{}), httptest.NewRecorder()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", body.reader())
			request.ContentLength = body.size()
			took := allocated(func() { h.ServeHTTP(recorder, request) })
			if recorder.Code != http.StatusBadRequest || took > 2*body.size()+slack {
				t.Errorf("got %d and %d bytes of memory for a body of %d", recorder.Code, took, body.size())
			}
		})
	}
}

// TestAnObjectThatNoServerStoresIsRefused proves that one object cannot take the memory of many.
func TestAnObjectThatNoServerStoresIsRefused(t *testing.T) {
	large := named("v1alpha1", "BackupJob", "large", `,"spec":{"databaseHost":"`+strings.Repeat("h", maxObject)+`"}`)
	h := Handler(HandlerOptions{Log: logr.Discard()})
	result := ask(t, h, reviewOf(t, newVersion, large)).Result
	if !strings.Contains(result.Message, `BackupJob "large"`) || !strings.Contains(result.Message, "at most 8388608 bytes") {
		t.Errorf("the result is %+v", result)
	}
	fits := named("v1alpha1", "BackupJob", "fits", `,"spec":{"databaseHost":"`+strings.Repeat("h", maxObject-200)+`"}`)
	if result := ask(t, h, reviewOf(t, newVersion, fits)).Result; result.Status != "Success" {
		t.Errorf("the result is %+v", result)
	}
}

func TestALengthThatIsTooLongIsRefusedUnread(t *testing.T) {
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", bytes.NewReader(nil))
	request.ContentLength = DefaultMaxBodyBytes + 1
	took := allocated(func() { Handler(HandlerOptions{}).ServeHTTP(recorder, request) })
	if recorder.Code != http.StatusRequestEntityTooLarge || !strings.Contains(recorder.Body.String(), "at most 134217728 bytes") || took > slack {
		t.Errorf("got %d %q with %d bytes of memory", recorder.Code, recorder.Body, took)
	}
}
