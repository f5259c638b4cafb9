// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeText is the report for a terminal: what is well in a line, what is not
// with what was seen and what to do.
func writeText(w io.Writer, r *Report) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Audit of the operator in namespace %s of %s\n", r.Namespace, r.Server)
	area := ""
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Area != area {
			area = row.Area
			fmt.Fprintf(&text, "\n%s\n", area)
		}
		fmt.Fprintf(&text, "  %-4s  %s: %s%s\n", row.Status, row.ID, row.Title, threatText(row.Threats))
		for _, seen := range row.Seen {
			fmt.Fprintf(&text, "          %s\n", seen)
		}
		if row.Do != "" {
			fmt.Fprintf(&text, "          > %s\n", row.Do)
		}
	}
	fmt.Fprintf(&text, "\n%s.\n", r.Summary)
	for _, right := range r.MissingRights {
		fmt.Fprintf(&text, "You have no right to %s.\n", right)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func threatText(threats []int) string {
	if len(threats) == 0 {
		return ""
	}
	texts := make([]string, len(threats))
	for i, threat := range threats {
		texts[i] = strconv.Itoa(threat)
	}
	if len(texts) == 1 {
		return " (threat " + texts[0] + ")"
	}
	return " (threats " + strings.Join(texts, ", ") + ")"
}
