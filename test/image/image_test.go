// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

//go:build image

// Package image looks at the image that the Dockerfile makes. It needs the two
// archives that verify.sh builds; 'make verify-image' sees to it.
package image

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mostBytes is how large image and unpacked files may be.
const mostBytes = 80 << 20

var one, other *archive

func TestMain(m *testing.M) {
	for name, a := range map[string]**archive{"IMAGE_ONE": &one, "IMAGE_OTHER": &other} {
		var err error
		if *a, err = open(os.Getenv(name)); err != nil {
			panic(name + ", run 'make verify-image': " + err.Error())
		}
	}
	os.Exit(m.Run())
}

func TestTwoBuildsGiveTheSameDigest(t *testing.T) {
	if one.digest != other.digest {
		t.Errorf("%s and %s\nconfiguration and files differ in\n%s%s", one.digest, other.digest,
			cmp.Diff(one.config, other.config), cmp.Diff(listing(one), listing(other)))
	}
	t.Log(one.digest)
}

func TestEverythingInItHasTheTimeOfTheCommit(t *testing.T) {
	created, err := time.Parse(time.RFC3339, one.config.Created)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range one.files {
		if !f.header.ModTime.Equal(created) {
			t.Errorf("%s is of %s, the image of %s", f.header.Name, f.header.ModTime, created)
		}
	}
}

func TestItHoldsTheTwoBinariesAndNothingElse(t *testing.T) {
	want := []string{"0 -rwxr-xr-x 0:0 agent", "0 -rwxr-xr-x 0:0 manager"}
	if diff := cmp.Diff(want, listing(one)); diff != "" {
		t.Error(diff)
	}
}

func TestItRunsTheManagerAsANumberThatIsNotRoot(t *testing.T) {
	c := one.config.Config
	if c.User != "65532:65532" {
		t.Errorf("user %q", c.User)
	}
	if diff := cmp.Diff([]string{"/manager"}, c.Entrypoint); diff != "" {
		t.Error(diff)
	}
	for _, variable := range c.Env {
		if !strings.HasPrefix(variable, "PATH=") {
			t.Errorf("environment variable %s", variable)
		}
	}
	if len(c.Cmd)+len(c.Volumes)+len(c.ExposedPorts) > 0 {
		t.Errorf("command %v, volumes %v, ports %v", c.Cmd, c.Volumes, c.ExposedPorts)
	}
}

func TestItsBinariesAreThoseOfMakeBuild(t *testing.T) {
	for _, f := range one.files {
		built, err := os.ReadFile(filepath.Join(os.Getenv("BIN"), f.header.Name))
		if err != nil {
			t.Fatal(err)
		}
		if sha256.Sum256(built) != sha256.Sum256(f.content) {
			t.Errorf("%s is another binary than bin/%s", f.header.Name, f.header.Name)
		}
	}
}

func TestItIsSmall(t *testing.T) {
	unpacked := 0
	for _, f := range one.files {
		unpacked += len(f.content)
	}
	if unpacked > mostBytes {
		t.Errorf("its files have %d bytes, at most %d are wanted", unpacked, mostBytes)
	}
	t.Logf("%.1f MB, %.1f MB packed", float64(unpacked)/1e6, float64(one.compressed)/1e6)
}

// The programs see only what is in the image, as its user, without a way to
// gain rights.
func TestItsProgramsRunOnNothingButTheImage(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{filepath.Dir(root), root} {
		if err := os.Chmod(dir, 0o755); err != nil { // the image's user has to get there
			t.Fatal(err)
		}
	}
	for _, f := range one.files {
		if err := os.WriteFile(filepath.Join(root, f.header.Name), f.content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	version := os.Getenv("VERSION")
	for name, tc := range map[string]struct {
		command []string
		want    string
	}{
		"the version":         {append(one.config.Config.Entrypoint, "version"), "backupjob-operator " + version + ", go1."},
		"the webhook server":  {append(one.config.Config.Entrypoint, "webhook", "--help"), "--cert-dir"},
		"the controller":      {append(one.config.Config.Entrypoint, "controller", "--help"), "--agent-image"},
		"the agent":           {[]string{"/agent", "--help"}, "agent"},
		"its copy for a Pod":  {[]string{"/agent", "install", "--help"}, "install"},
		"the agent's version": {[]string{"/agent", "--version"}, version},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(tc.command[0], tc.command[1:]...)
			cmd.Dir, cmd.Env = "/", []string{"HOME=/"}
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte(tc.want)) {
				t.Errorf("%v, without %q:\n%s", err, tc.want, out)
			}
		})
	}
}

func listing(a *archive) []string {
	var lines []string
	for _, f := range a.files {
		lines = append(lines, f.String())
	}
	return lines
}
