# Two commands do everything on a fresh Debian with Go and make:
#   make demo    the main job on an embedded Kubernetes
#   make test    every test
# The rest are their parts.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory

VERSION     ?= v0.1.0
IMAGE       ?= backup.example.com/backupjob-operator:$(VERSION)
# KEEP=1 leaves the demo's cluster up.
KEEP        ?=
# A number of inputs: what is told a time may fail with "context deadline
# exceeded" when that is over, on a busy machine.
FUZZTIME    ?= 10000x
# BENCH are flags of the benchmark; 'go run ./test/bench -help' lists them.
export BENCH ?=

TOOL        := go tool -modfile=hack/tools.mod
LINT        := go tool -modfile=hack/lint.mod golangci-lint
CACHE       := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/backupjob-operator
CLUSTER     := $(CACHE)/cluster
LDFLAGS     := -s -w -buildid= -X main.version=$(VERSION)
# What is shipped is compiled by exactly this Go, wherever it is built.
TOOLCHAIN   := $(shell sed -n 's/^toolchain //p' go.mod)
SUPPLY      := go run -C hack/supply

export GOFLAGS := -buildvcs=false

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ The two commands

.PHONY: demo
demo: cluster-command ## Show the main job on an embedded Kubernetes (KEEP=1 leaves it up).
	@CLUSTER=$(CLUSTER) IMAGE=$(IMAGE) KEEP=$(KEEP) VERSION=$(VERSION) bash test/demo/demo.sh

.PHONY: test
test: ## Run every test; install and build what is missing first.
	@CLUSTER=$(CLUSTER) FUZZTIME=$(FUZZTIME) bash hack/test.sh

##@ Parts

.PHONY: test-long
test-long: ## Run what takes too long for every change.
	@CLUSTER=$(CLUSTER) bash hack/test.sh long

.PHONY: generate
generate: ## Write deepcopy functions, CRDs, the references of conditions and messages, and the licences anew.
	$(TOOL) controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/v1 paths=./api/v1alpha1
	$(TOOL) controller-gen crd paths=./api/v1 paths=./api/v1alpha1 output:crd:dir=config/crd/bases
	awk -f hack/conditions.awk api/v1/conditions.go >docs/conditions.md
	go test -count=1 ./webhooks -run '^TestTheDocumentOfAllMessagesIsCurrent$$' -update
	$(SUPPLY) ./licences >docs/licences.md

.PHONY: verify-generated
verify-generated: ## Fail if generated files are out of date.
	@bash hack/verify-generated.sh

.PHONY: lint
lint: ## Check the style of all Go code.
	$(LINT) run ./...
	for module in test/cluster hack/supply; do (cd $$module && \
		go tool -modfile=$(CURDIR)/hack/lint.mod golangci-lint run --config $(CURDIR)/.golangci.yml ./...); done

.PHONY: vet
vet: ## Run go vet on all modules.
	go vet ./...
	go vet -tags=e2e,image ./test/...
	go vet -tags=e2e,long ./test/e2e
	go vet -tags=ran ./cmd/kubectl-backup/...
	go -C test/cluster vet ./...
	go -C hack/supply vet ./...

.PHONY: unit
unit: ## Run the unit tests with the race detector.
	@CLUSTER=$(CLUSTER) bash hack/test.sh unit

.PHONY: fuzz
fuzz: ## Run every fuzz target with FUZZTIME, a number of inputs or a time.
	@CLUSTER=$(CLUSTER) FUZZTIME=$(FUZZTIME) bash hack/test.sh fuzz

.PHONY: integration
integration: ## Run the suite against a real API server and etcd.
	@CLUSTER=$(CLUSTER) bash hack/test.sh integration

.PHONY: e2e
e2e: ## Run the suite on a real cluster (KUBECONFIG names another one than the embedded).
	@CLUSTER=$(CLUSTER) bash hack/test.sh e2e

.PHONY: supply
supply: ## Check what is shipped: vulnerabilities, bills of materials, the image.
	@CLUSTER=$(CLUSTER) bash hack/test.sh supply

.PHONY: bench
bench: ## Measure against peers and write one table in markdown (BENCH='-only P1 -rounds 15').
	@CLUSTER=$(CLUSTER) bash hack/test.sh bench

.PHONY: build
build: ## Build the three binaries into bin/.
	@mkdir -p bin
	GOTOOLCHAIN=$(TOOLCHAIN) CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/manager ./cmd/agent ./cmd/kubectl-backup

.PHONY: cluster-command
cluster-command:
	@mkdir -p $(CACHE)
	@go -C test/cluster build -o $(CLUSTER) .

##@ What is shipped

.PHONY: image
image: ## Build the image with docker, podman or buildah, reproducibly (IMAGE, BUILDER, ARCHIVE=file.tar).
	@IMAGE=$(IMAGE) VERSION=$(VERSION) bash hack/image.sh

.PHONY: verify-image
verify-image: build ## Build it twice with buildah and look into it (FRESH=1 compiles anew); root on Debian.
	@VERSION=$(VERSION) bash test/image/verify.sh

.PHONY: sbom
sbom: build ## Write the bills of materials and the licence texts of the binaries into dist/.
	$(SUPPLY) ./sbom -version=$(VERSION)
	$(SUPPLY) ./licences -texts=../../dist/third-party-licences.txt >/dev/null

.PHONY: vulncheck
vulncheck: ## Scan the binaries for known vulnerabilities (VULNDB names another database).
	@bash hack/vulncheck.sh

.PHONY: undeploy
undeploy: ## Remove the operator from the cluster of kubectl (OBJECTS=delete or release; see docs/operating.md).
	@bash hack/undeploy.sh

##@ The rest

.PHONY: size
size: ## Print lines of hand-written Go and RBAC rules against their budgets.
	@bash hack/size.sh

.PHONY: clean
clean: ## Remove bin/ and dist/; the cache outside the tree stays.
	rm -rf bin dist
