// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
)

// Addresses of a cluster with a node. It has a network namespace of its own,
// so they need not differ between clusters.
const (
	nodeName     = "n1"
	nodeIP       = "10.88.0.1"
	podNetwork   = "10.88.0.0/16"
	podPrefix    = "16"
	serviceRange = "10.96.0.0/16"
	apiServiceIP = "10.96.0.1"
	dnsServiceIP = "10.96.0.10"
	loopback     = "127.0.0.1"
)

// Config is all that the background processes know. It is written when a
// cluster is started and not changed after.
type Config struct {
	// Node is false where the control plane runs alone.
	Node bool
	// Host is the address at which the API server is reached.
	Host  string
	Ports Ports
	// Programs maps the name of each program to its path.
	Programs map[string]string
	// Folders are put in front of PATH.
	Folders []string
	// CRDs is the folder with cert-manager's definitions.
	CRDs string
	// Images are archives to import before the first Pod starts.
	Images []string
	// Masquerade hides the source addresses of Service traffic, where the
	// kernel cannot undo address translation on a bridge.
	Masquerade bool
	// Snapshotter keeps the file systems of containers.
	Snapshotter string
}

// Ports are those that the control plane listens on.
type Ports struct {
	API, Etcd, EtcdPeer, ControllerManager, Scheduler, CertManager int
}

// nodePorts are the usual ones: nobody else is in that network namespace.
var nodePorts = Ports{API: 6443, Etcd: 2379, EtcdPeer: 2380, ControllerManager: 10257, Scheduler: 10259, CertManager: 10280}

// freePorts asks the kernel for ports that nobody uses now. It holds all of
// them until the end, so that none is found twice.
func freePorts() (Ports, error) {
	var (
		p    Ports
		held []net.Listener
		errs []error
	)
	for _, port := range []*int{&p.API, &p.Etcd, &p.EtcdPeer, &p.ControllerManager, &p.Scheduler, &p.CertManager} {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			errs = append(errs, fmt.Errorf("find a free port: %w", err))
			break
		}
		held = append(held, l)
		*port = l.Addr().(*net.TCPAddr).Port
	}
	for _, l := range held {
		errs = append(errs, l.Close())
	}
	return p, errors.Join(errs...)
}

func (c Config) write(l Layout) error {
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(l.config(), append(content, '\n'), 0o644)
}

// readConfig returns an error that wraps fs.ErrNotExist if there is no cluster.
func readConfig(l Layout) (Config, error) {
	var c Config
	content, err := os.ReadFile(l.config())
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return c, fmt.Errorf("read %s: %w", l.config(), err)
	}
	return c, nil
}
