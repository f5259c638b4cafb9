// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhooks is the front door: it fills defaults, judges objects, asks
// whether the user may use what an object names, writes down what it decided,
// and holds the TLS server with its routes.
//
// # One judgement
//
// Judge is the only place that says whether an object is right. /mutate,
// /validate and whoever works without a cluster call it with raw JSON, so a
// value of a wrong type is one fault among others and hides none. It judges in
// two layers: the schema and the CEL rules of the version in which the object
// was written, with the server's own libraries and the embedded CRDs; then the
// rules of this package, on the object as v1. Bounds, enums and types are said
// once, in the schema, and only put into words here; a rule exists here for
// what a schema cannot say, or cannot say well.
//
// # The way of a request
//
// The server checks the schema after the mutating and before the validating
// webhooks, and stops at the first layer that objects. So /mutate judges after
// defaulting and refuses with all faults; /validate judges again what will be
// stored, and is the one that warns, asks about references, and writes the
// line of an accepted request. Each request has one decision, in the log, the
// metrics and the audit annotations.
//
// # Old and new
//
// A fault that the old object has too, in the same field with the same value,
// becomes a warning. A write that changes nothing passes in silence, and so
// does every write of an object that is being deleted and keeps its spec.
package webhooks
