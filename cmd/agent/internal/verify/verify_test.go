// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/compress"
	"example.com/backupjob-operator/cmd/agent/internal/hash"
	"example.com/backupjob-operator/cmd/agent/internal/store"
)

const closed = "\n-- Dump completed on 2027-03-28  2:00:09\n"

// backup stores a dump as the agent does.
func backup(t *testing.T, kind, dump string, change func(*store.Manifest)) (*store.Folder, store.Backup) {
	t.Helper()
	owner := store.Owner{Kind: "BackupJob", Namespace: "shop", Name: "nightly", UID: "11111111-a"}
	folder, err := store.MakeFolder(t.TempDir(), owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	p, err := folder.Create(store.Run{Owner: owner, Scheduled: time.Date(2027, 3, 28, 2, 0, 0, 0, time.UTC), Attempt: "pod-1"})
	if err != nil {
		t.Fatal(err)
	}
	sum := hash.NewWriter(p)
	w, err := compress.NewWriter(kind, sum)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write([]byte(dump))
	if err := errors.Join(err, w.Close(), p.Flush(t.Context(), sum.Sum())); err != nil {
		t.Fatal(err)
	}
	m := store.Manifest{Compression: kind, SizeBytes: sum.Sum().Bytes, SHA256: sum.Sum().SHA256, DumpSizeBytes: int64(len(dump))}
	if change != nil {
		change(&m)
	}
	b, err := p.Commit(m, "")
	if err != nil {
		t.Fatal(err)
	}
	return folder, b
}

func TestCheckTellsAWholeBackupFromADamagedOne(t *testing.T) {
	body := strings.Repeat("INSERT INTO `t` VALUES (1);\n", 1000)
	cases := map[string]struct {
		dump     string
		manifest func(*store.Manifest)
		file     func(data []byte) []byte
		says     string
	}{
		"whole":               {dump: body + closed},
		"no closing line":     {dump: body, says: "does not end with its closing line"},
		"too small":           {dump: closed, says: "too small to be one"},
		"a flipped bit":       {dump: body + closed, file: flip, says: "written were"},
		"cut off":             {dump: body + closed, file: func(d []byte) []byte { return d[:len(d)/2] }, says: "has not the"},
		"something behind it": {dump: body + closed, file: func(d []byte) []byte { return append(d, 'x') }, says: "has not the"},
		"another size in the manifest": {
			dump: body + closed, manifest: func(m *store.Manifest) { m.DumpSizeBytes++ }, says: "were dumped",
		},
		"another checksum in the manifest": {
			dump: body + closed, manifest: func(m *store.Manifest) { m.SHA256 = "00" }, says: "written were",
		},
		"a compression that is not known": {
			dump: body + closed, manifest: func(m *store.Manifest) { m.Compression = "Lzma" }, says: "is not known",
		},
	}
	for name, tc := range cases {
		for _, kind := range []string{agent.CompressionZstd, agent.CompressionGzip, agent.CompressionNone} {
			t.Run(name+", "+kind, func(t *testing.T) {
				folder, b := backup(t, kind, tc.dump, tc.manifest)
				if tc.file != nil {
					b = rewrite(t, folder, b, tc.file)
				}
				err := Check(t.Context(), folder, b)
				switch {
				case tc.says == "" && err != nil:
					t.Error(err)
				case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "shop/nightly/")):
					t.Errorf("got %v, want %q in it", err, tc.says)
				}
			})
		}
	}
}

func flip(data []byte) []byte {
	data[len(data)/2] ^= 4
	return data
}

// rewrite changes the stored file and looks at the backup again.
func rewrite(t *testing.T, folder *store.Folder, b store.Backup, change func([]byte) []byte) store.Backup {
	t.Helper()
	path := filepath.Join(folder.Path(), b.File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := folder.List()
	if err != nil {
		t.Fatal(err)
	}
	return l.Backups[0]
}

func TestCheckThatIsStoppedDoesNotBlameTheBackup(t *testing.T) {
	folder, b := backup(t, agent.CompressionZstd, strings.Repeat("x", 1000)+closed, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("SIGTERM"))
	err := Check(ctx, folder, b)
	if err == nil || strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "SIGTERM") {
		t.Errorf("got %v", err)
	}
}
