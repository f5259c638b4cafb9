// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package conversion turns objects of both kinds from v1alpha1 into v1 and back. It works on the JSON
// text: a table per kind pairs the paths of the two versions, and what the table does not move keeps
// its place and its bytes. Nothing is decoded into the types, so a wrong type, an odd quantity, an
// empty list or an unknown field comes through as it was.
//
// # What the caller may rely on
//
//   - No object of our kinds is refused, whatever its fields hold.
//   - Every object that a schema admits comes back the same from the other version. A status of
//     MySQLBackup may come back with phase, lastResult or backupStatus added, where they follow from
//     what was there.
//   - An old field that the user wrote never reads back differently.
//   - A conversion into the object's own version gives the object's own bytes.
//
// # What has no place on the other side
//
// It stays where it stands, under its own name, and so comes back. An API server prunes it from what it
// stores; "convert" shows it. This happens only to values that no schema admits (a port without a
// host, a port of 70000, databases that are no list beside a database), and to a backupStatus that
// contradicts the phase and the result beside it. A value that has a place displaces what stands there.
//
// # Both the old and the new field
//
// No schema admits that in v1alpha1, but server-side apply converts such a half-way object while a
// manager goes from one field to the other. So the answer holds both, lest the apply loses one:
// database is put in front of databases, and storageClaim becomes the claim's name in storage.
//
// # What is deliberately not exact
//
// A host in v1 that already has a port in it ("db:3306" and no port), which the schema refuses, comes
// back split. A list databases of exactly one name and a storage of only a claim's name, which the
// schema of v1alpha1 refuses, come back in the old fields.
package conversion
