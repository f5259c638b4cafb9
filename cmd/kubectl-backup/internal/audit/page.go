// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	_ "embed"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"
)

// The page holds all of its style and asks for nothing from elsewhere.
//
//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"threats": func(threats []int) string {
		texts := make([]string, len(threats))
		for i, threat := range threats {
			texts[i] = strconv.Itoa(threat)
		}
		return strings.Join(texts, ", ")
	},
	"date": func(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04 UTC") },
}).Parse(pageText))

type pageArea struct {
	Name string
	Rows []Row
}

// writeHTML is the report as one page, to be filed or printed.
func writeHTML(w io.Writer, r *Report) error {
	var areas []pageArea
	var trouble []Row
	for _, row := range r.Rows {
		if len(areas) == 0 || areas[len(areas)-1].Name != row.Area {
			areas = append(areas, pageArea{Name: row.Area})
		}
		last := &areas[len(areas)-1]
		last.Rows = append(last.Rows, row)
	}
	for _, status := range []Status{Fail, Warn} {
		for _, row := range r.Rows {
			if row.Status == status {
				trouble = append(trouble, row)
			}
		}
	}
	return page.Execute(w, struct {
		*Report
		Areas   []pageArea
		Trouble []Row
	}{r, areas, trouble})
}
