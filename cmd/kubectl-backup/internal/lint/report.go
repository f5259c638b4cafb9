// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"example.com/backupjob-operator/cmd/kubectl-backup/internal/output"
)

// notChecked is what only a cluster knows.
var notChecked = []string{
	"whether the user may read the Secrets that an object names, and may have Pods run in its namespace",
	"whether the Secrets and the claim exist, and the server answers",
	"what an update of an object that exists already may change",
}

// answer is the report for programs.
type answer struct {
	Documents  []*finding `json:"documents"`
	PassedOver int        `json:"passedOver"`
	NotChecked []string   `json:"notChecked"`
}

func (r *report) answer() answer {
	return answer{Documents: r.documents, PassedOver: r.others, NotChecked: notChecked}
}

// write is the report for a person. Each fault stands behind its file and line,
// where editors and CI look for it.
func (r *report) write(w io.Writer) error {
	var text strings.Builder
	for _, f := range r.documents {
		f.write(&text)
	}
	if len(r.documents) > 0 {
		text.WriteString("\n")
	}
	text.WriteString(r.summary())
	_, err := io.WriteString(w, text.String())
	return err
}

func (f *finding) write(w *strings.Builder) {
	verdict := map[string]string{accept: "accepted", deny: "denied"}[f.Verdict]
	fmt.Fprintf(w, "%s:%d: %s: %s\n", f.File, f.document.Line(), f.title(), verdict)
	for _, e := range f.Errors {
		fmt.Fprintf(w, "  %s:%d: error: %s\n", f.File, e.line, e.text)
	}
	for _, e := range f.Warnings {
		fmt.Fprintf(w, "  %s:%d: warning: %s\n", f.File, e.line, e.text)
	}
	switch {
	case f.suspended:
		w.WriteString("  suspended: runs only when asked to\n")
	case f.schedule != nil:
		fmt.Fprintf(w, "  runs %s; next:\n", f.schedule.Words())
		for _, run := range f.runs {
			local := run.In(f.schedule.Location())
			fmt.Fprintf(w, "    %s   %s\n", local.Format("Mon 2006-01-02 15:04 -07:00"), output.Stamp(run))
		}
	}
}

func (f *finding) title() string {
	name := f.Name
	if f.Namespace != "" {
		name = f.Namespace + "/" + name
	}
	return strings.TrimSpace(f.Kind + " " + name)
}

func (r *report) summary() string {
	var text strings.Builder
	if len(r.documents) == 0 {
		text.WriteString("No BackupJob or MySQLBackup found.")
	} else {
		fmt.Fprintf(&text, "%s: %d accepted, %d denied, %d with warnings.", plural(len(r.documents), "object"),
			len(r.documents)-r.denied, r.denied, r.warned)
	}
	if r.others > 0 {
		fmt.Fprintf(&text, " Passed over: %s.", plural(r.others, "document")+" of other kinds")
	}
	text.WriteString("\n")
	if len(r.documents) > 0 {
		text.WriteString("Not checked, as only a cluster knows it:\n")
		for _, line := range notChecked {
			text.WriteString("  - " + line + "\n")
		}
	}
	return text.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// setAPIVersion changes that one field of an object.
func setAPIVersion(raw []byte, apiVersion string) []byte {
	var fields map[string]json.RawMessage
	value, err := json.Marshal(apiVersion)
	if err != nil || json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	fields["apiVersion"] = value
	changed, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return changed
}
