// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// debianPackages is what a cluster needs from Debian: tools that it runs, what
// runc is compiled with, and the database that goes into the images.
var debianPackages = []string{
	"ca-certificates",
	"containernetworking-plugins",
	"gcc",
	"iproute2",
	"ipset",
	"iptables",
	"libc6-dev",
	"libseccomp-dev",
	"mariadb-client",
	"mariadb-server",
	"nftables",
	"pkg-config",
}

const (
	databaseServer = "mariadb-server"
	servicePolicy  = "/usr/sbin/policy-rc.d"
	// Exit code 101 of that script forbids packages to start their services.
	noServices = "#!/bin/sh\n# Of backupjob-operator's test cluster, while it installs packages.\nexit 101\n"
)

// InstallPackages installs the Debian packages that are missing. It starts no
// service and needs root only when something is missing.
func (t *Toolchain) InstallPackages(ctx context.Context) error {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return fmt.Errorf("this is not a Debian system; install the counterparts of these packages yourself: %s",
			strings.Join(debianPackages, " "))
	}
	missing, err := missingPackages(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("packages are missing; as root: apt-get install --no-install-recommends %s", strings.Join(missing, " "))
	}
	allow, err := forbidServices()
	if err != nil {
		return err
	}
	err = watch(t.out, "apt", "installing "+strings.Join(missing, " "), func() error { return install(ctx, missing) })
	return errors.Join(err, allow())
}

func missingPackages(ctx context.Context) ([]string, error) {
	args := append([]string{"--show", "--showformat=${Package} ${db:Status-Status}\n"}, debianPackages...)
	// It prints those that it knows and fails if there are others.
	out, err := exec.CommandContext(ctx, "dpkg-query", args...).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("ask for the installed packages: %w", err)
	}
	return without(debianPackages, string(out)), ctx.Err()
}

// without returns the packages that the listing does not call installed.
func without(packages []string, listing string) []string {
	lines := strings.Split(listing, "\n")
	return slices.DeleteFunc(slices.Clone(packages), func(name string) bool {
		return slices.Contains(lines, name+" installed")
	})
}

func install(ctx context.Context, packages []string) error {
	if err := run(ctx, "apt-get", "update"); err != nil {
		return err
	}
	if err := run(ctx, "apt-get", slices.Concat([]string{"install", "--yes", "--no-install-recommends"}, packages)...); err != nil {
		return err
	}
	if slices.Contains(packages, databaseServer) {
		return disableDatabaseService(ctx)
	}
	return nil
}

// disableDatabaseService keeps the machine from starting a database that
// nobody asked for when it boots the next time.
func disableDatabaseService(ctx context.Context) error {
	systemctl, err := exec.LookPath("systemctl")
	if errors.Is(err, exec.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return run(ctx, systemctl, "disable", "mariadb.service")
}

// forbidServices keeps packages from starting their services, unless the
// machine has a policy of its own. The returned function undoes it.
func forbidServices() (undo func() error, err error) {
	present, err := os.ReadFile(servicePolicy)
	switch {
	case err == nil && string(present) != noServices:
		return func() error { return nil }, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the service policy: %w", err)
	}
	if err := os.WriteFile(servicePolicy, []byte(noServices), 0o755); err != nil {
		return nil, fmt.Errorf("forbid packages to start services: %w", err)
	}
	return func() error { return os.Remove(servicePolicy) }, nil
}

func run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, tail(out.String()))
	}
	return nil
}
