// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package mysql drives the command line clients of MySQL and MariaDB: it
// finds them, tells which family and version they are, writes the options
// file with which they log in, asks the server who it is, and turns what the
// clients print when they fail into lines that say what to do.
//
// No value that a user chose is ever part of a shell line: every client is
// started with an array of arguments, and the credentials are in a file that
// only this user can read. What could change a client's behaviour from
// outside, its usual options files and environment, is shut out.
package mysql
