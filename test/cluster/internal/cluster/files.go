// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed etc manifests
var templates embed.FS

// values fill the templates.
type values struct {
	Run, Logs, PKI, CNI, Cgroup, Snapshotter string
	ContainerdRoot, ContainerdSocket         string
	KubeletRoot, KubeProxyKubeconfig         string
	NodeName, NodeIP, PodNetwork             string
	ServiceRange, DNS, DNSImage, PauseImage  string
	Masquerade                               bool
	KubeProxyHealthPort                      int
	Volumes                                  []volume
	VolumeSize                               string
}

func newValues(l Layout, c Config) values {
	return values{
		Run:                 l.Run,
		Logs:                l.Logs(),
		PKI:                 l.pki(""),
		CNI:                 l.etc("cni"),
		Cgroup:              l.cgroup(),
		Snapshotter:         c.Snapshotter,
		ContainerdRoot:      l.data("containerd"),
		ContainerdSocket:    l.containerdSocket(),
		KubeletRoot:         l.data("kubelet"),
		KubeProxyKubeconfig: l.kubeconfigOf("kube-proxy"),
		NodeName:            nodeName,
		NodeIP:              nodeIP,
		PodNetwork:          podNetwork,
		ServiceRange:        serviceRange,
		DNS:                 dnsServiceIP,
		DNSImage:            DNSImage,
		PauseImage:          PauseImage,
		Masquerade:          c.Masquerade,
		KubeProxyHealthPort: kubeProxyHealthPort,
		Volumes:             volumes(l),
		VolumeSize:          volumeSize,
	}
}

// writeFiles makes the configuration of all components and the manifests.
func writeFiles(l Layout, c Config) error {
	for _, dir := range []string{l.etc("cni"), l.manifests(), l.data("kubelet")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	v := newValues(l, c)
	for source, target := range map[string]string{
		"etc/audit.yaml":              l.etc("audit.yaml"),
		"etc/containerd.toml":         l.etc("containerd.toml"),
		"etc/kubelet.yaml":            l.etc("kubelet.yaml"),
		"etc/kube-proxy.yaml":         l.etc("kube-proxy.yaml"),
		"etc/pods.conflist":           l.etc("cni/pods.conflist"),
		"manifests/cert-manager.yaml": filepath.Join(l.manifests(), "cert-manager.yaml"),
	} {
		if err := render(source, target, v); err != nil {
			return err
		}
	}
	if c.Node {
		for _, name := range []string{"dns.yaml", "storage.yaml"} {
			if err := render("manifests/"+name, filepath.Join(l.manifests(), name), v); err != nil {
				return err
			}
		}
	}
	return errors.Join(writeCRDs(l, c), writeKubeconfigs(l, c))
}

func writeCRDs(l Layout, c Config) error {
	entries, err := os.ReadDir(c.CRDs)
	if err != nil {
		return fmt.Errorf("find cert-manager's definitions: %w", err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(c.CRDs, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(l.manifests(), e.Name()), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writeKubeconfigs(l Layout, c Config) error {
	for _, user := range []string{"admin", "cert-manager", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kube-router", "kubelet"} {
		target := l.kubeconfigOf(user)
		if user == "admin" {
			target = l.Kubeconfig()
		}
		encoded := map[string]string{}
		for key, file := range map[string]string{"Authority": "ca.crt", "Certificate": user + ".crt", "Key": user + ".key"} {
			content, err := os.ReadFile(l.pki(file))
			if err != nil {
				return err
			}
			encoded[key] = base64.StdEncoding.EncodeToString(content)
		}
		encoded["Cluster"] = l.Name
		encoded["User"] = user
		encoded["Server"] = "https://" + hostPort(c.Host, c.Ports.API)
		if err := render("etc/kubeconfig", target, encoded); err != nil {
			return err
		}
		// It holds a private key.
		if err := os.Chmod(target, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func render(source, target string, data any) error {
	text, err := fs.ReadFile(templates, source)
	if err != nil {
		return err
	}
	t, err := template.New(source).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	return os.WriteFile(target, out.Bytes(), 0o644)
}
