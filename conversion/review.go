// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// maxObject is the longest object that is converted. An API server takes none of more than 3 MiB; one that is
// made up of the smallest fields takes many times its size.
const maxObject = 8 << 20

// membersOfObject is how many members an object of ours has.
const membersOfObject = 5

// review is the part of a ConversionReview that matters, in the bytes of the request.
type review struct {
	uid        []byte
	apiVersion string
	objects    []byte  // a list, or nothing
	first      *object // of them, if it was taken apart already
}

// parseReview judges the text once, as a whole, before anything is answered. It keeps no list of anything in
// it, so that a review of millions of small values takes no more memory than its text.
func parseReview(body []byte) (r review, err error) {
	s := &scanner{text: body}
	var kind, version, wanted []byte
	request := func(key []byte) bool {
		if string(key) == `"objects"` && s.next() == '[' {
			return r.list(s)
		}
		value := s.value()
		switch string(key) {
		case `"uid"`:
			r.uid = value
		case `"desiredAPIVersion"`:
			wanted = value
		case `"objects"`:
			r.objects, r.first = value, nil
		}
		return value != nil
	}
	ok := s.members(func(key []byte) bool {
		if string(key) == `"request"` && s.next() == '{' {
			return s.members(request)
		}
		value := s.value()
		switch string(key) {
		case `"kind"`:
			kind = value
		case `"apiVersion"`:
			version = value
		}
		return value != nil
	})
	if !ok || !s.end() {
		return r, errors.New("the body must be a ConversionReview, and is no object in JSON")
	}
	err = r.check(kind, version, wanted)
	return r, err
}

func (r *review) check(kind, version, wanted []byte) error {
	kindText, _ := decodeString(kind)
	versionText, _ := decodeString(version)
	if kindText != "ConversionReview" || versionText != apiextensionsv1.SchemeGroupVersion.String() {
		return fmt.Errorf("the body must be a ConversionReview of %s, and is a %q of %q", apiextensionsv1.SchemeGroupVersion, kindText, versionText)
	}
	var hasUID, hasVersion bool
	_, hasUID = decodeString(r.uid)
	r.apiVersion, hasVersion = decodeString(wanted)
	if isNothing(r.objects) {
		r.objects = []byte("[]")
	}
	if !hasUID || !hasVersion || r.objects[0] != '[' {
		return errors.New("the ConversionReview must have a request with uid, desiredAPIVersion and objects")
	}
	return nil
}

// list steps over the objects. The first one is taken apart on the way: servers send only one, and reading it
// twice would take a quarter of the time that the whole review takes.
func (r *review) list(s *scanner) bool {
	start := s.at
	r.first = nil
	index := 0
	ok := s.each('[', func() (ok bool) {
		if index++; index > 1 || s.next() != '{' || len(s.text) > maxObject {
			return s.skip()
		}
		r.first, ok = s.object(membersOfObject)
		return ok
	})
	r.objects = s.text[start:s.at]
	return ok
}

// next takes the next object apart.
func (r *review) next(s *scanner) (*object, error) {
	s.next()
	if o := r.first; o != nil {
		r.first = nil
		s.at += len(o.text)
		return o, nil
	}
	if len(s.text) > maxObject { // else none of them is
		ahead := *s
		if raw := ahead.value(); len(raw) > maxObject {
			return nil, fmt.Errorf("convert %s to %s: an object may have at most %d bytes, and this one has %d",
				describe(raw), r.apiVersion, maxObject, len(raw))
		}
	}
	o, ok := s.object(membersOfObject)
	if !ok {
		return nil, fmt.Errorf("convert an object to %s: it must be a JSON object", r.apiVersion)
	}
	return o, nil
}
