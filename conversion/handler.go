// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultMaxBodyBytes is room for a review of 50,000 objects of 2.5 KiB, far more than a server sends.
const DefaultMaxBodyBytes = 128 << 20

// maxObject is the longest object that is converted. An API server takes none of more than 3 MiB; one that is
// made up of the smallest fields takes many times its size.
const maxObject = 8 << 20

// chunkBytes is how much of an answer is held back, and how large a buffer may be that waits for its next use.
const chunkBytes = 256 << 10

// HandlerOptions are the settings of Handler.
type HandlerOptions struct {
	// MaxBodyBytes is the longest request that is read. 0 means DefaultMaxBodyBytes.
	MaxBodyBytes int64
	// Log gets what goes wrong, and nothing else.
	Log logr.Logger
	// Registerer gets the metrics. Nil means that nobody does.
	Registerer prometheus.Registerer
}

type handler struct {
	HandlerOptions
	convert func(raw []byte, apiVersion string) ([]byte, error)
	panics  prometheus.Counter
	buffers sync.Pool
}

// Handler answers the API server's ConversionReviews.
func Handler(o HandlerOptions) http.Handler {
	h := &handler{HandlerOptions: o, convert: convertValid, panics: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "backupjob_conversion_panics_total",
		Help: "Objects whose conversion panicked. Anything but 0 is a bug.",
	})}
	h.buffers.New = func() any { return new(bytes.Buffer) }
	if h.MaxBodyBytes == 0 {
		h.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if o.Registerer != nil {
		o.Registerer.MustRegister(h.panics)
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, answer := h.buffers.Get().(*bytes.Buffer), h.buffers.Get().(*bytes.Buffer)
	defer h.giveBack(body, answer)
	if err := h.read(w, r, body); err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			http.Error(w, fmt.Sprintf("the review must have at most %d bytes", tooLarge.Limit), http.StatusRequestEntityTooLarge)
		} else {
			http.Error(w, fmt.Sprintf("the review must be readable to its end: %v", err), http.StatusBadRequest)
		}
		return
	}
	review, err := parseReview(body.Bytes())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := h.answer(w, answer, review); err != nil {
		h.Log.Error(err, "Cannot send the answer of a conversion", "uid", string(review.uid))
	}
}

// read makes room for the whole body at once, where its length is told: a buffer that grows holds it twice.
func (h *handler) read(w http.ResponseWriter, r *http.Request, body *bytes.Buffer) error {
	if r.ContentLength > h.MaxBodyBytes {
		return &http.MaxBytesError{Limit: h.MaxBodyBytes}
	}
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, h.MaxBodyBytes))
	return err
}

// giveBack lets go of what a large review needed.
func (h *handler) giveBack(buffers ...*bytes.Buffer) {
	for _, buffer := range buffers {
		if buffer.Cap() <= 2*chunkBytes {
			buffer.Reset()
			h.buffers.Put(buffer)
		}
	}
}

// review is the part of a ConversionReview that matters, in the bytes of the request.
type review struct {
	uid        []byte
	apiVersion string
	objects    []byte // a list, or nothing
}

// parseReview checks the text once, as a whole: whatever looks into it afterwards may trust it. It keeps no
// list of anything in it, so that a review of millions of small values takes no more memory than its text.
func parseReview(body []byte) (r review, err error) {
	top, ok := pick(body, "kind", "apiVersion", "request")
	if !ok || !json.Valid(body) {
		return r, errors.New("the body must be a ConversionReview, and is no object in JSON")
	}
	kind, _ := decodeString(top[0])
	version, _ := decodeString(top[1])
	if kind != "ConversionReview" || version != apiextensionsv1.SchemeGroupVersion.String() {
		return r, fmt.Errorf("the body must be a ConversionReview of %s, and is a %q of %q", apiextensionsv1.SchemeGroupVersion, kind, version)
	}
	request, ok := pick(top[2], "uid", "desiredAPIVersion", "objects")
	_, hasUID := decodeString(request[0])
	wanted, hasVersion := decodeString(request[1])
	r = review{uid: request[0], apiVersion: wanted, objects: request[2]}
	if isNothing(r.objects) {
		r.objects = []byte("[]")
	}
	if !ok || !hasUID || !hasVersion || r.objects[0] != '[' {
		return r, errors.New("the ConversionReview must have a request with uid, desiredAPIVersion and objects")
	}
	return r, nil
}

// answer writes the result behind the objects, so that a long answer is on its way before the last object is
// converted, and needs no more memory than the request.
func (h *handler) answer(w http.ResponseWriter, buffer *bytes.Buffer, r review) error {
	buffer.WriteString(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":`)
	buffer.Write(r.uid)
	buffer.WriteString(`,"convertedObjects":[`)
	result := metav1.Status{Status: metav1.StatusSuccess}
	var sendErr error
	first := true
	parse(r.objects, '[', ']', func(s *scanner) bool {
		converted, err := h.convertOne(s.value(), r.apiVersion)
		if err != nil {
			h.Log.Error(err, "Cannot convert an object", "uid", string(r.uid))
			result = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: err.Error()}
			return false
		}
		if !first {
			buffer.WriteByte(',')
		}
		first = false
		if buffer.Write(converted); buffer.Len() > chunkBytes {
			_, sendErr = buffer.WriteTo(w)
		}
		return sendErr == nil
	})
	if sendErr != nil {
		return sendErr
	}
	buffer.WriteString(`],"result":`)
	if err := json.NewEncoder(buffer).Encode(result); err != nil {
		return err
	}
	buffer.WriteString("}}")
	_, err := buffer.WriteTo(w)
	return err
}

// convertOne turns a panic into an error that names the object: whoever asked must see which one it is, and
// the connection must stay.
func (h *handler) convertOne(raw []byte, apiVersion string) (converted []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			h.panics.Inc()
			err = fmt.Errorf("convert %s to %s: internal fault, please report it: %v", describe(raw), apiVersion, reason)
			h.Log.Error(err, "A conversion panicked", "stack", string(debug.Stack()))
		}
	}()
	if len(raw) > maxObject {
		return nil, fmt.Errorf("convert %s to %s: an object may have at most %d bytes, and this one has %d", describe(raw), apiVersion, maxObject, len(raw))
	}
	return h.convert(raw, apiVersion)
}
