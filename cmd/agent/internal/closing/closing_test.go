// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package closing

import (
	"errors"
	"strings"
	"testing"
)

func TestWatcherTellsAWholeDumpFromAHalfOne(t *testing.T) {
	body := strings.Repeat("INSERT INTO `t` VALUES (1);\n", 100)
	cases := map[string]struct {
		dump string
		want error
	}{
		"a dump with its date":                {body + "-- Dump completed on 2027-03-28  2:00:09\n", nil},
		"a dump without a date":               {body + "-- Dump completed\n", nil},
		"blank lines after it":                {body + "-- Dump completed on 2027-03-28  2:00:09\n\n \r\n", nil},
		"no line break after it":              {body + "-- Dump completed", nil},
		"nothing":                             {"", ErrTooSmall},
		"only the closing line":               {"-- Dump completed\n", ErrTooSmall},
		"cut off in the data":                 {body + "INSERT INTO `t` VAL", ErrNoLine},
		"cut off in the closing line":         {body + "-- Dump comp", ErrNoLine},
		"the closing line as data":            {body + "INSERT INTO `t` VALUES ('-- Dump completed');\n", ErrNoLine},
		"the closing line and then more data": {body + "-- Dump completed\n" + body, ErrNoLine},
		"a failure after all the data":        {body + "-- Dump completed\nmysqldump: Error 2013", ErrNoLine},
	}
	for name, tc := range cases {
		for _, size := range []int{1, 7, 100, 511, 512, 513, 1 << 20} {
			t.Run(name, func(t *testing.T) {
				w := watch(t, tc.dump, size)
				if err := w.Err(); !errors.Is(err, tc.want) {
					t.Errorf("in pieces of %d: got %v, want %v", size, err, tc.want)
				}
				if w.Bytes() != int64(len(tc.dump)) {
					t.Errorf("counted %d bytes, want %d", w.Bytes(), len(tc.dump))
				}
			})
		}
	}
}

// watch lets a dump go by in pieces.
func watch(t *testing.T, dump string, size int) *Watcher {
	t.Helper()
	w := &Watcher{}
	for dump != "" {
		n := min(size, len(dump))
		if got, err := w.Write([]byte(dump[:n])); got != n || err != nil {
			t.Fatal(got, err)
		}
		dump = dump[n:]
	}
	return w
}
