// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package compress

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"example.com/backupjob-operator/api/agent"
	"example.com/backupjob-operator/cmd/agent/internal/realparts"
)

var kinds = []string{agent.CompressionZstd, agent.CompressionGzip, agent.CompressionNone}

// contents are streams of every sort, the largest longer than two windows.
func contents() map[string][]byte {
	noise := make([]byte, 2*windowBytes+17)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(noise)
	return map[string][]byte{
		"nothing":  {},
		"one byte": {'x'},
		"text":     bytes.Repeat([]byte("INSERT INTO `täble` VALUES (1,'🐬');\n"), 50_000),
		"noise":    noise,
	}
}

func compressed(t *testing.T, kind string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(kind, &out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decompressed(kind string, data []byte) ([]byte, error) {
	r, err := NewReader(kind, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return out, r.Close()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, kind := range kinds {
		for name, data := range contents() {
			t.Run(kind+", "+name, func(t *testing.T) {
				got, err := decompressed(kind, compressed(t, kind, data))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, data) {
					t.Errorf("got %d other bytes, want %d", len(got), len(data))
				}
			})
		}
	}
}

func TestACutOrDamagedStreamIsAnError(t *testing.T) {
	data := contents()["text"]
	for _, kind := range []string{agent.CompressionZstd, agent.CompressionGzip} {
		whole := compressed(t, kind, data)
		for _, size := range []int{1, len(whole) / 2, len(whole) - 1} {
			if _, err := decompressed(kind, whole[:size]); err == nil {
				t.Errorf("%s cut at %d of %d was read without an error", kind, size, len(whole))
			}
		}
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 0x40
		if _, err := decompressed(kind, flipped); err == nil {
			t.Errorf("%s with a flipped bit was read without an error", kind)
		}
	}
}

func TestTheUsualToolsReadWhatIsWritten(t *testing.T) {
	tools := map[string][]string{
		agent.CompressionZstd: {"zstd", "-dc"},
		agent.CompressionGzip: {"gzip", "-dc"},
	}
	data := contents()["text"]
	for kind, args := range tools {
		t.Run(kind, func(t *testing.T) {
			realparts.Tool(t, args[0])
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Stdin = bytes.NewReader(compressed(t, kind, data))
			got, err := cmd.Output()
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v: got %d bytes, want %d", err, len(got), len(data))
			}
		})
	}
}

func TestAnUnknownKindNamesTheKnownOnes(t *testing.T) {
	_, errW := NewWriter("Lzma", io.Discard)
	_, errR := NewReader("", strings.NewReader(""))
	for _, err := range []error{errW, errR} {
		if err == nil || !strings.Contains(err.Error(), "use Zstd, Gzip or None") {
			t.Errorf("got %v", err)
		}
	}
}
