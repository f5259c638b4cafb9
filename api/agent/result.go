// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Result is what one attempt of a run reports. A zero field means unknown or
// does not apply.
type Result struct {
	// Location is the backup's file, relative to the root of the volume.
	Location string `json:"location,omitempty"`
	// SizeBytes is the size of the stored file in bytes.
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// SHA256 is the lower-case hexadecimal digest of the stored file.
	SHA256 string `json:"sha256,omitempty"`
	// StartTime is when the attempt began.
	StartTime *time.Time `json:"startTime,omitempty"`
	// CompletionTime is when the file had its final name.
	CompletionTime *time.Time `json:"completionTime,omitempty"`
	// Pruned counts the backups that were removed by retention, or, of a
	// clean-up, all that were removed.
	Pruned int `json:"pruned,omitempty"`
	// PruneError says why retention could not be applied. It does not make
	// the backup a failure.
	PruneError string `json:"pruneError,omitempty"`
	// Error is the one line that says why the attempt failed.
	Error string `json:"error,omitempty"`
}

// Encode returns the result as JSON of at most MaxResultBytes bytes. The two
// error lines are cut, at a rune's border, until it fits.
func (r Result) Encode() []byte {
	// JSON writes a byte as six at the most (\u0001), so cutting a sixth of
	// what is too much never cuts more than is needed.
	const shortest, widest = 16, 6
	r.Error, r.PruneError = cut(r.Error, MaxResultBytes), cut(r.PruneError, MaxResultBytes)
	for {
		data, err := json.Marshal(r)
		if err != nil {
			// Strings, numbers and times in range always marshal; a time far
			// outside year 9999 is the one exception.
			data = fmt.Appendf(nil, `{"error":%q}`, "the result cannot be written as JSON")
		}
		longest := &r.Error
		if len(r.PruneError) > len(r.Error) {
			longest = &r.PruneError
		}
		over := len(data) - MaxResultBytes
		if over <= 0 || len(*longest) <= shortest {
			return data
		}
		*longest = cut(*longest, max(shortest, len(*longest)-(over+widest-1)/widest))
	}
}

// DecodeResult reads a termination message. Anything that is not a Result,
// for instance what a killed container left, is an error.
func DecodeResult(message string) (Result, error) {
	var r Result
	if err := json.Unmarshal([]byte(message), &r); err != nil {
		return Result{}, fmt.Errorf("read the agent's result: %w", err)
	}
	return r, nil
}

// cut shortens s to at most n bytes without splitting a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
