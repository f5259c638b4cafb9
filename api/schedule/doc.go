// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package schedule says what spec.schedule and spec.timeZone mean: whether they are right and if not
// what to write, when the runs are, and what a clock change does to them. It is the only place that
// knows cron and clocks, and it never reads the time of the machine it runs on.
//
// # Fields
//
// robfig/cron reads the fields, so a text means here what it means to a CronJob: where both day
// fields are restricted, a day matches if either does, and only '*', '?' and '*/1' leave a field
// unrestricted ('*/2' restricts it). The library sees a text only after the checks of this package,
// which are stricter, and the runs are found by a calendar walk of our own.
//
// # Clock changes
//
// The fields are compared with the local clock. If the hour field starts with '*' the schedule
// follows real time: it runs whenever the clock shows a matching minute, so twice where that minute
// comes twice and not at all where it is skipped. Otherwise it follows the wall clock: a local time
// runs at the first instant at which the clock reaches or passes it, so once in either case, and
// several local times that one jump skips are one run.
//
// # Zones
//
// Go's time.LoadLocation asks the host first, so a host with other names or rules would judge
// differently from the image. This package carries zoneinfo.zip, the compiled IANA database (public
// domain) of the Go distribution, and reads nothing else: neither the host's files, nor ZONEINFO,
// nor time/tzdata of whatever toolchain builds it. A new release of the database comes in by
// "go generate" with a newer Go, as a diff that can be reviewed.
package schedule

//go:generate cp $GOROOT/lib/time/zoneinfo.zip zoneinfo.zip
