// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
)

// stable fails unless the other version and this one agree after one conversion each, whatever the object
// held: no panic, no error, and nothing that changes again and again.
func stable(t *testing.T, raw []byte, from string) {
	t.Helper()
	to := otherVersion(from)
	first, err := Convert(raw, to)
	if err != nil {
		if json.Valid(raw) && ours(raw) {
			t.Fatalf("an object of ours was refused: %v\n%s", err, raw)
		}
		return
	}
	back := mustConvert(t, first, from)
	second := mustConvert(t, back, to)
	if !reflect.DeepEqual(decode(t, first), decode(t, second)) {
		t.Fatalf("%s\nbecame %s\nthen   %s\nthen   %s", raw, first, back, second)
	}
}

func ours(raw []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return false
	}
	version, _ := decodeString(fields["apiVersion"])
	kind, _ := decodeString(fields["kind"])
	return (version == oldVersion || version == newVersion) && tableOf(kind) != nil
}

// fuzzConvert fuzzes what stands in an object of both kinds in one version.
func fuzzConvert(f *testing.F, version string) {
	f.Helper()
	for _, cases := range bothWays {
		for _, bodies := range cases {
			old, hub, _ := bytes.Cut([]byte(bodies), []byte("\n---\n"))
			body := map[string][]byte{oldVersion: old, newVersion: hub}[version]
			f.Add(bytes.TrimSuffix(bytes.TrimPrefix(yamlToJSON(f, body), []byte("{")), []byte("}")))
		}
	}
	f.Add([]byte(`"spec":{},"spec":{"database":"a","databases":["\ud800"],"schedule":"CRON_TZ=\ud800 x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, kind := range []string{"BackupJob", "MySQLBackup"} {
			raw := []byte(`{"apiVersion":"` + version + `","kind":"` + kind + `",` + string(body) + `}`)
			stable(t, raw, version)
		}
	})
}

func FuzzConvertOld(f *testing.F) { fuzzConvert(f, oldVersion) }

func FuzzConvertNew(f *testing.F) { fuzzConvert(f, newVersion) }

// FuzzReview sends anything to the handler: it answers with a review or a bad request.
func FuzzReview(f *testing.F) {
	f.Add(reviewOf(f, newVersion, named("v1alpha1", "BackupJob", "a", "")))
	f.Add(reviewOf(f, oldVersion))
	f.Add([]byte(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"","desiredAPIVersion":"","objects":[{},[],1,"",null]}}`))
	h := Handler(HandlerOptions{}).(*handler)
	inner := h.convert
	f.Fuzz(func(t *testing.T, body []byte) {
		h.convert = func(dst []byte, o *object, apiVersion string) ([]byte, error) {
			defer func() {
				if reason := recover(); reason != nil {
					t.Errorf("panic: %v\n%s", reason, o.text)
				}
			}()
			return inner(dst, o, apiVersion)
		}
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/convert", bytes.NewReader(body)))
		switch recorder.Code {
		case http.StatusBadRequest:
		case http.StatusOK:
			if !json.Valid(recorder.Body.Bytes()) {
				t.Errorf("the answer is no JSON: %s", recorder.Body)
			}
		default:
			t.Errorf("status %d", recorder.Code)
		}
	})
}

// FuzzParse takes any text apart: it judges as encoding/json does, and JSON comes back as it was.
func FuzzParse(f *testing.F) {
	for _, text := range append(notJSON, isJSON...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o, ok := parseObject(text)
		elements, isList := parseArray(text)
		s := &scanner{text: text}
		if valid := s.value() != nil && s.end(); valid != json.Valid(text) {
			t.Fatalf("valid %t, want %t: %q", valid, !valid, text)
		}
		if !json.Valid(text) {
			if ok || isList {
				t.Fatalf("taken apart, though it is no JSON: %q", text)
			}
			return
		}
		var fields map[string]json.RawMessage
		var list []json.RawMessage
		if isObject := json.Unmarshal(text, &fields) == nil && fields != nil; ok != isObject {
			t.Fatalf("object %t, want %t: %q", ok, isObject, text)
		}
		if want := json.Unmarshal(text, &list) == nil && list != nil; isList != want || len(elements) != len(list) {
			t.Fatalf("array %t, want %t: %q", isList, want, text)
		}
		if ok && !reflect.DeepEqual(decode(t, text), decode(t, o.append(nil))) {
			t.Fatalf("%q became %q", text, o.append(nil))
		}
	})
}
