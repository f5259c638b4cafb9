// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// A name ends up in file names, a network namespace and socket paths, whose
// length the kernel limits.
var namePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?$`)

const (
	runFolder = "/run/backupjob-operator"
	// namespaceFolder holds the names of network namespaces. It is a mount
	// point from the first name on.
	namespaceFolder = "/run/netns"
)

// Layout says where the files of one cluster are.
type Layout struct {
	Name string
	Dir  string // its state and logs
	Run  string // its sockets, on a short path
}

// NewLayout places the cluster called name under the cache folder.
func NewLayout(cache, name string) (Layout, error) {
	if !namePattern.MatchString(name) {
		return Layout{}, fmt.Errorf("cluster name %q must be at most 30 lower-case letters, digits and dashes, such as 'demo'", name)
	}
	l := Layout{Name: name, Dir: filepath.Join(cache, "clusters", name)}
	l.Run = filepath.Join(runFolder, name)
	if os.Geteuid() != 0 {
		l.Run = filepath.Join(l.Dir, "run")
	}
	return l, nil
}

// Kubeconfig is the administrator's.
func (l Layout) Kubeconfig() string { return filepath.Join(l.Dir, "kubeconfig") }

// Logs is the folder with the log of each component and the audit log.
func (l Layout) Logs() string { return filepath.Join(l.Dir, "logs") }

// Volumes is the folder with a folder per PersistentVolume.
func (l Layout) Volumes() string { return filepath.Join(l.Dir, "volumes") }

// Namespace is the name of the network namespace.
func (l Layout) Namespace() string { return "backupjob-" + l.Name }

// NamespacePath is the file that stands for the network namespace.
func (l Layout) NamespacePath() string { return filepath.Join(namespaceFolder, l.Namespace()) }

// cgroup is the name of the control group that holds all Pods.
func (l Layout) cgroup() string { return "backupjob-" + l.Name }

func (l Layout) manifests() string           { return filepath.Join(l.Dir, "manifests") }
func (l Layout) log(component string) string { return filepath.Join(l.Logs(), component+".log") }
func (l Layout) pki(file string) string      { return filepath.Join(l.Dir, "pki", file) }
func (l Layout) etc(file string) string      { return filepath.Join(l.Dir, "etc", file) }
func (l Layout) data(component string) string {
	return filepath.Join(l.Dir, "data", component)
}

// kubeconfigOf is the kubeconfig of a component.
func (l Layout) kubeconfigOf(component string) string { return l.etc(component + ".kubeconfig") }

func (l Layout) madeFolders() string      { return filepath.Join(filepath.Dir(l.Dir), ".made-folders") }
func (l Layout) config() string           { return filepath.Join(l.Dir, "cluster.json") }
func (l Layout) controlSocket() string    { return filepath.Join(l.Run, "control.sock") }
func (l Layout) containerdSocket() string { return filepath.Join(l.Run, "containerd.sock") }

// The locks lie beside the folder, because the folder comes and goes.
func (l Layout) operationLock() string { return l.Dir + ".lock" }
func (l Layout) keeperLock() string    { return l.Dir + ".keeper" }
func (l Layout) machineLock() string   { return filepath.Join(filepath.Dir(l.Dir), ".machine.lock") }
