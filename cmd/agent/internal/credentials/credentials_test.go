// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func files(t *testing.T, username, password string) Files {
	t.Helper()
	dir := t.TempDir()
	f := Files{Username: filepath.Join(dir, "username"), Password: filepath.Join(dir, "password")}
	write(t, f.Username, username)
	write(t, f.Password, password)
	return f
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o400); err != nil {
		t.Fatal(err)
	}
}

func TestReadStripsOneLineBreakAndNothingElse(t *testing.T) {
	for name, tc := range map[string]struct{ content, want string }{
		"plain":                      {"secret", "secret"},
		"a line break":               {"secret\n", "secret"},
		"a line break of Windows":    {"secret\r\n", "secret"},
		"two line breaks":            {"secret\n\n", "secret\n"},
		"blanks around":              {"  sec ret\t\n", "  sec ret\t"},
		"a carriage return alone":    {"secret\r", "secret\r"},
		"quotes, hash and backslash": {`"a'#b\c;=[x]` + "`$", `"a'#b\c;=[x]` + "`$"},
		"bytes that are no UTF-8":    {"\xff\xfe", "\xff\xfe"},
		"an empty password":          {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(t.Context(), files(t, "backup\n", tc.content), time.Second)
			if want := (Credentials{"backup", tc.want}); err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestReadRefusesWhatNoClientCanUse(t *testing.T) {
	for name, tc := range map[string]struct{ username, password, says string }{
		"an empty user name": {"\n", "x", `is empty: set the key "username"`},
		"a NUL byte":         {"backup", "hunter2\x00", "holds a NUL byte"},
		"a whole file":       {"backup", "hunter2" + strings.Repeat("y", maxBytes), "is longer than 1024 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), files(t, tc.username, tc.password), time.Second)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("got %v, want %q in it", err, tc.says)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestReadWaitsForFilesThatComeLate(t *testing.T) {
	f := files(t, "backup", "secret")
	f.CA = filepath.Join(t.TempDir(), "ca.crt")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		go func() {
			time.Sleep(30 * time.Second)
			write(t, f.CA, "certificate")
		}()
		got, err := Read(t.Context(), f, Wait)
		if err != nil || got.Password != "secret" {
			t.Fatalf("got %q, %v", got, err)
		}
		if waited := time.Since(start); waited < 30*time.Second || waited > 31*time.Second {
			t.Errorf("waited %s for a file that came after 30s", waited)
		}
	})
}

func TestReadGivesUpAfterAWhileAndNamesTheFile(t *testing.T) {
	f := files(t, "backup", "secret")
	f.Password = filepath.Join(t.TempDir(), "pass")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := Read(t.Context(), f, Wait)
		if err == nil || !strings.Contains(err.Error(), f.Password+" is still not there after 1m0s") ||
			!strings.Contains(err.Error(), `its key "pass" is missing`) {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(start); waited != Wait {
			t.Errorf("waited %s, want %s", waited, Wait)
		}
	})
}

func TestReadStopsWaitingWhenItIsToldTo(t *testing.T) {
	f := Files{Username: filepath.Join(t.TempDir(), "username")}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second, errors.New("SIGTERM"))
		defer cancel()
		if _, err := Read(ctx, f, Wait); err == nil || !strings.Contains(err.Error(), "SIGTERM") {
			t.Errorf("got %v", err)
		}
	})
}
