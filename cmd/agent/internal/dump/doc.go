// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package dump makes a logical backup of MySQL and MariaDB databases.
//
// # What is in a dump
//
// The named databases, or, when none is named, every database that the user
// can see except those of the server itself (mysql, sys, information_schema,
// performance_schema). Users and their grants are in the database mysql and
// so in no dump: they belong to the server and not to the data, and restoring
// them into another server would lock its owner out. Every dump says CREATE
// DATABASE IF NOT EXISTS and USE for each of its databases, so it restores in
// one way whether it holds one, several or all.
//
// # Grants
//
// A backup user needs, on each database or on *.*:
//
//	SELECT, SHOW VIEW              always
//	TRIGGER, EVENT                 unless triggers and events are left out
//	LOCK TABLES                    only without singleTransaction
//
// and to read stored routines, unless they are left out:
//
//	MariaDB                        SELECT ON mysql.proc (or, from 11.3 on, SHOW CREATE ROUTINE)
//	MySQL 8.0.20 and later         SHOW_ROUTINE ON *.*
//	MySQL 8.0 before that          SELECT ON *.*
//	MySQL 5.7                      SELECT ON mysql.proc
//
// MySQL with GTIDs and setGTIDPurged Auto or On needs RELOAD as well in some
// versions. PROCESS is never needed. Without TRIGGER or the right to read
// routines the tools leave these out of the dump without a word; therefore
// the grants are looked at before, and a run that would lose something fails
// and says what to grant.
//
// # Clients and servers
//
// The client of a server's own family, as new as the server, always works.
// The other family's client works where nothing is used that it cannot carry;
// where something is, the run fails at once and says which image to set.
package dump
