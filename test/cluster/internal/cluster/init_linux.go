// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttributes gives a cluster with a node a process namespace and a mount
// namespace. Killing the first process of the former kills all the others, and
// the mounts go with the last of them: nothing has to be hunted down.
func childAttributes(c Config) *syscall.SysProcAttr {
	if !c.Node {
		return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	}
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
}

const settingsFolder = "/proc/sys"

// privateSettings are kernel settings that the kubelet changes. It gets copies,
// so that the machine keeps its own.
var privateSettings = []string{
	"kernel/keys/root_maxbytes",
	"kernel/keys/root_maxkeys",
	"kernel/panic",
	"kernel/panic_on_oops",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
}

// Init is the first process of a cluster's process namespace. It prepares the
// namespaces, starts the supervisor in them, and collects the processes that
// lose their parent, such as the shims of containers.
func Init(l Layout) error {
	// Joining the network namespace concerns this thread and what it starts.
	runtime.LockOSThread()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := joinNetwork(l); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return err
	}
	if err := isolateMounts(l); err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	pid, err := syscall.ForkExec(self, []string{self, SuperviseCommand, "--name=" + l.Name},
		&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	go func() {
		for range signals {
			// It fails only if the supervisor is gone, which ends this process too.
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}()
	return collect(pid)
}

// collect waits for children until the given one ends.
func collect(pid int) error {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("wait for children: %w", err)
		case ended == pid && status.ExitStatus() != 0:
			return fmt.Errorf("the supervisor ended with status %#x", int(status))
		case ended == pid:
			return nil
		}
	}
}

// joinNetwork moves the calling thread into the cluster's network namespace.
func joinNetwork(l Layout) error {
	f, err := os.Open(l.NamespacePath())
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Setns(int(f.Fd()), unix.CLONE_NEWNET), f.Close()); err != nil {
		return fmt.Errorf("enter %s: %w", l.NamespacePath(), err)
	}
	return nil
}

func isolateMounts(l Layout) error {
	// What the machine mounts later appears here too, but nothing goes back;
	// and the kubelet wants a tree in which containers can share mounts.
	for _, flags := range []uintptr{unix.MS_SLAVE | unix.MS_REC, unix.MS_SHARED | unix.MS_REC} {
		if err := unix.Mount("", "/", "", flags, ""); err != nil {
			return fmt.Errorf("detach the mounts: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for _, dir := range sharedFolders {
		if err := bindFolder(l, dir); err != nil {
			return err
		}
	}
	for _, name := range privateSettings {
		if err := bindSetting(l, name); err != nil {
			return err
		}
	}
	return nil
}

func bindFolder(l Layout, dir string) error {
	source := privateCopy(l, dir)
	if err := os.MkdirAll(source, 0o755); err != nil {
		return err
	}
	return bind(source, dir)
}

func bindSetting(l Layout, name string) error {
	path := filepath.Join(settingsFolder, name)
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	source := privateCopy(l, path)
	if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(source, content, 0o644); err != nil {
		return err
	}
	return bind(source, path)
}

func privateCopy(l Layout, path string) string {
	return filepath.Join(l.data("private"), strings.TrimPrefix(path, "/"))
}

func bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s on %s: %w", source, target, err)
	}
	return nil
}
