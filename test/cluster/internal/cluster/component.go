// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// component is a program of the cluster: how it is started, how one knows that
// it works, and how long it may take to stop.
type component struct {
	name  string
	args  []string // the first is the program
	env   []string
	after []string // milestones to reach before its first start
	probe probe
	grace time.Duration
}

// probe is a question that only a working component answers.
type probe struct {
	url    string
	socket string
}

// probeTimeout bounds one question; who asks decides how often.
const probeTimeout = 2 * time.Second

// ask returns nil if the component works.
func (p probe) ask(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if p.socket != "" {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", p.socket)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", p.url, res.Status)
	}
	return errors.Join(err, res.Body.Close())
}

// newProbeClient trusts the cluster's own authority and nobody else.
func newProbeClient(l Layout) (*http.Client, error) {
	authority, err := os.ReadFile(l.pki("ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s holds no certificate", l.pki("ca.crt"))
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true,
	}}, nil
}

func hostPort(host string, port int) string {
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// Milestones that are no components.
const (
	imagesImported   = "images"
	manifestsApplied = "manifests"
	nodeReady        = "node"
)

// components of a cluster, in the order in which they are listed to people.
func components(l Layout, c Config) []component {
	all := []component{etcd(l, c), apiServer(l, c), controllerManager(l, c), certManager(l, c)}
	if c.Node {
		all = append(all, scheduler(l, c), containerd(l, c), kubelet(l, c), kubeProxy(l, c), kubeRouter(l, c))
	}
	return all
}

// stopOrder lists what may stop together, the first group first. The API
// server hangs if etcd leaves before it.
var stopOrder = [][]string{
	{"cert-manager", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kube-router", "kubelet"},
	{"kube-apiserver"},
	{"etcd", "containerd"},
}
