// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package conversion turns objects of both kinds from v1alpha1 into v1 and back. It works on the JSON
// text: a table per kind pairs the fields of the two versions, and what the table does not move keeps its
// place and its bytes. Nothing is decoded into the types, so a wrong type, an odd quantity, an empty list
// or an unknown field comes through as it was.
//
// No object of our kinds is refused, whatever its fields hold. Every object that a schema admits comes back
// the same from the other version, but for phase, lastResult and backupStatus in the status of a
// MySQLBackup, which are added where they follow from each other. An odd value stays in the field's
// partner, or where it stands if that cannot hold it: a port that is no number, a backupStatus that
// contradicts the phase beside it.
//
// # The contract, and what proves it
//
// Beside the tests of this package those of test/integration ask a real API server; they are called
// "Contract 1" and so on.
//
//  1. It never fails and never judges: whatever a schema lets in, or once did, converts.
//     TestAnythingIsStableAfterOneConversion, FuzzConvertOld, FuzzConvertNew, FuzzReview.
//  2. It loses nothing, in either direction, the server's defaults included.
//     TestEveryAdmittedObjectComesBackTheSame, TestTheStoredObjectsComeBackTheSame,
//     TestTheServersDefaultsChangeNothingBetweenTheVersions, TestEveryPathOfV1HasAHomeInV1alpha1,
//     TestGivingUpFieldsMakesNoFieldAppear.
//  3. What is older than today's schema is carried verbatim, as far as the types reach.
//     TestAnOddFieldComesBackTheSame, TestObjectsThatAreEachOthersConversion.
//  4. Metadata, count and order are not its business; nothing is invented, and the input is not changed.
//     TestMetadataIsAlwaysThereAndOtherwiseUntouched, TestAReviewIsAnsweredInOrderWithoutAWordInTheLog,
//     TestAnEmptyListIsAnswered, TestTheSameVersionGivesTheSameBytes.
//  5. Splitting and joining are exact inverses, or the value stays whole.
//     TestHostsThatSplit, TestObjectsThatAreEachOthersConversion.
//  6. A panic is a Failure that names the object, and a metric.
//     TestAPanicIsAFailureThatNamesTheObject, TestWhatCannotBeConvertedFailsTheReviewByName.
//
// # Server-side apply
//
// The API server converts half-way objects while a manager gives up fields, and it fails the request if the
// answer has a field that the other version lacks, be it empty. So a port without a host becomes ":port",
// and an empty source or retention goes.
//
// It then compares which fields the converted objects have, and takes away those that are not in both. So
// giving up fields in one version must never make a field appear in the other: the claim's name stands in
// storageClaim whether storage says more or not, and lists of databases are atomic, so that no item of one
// goes alone. Where both texts have the field, the value from before is kept: a manager cannot give up a
// port or a zone alone while others write v1alpha1, where it is a part of the host's or the schedule's text.
//
// A manager of v1alpha1 that goes from database to databases passes through an object with both, which no
// schema admits: every name must be in the answer. So database goes in front of databases, unless that is
// the empty list, which means all.
//
// # Deliberately not exact
//
// Values that no schema admits: a host in v1 that has a port in it comes back split; databases of exactly
// one name and a claim's name in storage come back in the old fields; a timeZone beside the schedule
// comes back in front of it; an unknown field with a name that means something in the other version goes.
package conversion
