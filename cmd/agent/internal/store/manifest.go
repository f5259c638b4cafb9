// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/backupjob-operator/cmd/agent/internal/hash"
)

// ManifestVersion is the version of the manifest that this agent writes.
// Version 1 must be read for ever.
const ManifestVersion = 1

// Manifest describes one backup and lies beside it as JSON.
type Manifest struct {
	FormatVersion int   `json:"formatVersion"`
	Object        Owner `json:"object"`
	// File is the dump's name in the same folder.
	File string `json:"file"`
	// Engine is what the server really is: MySQL or MariaDB.
	Engine        string `json:"engine"`
	ServerVersion string `json:"serverVersion"`
	ClientVersion string `json:"clientVersion"`
	// AllDatabases says that the databases were not named one by one.
	AllDatabases   bool      `json:"allDatabases"`
	Databases      []string  `json:"databases"`
	ScheduledTime  time.Time `json:"scheduledTime"`
	StartTime      time.Time `json:"startTime"`
	CompletionTime time.Time `json:"completionTime"`
	// SizeBytes and SHA256 are those of the stored file.
	SizeBytes int64  `json:"sizeBytes"`
	SHA256    string `json:"sha256"`
	// DumpSizeBytes is the size before compression.
	DumpSizeBytes int64  `json:"dumpSizeBytes"`
	Compression   string `json:"compression"`
}

// Sum is the content that the manifest promises.
func (m Manifest) Sum() hash.Sum { return hash.Sum{Bytes: m.SizeBytes, SHA256: m.SHA256} }

// DecodeManifest reads a manifest and refuses one that a person or a newer
// agent wrote in a way that this agent does not understand.
func DecodeManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	switch {
	case m.FormatVersion > ManifestVersion:
		return Manifest{}, fmt.Errorf("the manifest has format %d, written by a newer agent; this one reads up to %d",
			m.FormatVersion, ManifestVersion)
	case m.FormatVersion < 1:
		return Manifest{}, errors.New("the file is not a backup's manifest: it has no formatVersion")
	case !IsFileName(m.File) || strings.HasSuffix(m.File, manifestSuffix):
		return Manifest{}, fmt.Errorf("the manifest names the file %q, which is not a dump in its own folder", m.File)
	case m.Object.UID == "" || m.ScheduledTime.IsZero() || m.SHA256 == "":
		return Manifest{}, errors.New("the manifest lacks the object's UID, the scheduled time or the checksum")
	}
	return m, nil
}

// encode writes a manifest for people and programs.
func (m Manifest) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return append(data, '\n'), nil
}
