// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package prune

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/backupjob-operator/cmd/agent/internal/store"
)

var now = time.Date(2027, 3, 28, 2, 0, 0, 0, time.UTC)

// backups are made from ages in days, oldest first. A "-" behind the age
// means that the file is missing, a "/" that it is cut off.
func backups(ages string) []store.Backup {
	var list []store.Backup
	for age := range strings.FieldsSeq(ages) {
		b := store.Backup{State: store.StateComplete}
		b.File = age
		switch {
		case strings.HasSuffix(age, "-"):
			b.State = store.StateMissing
		case strings.HasSuffix(age, "/"):
			b.State = store.StateWrong
		}
		days, err := strconv.ParseFloat(strings.TrimRight(age, "-/"), 64)
		if err != nil {
			panic(err)
		}
		b.ScheduledTime = now.Add(-time.Duration(days * float64(24*time.Hour)))
		list = append(list, b)
	}
	return list
}

func TestExpired(t *testing.T) {
	cases := map[string]struct {
		days, min int
		have      string
		want      string
	}{
		"nothing there":                                  {7, 1, "", ""},
		"all young":                                      {7, 1, "6 5 4 3 2 1 0", ""},
		"the old ones go":                                {7, 1, "10 9 8 7.5 6 0", "10 9 8 7.5"},
		"exactly as old as the limit stays":              {7, 1, "7 0", ""},
		"a moment older goes":                            {7, 1, "7.0001 0", "7.0001"},
		"the newest stays whatever its age":              {7, 1, "30 20", "30"},
		"the only one stays":                             {1, 1, "3650", ""},
		"the newest three stay":                          {7, 3, "40 30 20 10", "40"},
		"fewer than are to stay":                         {7, 5, "40 30 20", ""},
		"young ones count as the newest":                 {7, 3, "40 30 5 1", "40"},
		"a streak of failures leaves the last good one":  {14, 1, "20", ""},
		"half files never count":                         {7, 1, "20 15/ 12- 1/", "15/ 12-"},
		"half files do not push the good ones out":       {7, 2, "30 20 10/ 9/ 8/", "10/ 9/ 8/"},
		"young half files stay for somebody to look at":  {7, 1, "6/ 5- 0", ""},
		"a clock that was ahead":                         {7, 1, "20 -400", "20"},
		"the largest retention does not overflow":        {3650, 1, "3651 3649 0", "3651"},
		"every backup of a minute, most of them too old": {1, 1, "2.0003 2.0002 2.0001", "2.0003 2.0002"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, b := range (Policy{Days: tc.days, MinBackups: tc.min}).Expired(now, backups(tc.have)) {
				got = append(got, b.File)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateRefusesWhatCouldRemoveTheLastBackup(t *testing.T) {
	for _, p := range []Policy{
		{0, 1}, {-1, 1}, {3651, 1}, {106752, 1}, {1 << 31, 1}, {7, 0}, {7, -1}, {7, 101}, {},
	} {
		if err := p.Validate(); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	for _, p := range []Policy{{1, 1}, {3650, 100}} {
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestNoPolicyEverRemovesTheNewestCompleteBackup(t *testing.T) {
	have := backups("4000 300 200/ 100 50- 40 3/")
	for days := 1; days <= MaxDays; days += 7 {
		for _, minimum := range []int{1, 2, 3, MaxMinBackups} {
			for _, b := range (Policy{Days: days, MinBackups: minimum}).Expired(now, have) {
				if b.File == "40" {
					t.Fatalf("%d days, %d backups removes the newest", days, minimum)
				}
			}
		}
	}
}
