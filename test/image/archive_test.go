// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build image

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// archive is an image as it is handed on.
type archive struct {
	// digest is that of the manifest, by which registries name the image.
	digest string
	config struct {
		Created string
		Config  struct {
			User         string
			Env          []string
			Entrypoint   []string
			Cmd          []string
			Volumes      map[string]any
			ExposedPorts map[string]any
		}
	}
	// compressed is the size of the layers as they travel.
	compressed int
	files      []file
}

// file is an entry of a layer.
type file struct {
	header  *tar.Header
	content []byte
}

// descriptor is how one part of an image names another.
type descriptor struct{ Digest, MediaType string }

// open reads an OCI archive.
func open(name string) (*archive, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	entries, err := untar(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	parts := map[string][]byte{}
	for _, e := range entries {
		parts[strings.TrimPrefix(e.header.Name, "./")] = e.content
	}
	blob := func(d descriptor) []byte { return parts["blobs/"+strings.Replace(d.Digest, ":", "/", 1)] }

	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(parts["index.json"], &index); err != nil || len(index.Manifests) != 1 {
		return nil, fmt.Errorf("%s holds %d images, want one: %w", name, len(index.Manifests), err)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	a := &archive{digest: index.Manifests[0].Digest}
	if err := json.Unmarshal(blob(index.Manifests[0]), &manifest); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	if err := json.Unmarshal(blob(manifest.Config), &a.config); err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	for _, layer := range manifest.Layers {
		if err := a.add(blob(layer)); err != nil {
			return nil, fmt.Errorf("read layer %s: %w", layer.Digest, err)
		}
	}
	return a, nil
}

func (a *archive) add(layer []byte) error {
	a.compressed += len(layer)
	unpacked, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		return err
	}
	files, err := untar(unpacked)
	a.files = append(a.files, files...)
	return err
}

func untar(r io.Reader) ([]file, error) {
	var files []file
	for in := tar.NewReader(r); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		files = append(files, file{header, content})
	}
}

func (f file) String() string {
	mode := fs.FileMode(f.header.Mode)
	return fmt.Sprintf("%c %s %d:%d %s", f.header.Typeflag, mode, f.header.Uid, f.header.Gid, f.header.Name)
}
