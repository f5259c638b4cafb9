// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/backupjob-operator/api/schedule"
	backupv1 "example.com/backupjob-operator/api/v1"
)

// warn adds what is worth knowing about a write that changes the spec.
func (v *Verdict) warn(now time.Time, d, was *document) {
	w := &warner{document: d, verdict: v}
	w.schedule(now)
	w.tls()
	if was != nil {
		w.moved(was.typed)
		w.shortened(was.typed.Policy())
	}
}

// sort puts the warnings into the order of the API reference.
func (v *Verdict) sort() {
	shape := v.document.version.shape
	slices.SortStableFunc(v.Faults, func(a, b Fault) int { return shape.compare(a.at, b.at) })
	slices.SortStableFunc(v.Warnings, func(a, b Warning) int { return shape.compare(a.at, b.at) })
}

type warner struct {
	*document
	verdict *Verdict
}

func (w *warner) add(hub *field.Path, format string, args ...any) {
	at := w.written(w.asHub.shape.parse(hub.String()))
	w.verdict.Warnings = append(w.verdict.Warnings, Warning{Field: at.shown(), Message: fmt.Sprintf(format, args...), at: at})
}

func (w *warner) schedule(now time.Time) {
	policy := w.typed.Policy()
	s, err := schedule.Parse(policy.Schedule, policy.Zone())
	if err != nil {
		return // a fault says so
	}
	for _, note := range s.Notes(now) {
		at := specPath.Child("schedule")
		if note.Kind == schedule.NoteZoneSign {
			at = specPath.Child("timeZone")
		}
		w.add(at, "%s", note.Message)
	}
}

// unchecked are the modes in which nobody looks at the server's certificate.
var unchecked = []backupv1.TLSMode{backupv1.TLSDisabled, backupv1.TLSPreferred, backupv1.TLSRequired}

// tls tells of a CA that nobody looks at. It is no fault: whoever turns the
// check off for a while need not forget whom it trusts.
func (w *warner) tls() {
	tls := w.typed.Server().TLS
	if tls == nil || tls.CASecretRef == nil || !slices.Contains(unchecked, tls.Mode) {
		return
	}
	w.add(sourcePath.Child("tls", "caSecretRef"),
		"has no effect: with the mode '%s' the server's certificate is not checked; 'VerifyCA' and 'VerifyIdentity' check it", tls.Mode)
}

// moved tells that old backups stay behind.
func (w *warner) moved(old backupv1.Backup) {
	from, to := place(old), place(w.typed)
	if from != to {
		at := claimPath.Child("claimName")
		if backupv1.ClaimName(old) == backupv1.ClaimName(w.typed) {
			at = claimPath.Child("subPath")
		}
		w.add(at, "has changed: backups made so far stay in %s, where nothing prunes them any more", from)
	}
	if before := old.Server().Host; before != w.typed.Server().Host && before != "" {
		w.add(sourcePath.Child("host"),
			"has changed: backups of '%s' stay where they are, beside those of the new server, and age with them", cut(before, maxValue))
	}
}

func place(b backupv1.Backup) string {
	text := "the claim '" + cut(backupv1.ClaimName(b), maxValue) + "'"
	if folder := subPath(b); folder != "" {
		text += ", folder '" + cut(folder, maxValue) + "'"
	}
	return text
}

// subPath is the folder in the volume, "" for its root.
func subPath(b backupv1.Backup) string {
	s := b.Policy().Storage
	if s == nil || s.PersistentVolumeClaim == nil || s.PersistentVolumeClaim.SubPath == nil {
		return ""
	}
	return strings.Trim(*s.PersistentVolumeClaim.SubPath, "/")
}

// shortened tells which backups may go with the next run.
func (w *warner) shortened(old *backupv1.BackupPolicy) {
	policy, at := w.typed.Policy(), specPath.Child("retention")
	if before, days := old.RetentionDays(), policy.RetentionDays(); days < before && days > 0 {
		w.add(at.Child("days"), "was %d and is %d: the backups of %d days may go after the next successful run", before, days, before-days)
	}
	if before, least := old.MinBackups(), policy.MinBackups(); least < before && least > 0 {
		w.add(at.Child("minBackups"), "was %d and is %d: fewer old backups are kept whatever their age", before, least)
	}
}
