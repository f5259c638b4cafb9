// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package toolchain

// module is a folder whose programs are built together and kept under one
// digest. Every upstream project has a module of its own, so that it is built
// with the dependencies that it was released with.
type module struct {
	name     string   // of the folder in the cache
	dir      string   // below the source folder
	flags    []string // of go build
	cgo      bool
	stamp    stamp
	programs []program
	copies   []copies
}

// program is one binary and the package that it is built from.
type program struct {
	name string
	pkg  string
}

// stamp writes the version of a required module into a variable at link time;
// without it the Kubernetes binaries do not know their own version.
type stamp struct {
	module   string
	variable string
}

// copies are files that a module ships beside its code.
type copies struct {
	module string
	from   string   // folder in that module
	to     string   // folder beside the programs
	files  []string // names
}

// AssetPrograms are what the tests need that run a bare API server, without node
// or network.
var AssetPrograms = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"}

// controlPlanePrograms are what a cluster without a node needs besides.
var controlPlanePrograms = []string{"cert-manager"}

// The order is the order of building: what others wait for comes first.
var modules = []module{
	{
		name:  "kubernetes",
		dir:   "build/kubernetes",
		stamp: stamp{module: "k8s.io/kubernetes", variable: "k8s.io/component-base/version.gitVersion"},
		programs: []program{
			{"etcd", "go.etcd.io/etcd/server/v3"},
			{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
			{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
			{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
			{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"},
			{"kubelet", "k8s.io/kubernetes/cmd/kubelet"},
			{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"},
		},
	},
	{
		name:  "containerd",
		dir:   "build/containerd",
		flags: []string{"-tags=no_btrfs,no_zfs,no_devmapper"},
		programs: []program{
			{"containerd", "github.com/containerd/containerd/v2/cmd/containerd"},
			{"containerd-shim-runc-v2", "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"},
			{"ctr", "github.com/containerd/containerd/v2/cmd/ctr"},
		},
	},
	{
		// Debian 12's runc is too old for newer kernels.
		name:     "runc",
		dir:      "build/runc",
		flags:    []string{"-tags=seccomp"},
		cgo:      true,
		programs: []program{{"runc", "github.com/opencontainers/runc"}},
	},
	{
		name:     "certmanager",
		dir:      "build/certmanager",
		programs: []program{{"cert-manager", "."}},
		copies: []copies{{
			module: "github.com/cert-manager/cert-manager",
			from:   "deploy/crds",
			to:     "crds",
			files: []string{
				"cert-manager.io_certificaterequests.yaml",
				"cert-manager.io_certificates.yaml",
				"cert-manager.io_clusterissuers.yaml",
				"cert-manager.io_issuers.yaml",
			},
		}},
	},
	{
		name:     "coredns",
		dir:      "build/coredns",
		programs: []program{{"coredns", "."}},
	},
	{
		// Released in 2024; the libraries are those of the Kubernetes above, which
		// are compiled already.
		name:     "kuberouter",
		dir:      "build/kuberouter",
		programs: []program{{"kube-router", "."}},
	},
	{
		name:     "images",
		dir:      "images",
		programs: []program{{"pause", "./pause"}, {"mariadb-entrypoint", "./mariadb"}},
	},
}
