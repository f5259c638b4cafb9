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
	"strconv"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultMaxBodyBytes is room for a review of 50,000 objects of 2.5 KiB, far more than a server sends.
const DefaultMaxBodyBytes = 128 << 20

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
	convert func(dst []byte, o *object, apiVersion string) ([]byte, error)
	panics  prometheus.Counter
	buffers sync.Pool
}

// Handler answers the API server's ConversionReviews.
func Handler(o HandlerOptions) http.Handler {
	h := &handler{HandlerOptions: o, convert: appendConverted, panics: prometheus.NewCounter(prometheus.CounterOpts{
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
	limited := r.Body
	switch n := r.ContentLength; {
	case n > h.MaxBodyBytes:
		return &http.MaxBytesError{Limit: h.MaxBodyBytes}
	case n > 0: // and the server reads no more
		body.Grow(int(n) + bytes.MinRead)
	default:
		limited = http.MaxBytesReader(w, r.Body, h.MaxBodyBytes)
	}
	_, err := body.ReadFrom(limited)
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

// answer writes the result behind the objects, so that a long answer is on its way before the last object is
// converted, and needs no more memory than the request.
func (h *handler) answer(w http.ResponseWriter, buffer *bytes.Buffer, r review) error {
	buffer.Grow(min(2*len(r.objects)+chunkBytes/64, chunkBytes))
	buffer.WriteString(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":`)
	buffer.Write(r.uid)
	buffer.WriteString(`,"convertedObjects":[`)
	var failed, sendErr error
	s, first, sent := &scanner{text: r.objects}, true, false
	s.each('[', func() bool {
		dst := buffer.AvailableBuffer()
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, failed = h.convertNext(dst, s, &r); failed != nil {
			return false
		}
		if buffer.Write(dst); buffer.Len() > chunkBytes {
			_, sendErr = buffer.WriteTo(w)
			sent = true
		}
		return sendErr == nil
	})
	if sendErr != nil {
		return sendErr
	}
	result := []byte(`{"status":"Success"}`)
	if failed != nil {
		h.Log.Error(failed, "Cannot convert an object", "uid", string(r.uid))
		result, _ = json.Marshal(metav1.Status{ // texts alone
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: failed.Error(),
		})
	}
	buffer.WriteString(`],"result":`)
	buffer.Write(result)
	buffer.WriteString("}}")
	if !sent {
		w.Header().Set("Content-Length", strconv.Itoa(buffer.Len())) // else it goes out in chunks
	}
	_, err := buffer.WriteTo(w)
	return err
}

// convertNext turns a panic into an error that names the object: whoever asked must see which one it is, and
// the connection must stay.
func (h *handler) convertNext(dst []byte, s *scanner, r *review) (converted []byte, err error) {
	o, err := r.next(s)
	if err != nil {
		return nil, err
	}
	defer func() {
		if reason := recover(); reason != nil {
			h.panics.Inc()
			err = fmt.Errorf("convert %s to %s: internal fault, please report it: %v", describe(o.text), r.apiVersion, reason)
			h.Log.Error(err, "A conversion panicked", "stack", string(debug.Stack()))
		}
	}()
	return h.convert(dst, o, r.apiVersion)
}
