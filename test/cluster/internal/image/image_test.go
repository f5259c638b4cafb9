// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

type member struct {
	Name, Link, Content string
	Kind                byte
	Mode                int64
	Owner               int
}

func members(t *testing.T, archive []byte) []member {
	t.Helper()
	var all []member
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, member{h.Name, h.Linkname, string(content), h.Typeflag, h.Mode, h.Uid})
	}
}

func TestLayerHoldsEntriesAndTheirFolders(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("code"), 0o755); err != nil {
		t.Fatal(err)
	}
	entries := []Entry{
		{Target: "/usr/bin/program", Source: program},
		{Target: "usr/bin/alias", Link: "program"},
		{Target: "/etc/passwd", Content: "root:x:0:0"},
		{Target: "/data", Mode: 0o1777, Owner: 7},
		{Target: "/etc", Mode: 0o700},
	}
	var first, second bytes.Buffer
	if err := errors.Join(writeTar(&first, entries), writeTar(&second, entries)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("equal entries make different layers")
	}
	want := []member{
		{Name: "data/", Kind: tar.TypeDir, Mode: 0o1777, Owner: 7},
		{Name: "etc/", Kind: tar.TypeDir, Mode: 0o700},
		{Name: "etc/passwd", Kind: tar.TypeReg, Mode: 0o644, Content: "root:x:0:0"},
		{Name: "usr/", Kind: tar.TypeDir, Mode: 0o755},
		{Name: "usr/bin/", Kind: tar.TypeDir, Mode: 0o755},
		{Name: "usr/bin/alias", Kind: tar.TypeSymlink, Mode: 0o777, Link: "program"},
		{Name: "usr/bin/program", Kind: tar.TypeReg, Mode: 0o755, Content: "code"},
	}
	if diff := cmp.Diff(want, members(t, first.Bytes())); diff != "" {
		t.Error(diff)
	}
}

func TestFilesCopiesFoldersAndLinks(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, "sub"), 0o755),
		os.WriteFile(filepath.Join(dir, "sub", "file"), nil, 0o644),
		os.Symlink("file", filepath.Join(dir, "sub", "link")),
	); err != nil {
		t.Fatal(err)
	}
	got, err := Files(dir, "/to")
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Target: "/to"},
		{Target: "/to/sub"},
		{Target: "/to/sub/file", Source: filepath.Join(dir, "sub", "file")},
		{Target: "/to/sub/link", Link: "file"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestArchiveNamesAndConfiguresTheImage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "image.tar")
	spec := Spec{
		Tags:       []string{"one:1", "two:2"},
		Entries:    []Entry{{Target: "/text", Content: "words"}},
		Entrypoint: []string{"/program"},
		User:       "65532",
	}
	if err := Write(file, spec); err != nil {
		t.Fatal(err)
	}
	for _, tag := range spec.Tags {
		ref, err := name.NewTag(tag)
		if err != nil {
			t.Fatal(err)
		}
		img, err := tarball.ImageFromPath(file, &ref)
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.OS != "linux" || config.Config.User != "65532" || !cmp.Equal(config.Config.Entrypoint, spec.Entrypoint) {
			t.Errorf("%s is configured as %+v", tag, config)
		}
	}
}

func TestWrongTagIsNamed(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "x.tar"), Spec{Tags: []string{"No:Way:1"}}); err == nil {
		t.Error("no error")
	}
}

func TestCachedArchiveFollowsItsFiles(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "program")
	spec := Program("p:1", "program", source)
	make := func(content string, at time.Time) string {
		t.Helper()
		if err := errors.Join(os.WriteFile(source, []byte(content), 0o755), os.Chtimes(source, at, at)); err != nil {
			t.Fatal(err)
		}
		file, err := Cached(filepath.Join(dir, "cache"), spec)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	then := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first := make("one", then)
	if again := make("one", then); again != first {
		t.Errorf("an equal program makes another archive: %s and %s", first, again)
	}
	if other := make("two", then.Add(time.Second)); other == first {
		t.Error("a changed program keeps its archive")
	}
}

func TestLibrariesAreThePathsThatLddPrints(t *testing.T) {
	cases := map[string]struct {
		listing string
		want    []string
	}{
		"a program": {
			listing: "\tlinux-vdso.so.1 (0x00007)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007)\n",
			want:    []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"},
		},
		"a static program": {listing: "\tnot a dynamic executable\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, libraries(tc.listing)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
