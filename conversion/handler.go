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

// chunkBytes is how much of a long answer is held back, and how large a buffer is kept for the next call.
const chunkBytes = 256 << 10

// HandlerOptions are the settings of Handler.
type HandlerOptions struct {
	// MaxBodyBytes is the longest request that is read. 0 means DefaultMaxBodyBytes.
	MaxBodyBytes int64
	// Log gets what goes wrong, and nothing else.
	Log logr.Logger
	// Registerer gets the metrics. Nil means that they are kept by nobody.
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
	h := &handler{HandlerOptions: o, convert: convert, panics: prometheus.NewCounter(prometheus.CounterOpts{
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

// review is the part of a ConversionReview that matters, in the bytes of the request.
type review struct {
	uid        []byte
	apiVersion string
	objects    [][]byte
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := h.buffers.Get().(*bytes.Buffer)
	defer h.giveBack(body)
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, h.MaxBodyBytes)); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			http.Error(w, fmt.Sprintf("the review must have at most %d bytes", tooLarge.Limit), http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(w, "the review must be readable to its end: "+err.Error(), http.StatusBadRequest)
		return
	}
	review, err := parseReview(body.Bytes())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := h.answer(w, review); err != nil {
		h.Log.Error(err, "Cannot send a conversion's answer", "uid", string(review.uid))
	}
}

func (h *handler) giveBack(buffer *bytes.Buffer) {
	if buffer.Cap() > chunkBytes {
		return // one large review must not hold its memory for ever
	}
	buffer.Reset()
	h.buffers.Put(buffer)
}

// parseReview checks the text once, as a whole: whatever looks into it afterwards may trust it.
func parseReview(body []byte) (review, error) {
	if !json.Valid(body) {
		return review{}, errors.New("the body must be a ConversionReview in JSON, but is no JSON")
	}
	o, ok := parseObject(body)
	if !ok {
		return review{}, errors.New("the body must be a ConversionReview, but is no object")
	}
	kind, _ := decodeString(o.get("kind"))
	version, _ := decodeString(o.get("apiVersion"))
	if kind != "ConversionReview" || version != apiextensionsv1.SchemeGroupVersion.String() {
		return review{}, fmt.Errorf("the body must be a ConversionReview of %s, but is a %q of %q",
			apiextensionsv1.SchemeGroupVersion, kind, version)
	}
	wanted, hasVersion := decodeString(o.get("request", "desiredAPIVersion"))
	objects, hasObjects := parseArray(o.get("request", "objects"))
	uid := o.get("request", "uid")
	if _, hasUID := decodeString(uid); !hasUID || !hasVersion || !hasObjects && !saysNothing(o.get("request", "objects")) {
		return review{}, errors.New("the ConversionReview must have a request with uid, desiredAPIVersion and objects")
	}
	return review{uid: uid, apiVersion: wanted, objects: objects}, nil
}

// answer writes the result behind the objects, so that a long answer can be on its way before the last
// object is converted: the memory stays that of the request.
func (h *handler) answer(w http.ResponseWriter, r review) error {
	buffer := h.buffers.Get().(*bytes.Buffer)
	defer h.giveBack(buffer)
	buffer.WriteString(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":`)
	buffer.Write(r.uid)
	buffer.WriteString(`,"convertedObjects":[`)
	result := metav1.Status{Status: metav1.StatusSuccess}
	for i, object := range r.objects {
		converted, err := h.convertOne(object, r.apiVersion)
		if err != nil {
			h.Log.Error(err, "Cannot convert an object", "uid", string(r.uid))
			result = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: err.Error()}
			break
		}
		if i > 0 {
			buffer.WriteByte(',')
		}
		buffer.Write(converted)
		if buffer.Len() > chunkBytes {
			if _, err := buffer.WriteTo(w); err != nil {
				return fmt.Errorf("write the answer: %w", err)
			}
		}
	}
	buffer.WriteString(`],"result":`)
	if err := json.NewEncoder(buffer).Encode(result); err != nil {
		return fmt.Errorf("encode the result: %w", err)
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
			o, _ := parseObject(raw)
			if o == nil {
				o = &object{}
			}
			err = fmt.Errorf("convert %s to %s: internal fault, please report it: %v", describe(o), apiVersion, reason)
			h.Log.Error(err, "Conversion panicked", "stack", string(debug.Stack()))
		}
	}()
	return h.convert(raw, apiVersion)
}
