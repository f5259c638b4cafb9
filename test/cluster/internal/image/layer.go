// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	dirMode  = 0o755
	fileMode = 0o644
)

// Entry is a file, a folder or a symbolic link in an image. At most one of
// Source, Content and Link is set; without any it is a folder.
type Entry struct {
	// Target is the path in the image.
	Target string
	// Source is a file to copy.
	Source string
	// Content is the text of a file.
	Content string
	// Link is what a symbolic link points to.
	Link string
	// Mode is the mode in the usual octal form; 0 means that of the source, or
	// 755 for folders and 644 for texts.
	Mode int64
	// Owner is the number of both user and group.
	Owner int
}

// Files are the entries that copy source to target: a file, or a folder with
// everything in it.
func Files(source, target string) ([]Entry, error) {
	var entries []Entry
	err := filepath.WalkDir(source, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		e := Entry{Target: path.Join(target, filepath.ToSlash(rel))}
		switch {
		case d.IsDir():
		case d.Type()&fs.ModeSymlink != 0 && file != source:
			if e.Link, err = os.Readlink(file); err != nil {
				return err
			}
		default:
			e.Source = file
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("collect files: %w", err)
	}
	return entries, nil
}

// stream is the tar archive of the entries.
func stream(entries []Entry) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(writeTar(writer, entries)) }()
	return reader
}

// writeTar writes the entries and the folders above them, sorted and without
// times, so that equal input makes an equal layer. The last of several entries
// for one path counts.
func writeTar(w io.Writer, entries []Entry) error {
	all := map[string]Entry{}
	for _, e := range entries {
		e.Target = strings.TrimPrefix(path.Clean("/"+e.Target), "/")
		for dir := path.Dir(e.Target); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = Entry{Target: dir}
			}
		}
		if e.Target != "" {
			all[e.Target] = e
		}
	}
	out := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].write(out); err != nil {
			return fmt.Errorf("add /%s: %w", name, err)
		}
	}
	return out.Close()
}

func (e Entry) write(out *tar.Writer) error {
	header := &tar.Header{Name: e.Target, Mode: e.Mode, Uid: e.Owner, Gid: e.Owner, Format: tar.FormatPAX}
	switch {
	case e.Source != "":
		return e.copyTo(out, header)
	case e.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, e.Link, 0o777
		return out.WriteHeader(header)
	case e.Content != "":
		header.Typeflag, header.Size = tar.TypeReg, int64(len(e.Content))
		header.Mode = orElse(e.Mode, fileMode)
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err := io.WriteString(out, e.Content)
		return err
	}
	header.Typeflag, header.Name = tar.TypeDir, e.Target+"/"
	header.Mode = orElse(e.Mode, dirMode)
	return out.WriteHeader(header)
}

func (e Entry) copyTo(out *tar.Writer, header *tar.Header) (err error) {
	f, err := os.Open(e.Source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	header.Mode = orElse(e.Mode, int64(info.Mode().Perm()))
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}

func orElse(mode, otherwise int64) int64 {
	if mode == 0 {
		return otherwise
	}
	return mode
}
