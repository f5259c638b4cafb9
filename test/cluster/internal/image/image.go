// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

// Package image makes container images from files, without Docker and without
// a registry.
package image

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// searchPath is what shells expect; images of one static program do not care.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Spec describes an image with a single layer.
type Spec struct {
	// Tags are the names of the image.
	Tags []string
	// Entries are its files.
	Entries []Entry
	// Entrypoint is the program to run; empty leaves it to whoever uses the image.
	Entrypoint []string
	// User is a name or number; empty means root.
	User string
}

// Write puts the image into an archive that containerd imports. It replaces
// the file only when the image is complete.
func Write(file string, s Spec) error {
	img, err := s.build()
	if err != nil {
		return fmt.Errorf("make the image %v: %w", s.Tags, err)
	}
	refs := map[name.Reference]v1.Image{}
	for _, t := range s.Tags {
		tag, err := name.NewTag(t)
		if err != nil {
			return fmt.Errorf("image tag %q: %w", t, err)
		}
		refs[tag] = img
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := tarball.MultiRefWriteToFile(part, refs); err != nil {
		return errors.Join(fmt.Errorf("write the image %v: %w", s.Tags, err), os.RemoveAll(part))
	}
	return os.Rename(part, file)
}

// Cached is Write into a folder, under a name that changes with the content; it
// does nothing if that file is there already.
func Cached(dir string, s Spec) (string, error) {
	digest, err := s.digest()
	if err != nil {
		return "", fmt.Errorf("look at the files of the image %v: %w", s.Tags, err)
	}
	file := filepath.Join(dir, digest+".tar")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return file, Write(file, s)
}

func (s Spec) build() (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return stream(s.Entries), nil },
		// The archive is read once, on the same machine.
		tarball.WithCompressionLevel(gzip.NoCompression),
	)
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Env: []string{searchPath}, Entrypoint: s.Entrypoint, User: s.User, WorkingDir: "/"}
	return mutate.ConfigFile(img, config)
}

// digest looks at size and time of the files, not into them: the archive is
// made again if a file was replaced, and reading them all takes too long.
func (s Spec) digest() (string, error) {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(s); err != nil {
		return "", err
	}
	for _, e := range s.Entries {
		if e.Source == "" {
			continue
		}
		info, err := os.Stat(e.Source)
		if err != nil {
			return "", err
		}
		line := fmt.Sprintln(e.Source, info.Size(), info.ModTime().UnixNano(), info.Mode())
		if _, err := io.WriteString(sum, line); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
