// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// otherVersion is the one that the objects of a review come in.
func otherVersion(wanted string) string {
	if group, ok := strings.CutSuffix(wanted, "/v1"); ok {
		return group + "/v1alpha1"
	}
	return strings.TrimSuffix(wanted, "alpha1")
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// copyBytes is the least that a converter can do: it looks for the UID, the
// wanted version and the one object in the text that an API server writes,
// checks nothing, decodes nothing, and answers with the object's own bytes but
// for the version in front.
func copyBytes(w http.ResponseWriter, r *http.Request) {
	body := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(body)
	body.Reset()
	if _, err := body.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	uid, rest, okUID := between(body.Bytes(), `"uid":"`, `"`)
	wanted, rest, okVersion := between(rest, `"desiredAPIVersion":"`, `"`)
	_, rest, okObject := between(rest, `"objects"`, `[`)
	before, after, okOther := bytes.Cut(rest, []byte(`"apiVersion":"`+otherVersion(string(wanted))+`"`))
	end := bytes.LastIndexByte(after, ']')
	if !okUID || !okVersion || !okObject || !okOther || end < 0 {
		http.Error(w, "the body must be a ConversionReview with one object, as an API server writes it", http.StatusBadRequest)
		return
	}
	answer := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(answer)
	answer.Reset()
	for _, part := range [][]byte{
		[]byte(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"`), uid,
		[]byte(`","convertedObjects":[`), before, []byte(`"apiVersion":"`), wanted, []byte(`"`), after[:end],
		[]byte(`],"result":{"status":"Success"}}}`),
	} {
		answer.Write(part)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = answer.WriteTo(w)
}

func between(text []byte, before, after string) (found, rest []byte, ok bool) {
	_, text, ok = bytes.Cut(text, []byte(before))
	if !ok {
		return nil, nil, false
	}
	return bytes.Cut(text, []byte(after))
}

// copyDecoded copies too, but reads the review with the libraries that
// everybody uses.
func copyDecoded(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "the body must be a ConversionReview", http.StatusBadRequest)
		return
	}
	wanted := review.Request.DesiredAPIVersion
	from, to := []byte(`"apiVersion":"`+otherVersion(wanted)+`"`), []byte(`"apiVersion":"`+wanted+`"`)
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range review.Request.Objects {
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: bytes.Replace(object.Raw, from, to, 1)})
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// allowAll is an admission webhook without an opinion.
func allowAll(log logr.Logger) (http.Handler, error) {
	return admission.StandaloneWebhook(&admission.Webhook{
		Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") }),
	}, admission.StandaloneOptions{Logger: log})
}
