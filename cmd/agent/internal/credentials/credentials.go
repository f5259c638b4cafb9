// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package credentials reads a user's name and password from mounted files.
package credentials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// Wait is how long missing files are waited for: an optional Secret's
	// volume is filled by the kubelet's next look at the Pod, up to a minute
	// after the Secret is there.
	Wait = 60 * time.Second
	// poll is how often the files are looked for meanwhile.
	poll = 500 * time.Millisecond
	// maxBytes is more than any server takes as a password, and little
	// enough for one line of a client's options file.
	maxBytes = 1024
)

// Files are the paths to read from.
type Files struct {
	Username, Password string
	// CA is waited for like the others, but not read. Empty means none.
	CA string
}

// Credentials are what a client logs in with.
type Credentials struct{ Username, Password string }

// Read returns what the files hold, without a trailing line break and
// otherwise as it is. Files that are not there yet are waited for.
func Read(ctx context.Context, files Files, wait time.Duration) (Credentials, error) {
	if err := appear(ctx, files, wait); err != nil {
		return Credentials{}, err
	}
	username, err := read(files.Username)
	if err != nil {
		return Credentials{}, err
	}
	if username == "" {
		return Credentials{}, fmt.Errorf(
			"the user name in %s is empty: set the key %q of the Secret that spec.source.credentialsSecretRef names",
			files.Username, filepath.Base(files.Username))
	}
	password, err := read(files.Password)
	if err != nil {
		return Credentials{}, err
	}
	return Credentials{Username: username, Password: password}, nil
}

// appear returns when every file is there, or says which one is not.
func appear(ctx context.Context, files Files, wait time.Duration) error {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		missing := files.missing()
		if missing == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the file %s: %w", missing, context.Cause(ctx))
		case <-deadline.C:
			return fmt.Errorf("the file %s is still not there after %s: the Secret or its key %q is missing; "+
				"create it, or name the right one in spec.source", missing, wait, filepath.Base(missing))
		case <-ticker.C:
		}
	}
}

// missing names the first file that does not exist. Any other trouble with a
// file is left to reading it.
func (f Files) missing() string {
	for _, path := range []string{f.Username, f.Password, f.CA} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}

// read returns a file's content without its trailing line break. No error
// shows the content.
func read(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the credentials: %w", err)
	}
	data, found := bytes.CutSuffix(data, []byte("\n"))
	if found {
		data = bytes.TrimSuffix(data, []byte("\r"))
	}
	if len(data) > maxBytes {
		return "", fmt.Errorf("the content of %s is longer than %d bytes: put only the value into the Secret's key", path, maxBytes)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fmt.Errorf("the content of %s holds a NUL byte, which no client can send: check how the Secret was made", path)
	}
	return string(data), nil
}
