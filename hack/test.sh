#!/usr/bin/env bash
# Runs the tests, all or the named parts: checks unit fuzz supply integration e2e
# proved, which needs all before it. long and bench run only when they are named.
# Each runner's own closing lines are printed; what was skipped is counted and
# named at the end, and with CI=true it fails the run.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS=-buildvcs=false
: "${CLUSTER:=${XDG_CACHE_HOME:-$HOME/.cache}/backupjob-operator/cluster}"
: "${FUZZTIME:=10000x}"
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(checks unit fuzz supply integration e2e proved)

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
skipped=0
started=$SECONDS

heading() { printf '\n=== %s (%d:%02d)\n' "$1" $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)); }

skip() { # says loudly what does not run
	printf '!!! SKIPPED: %s\n' "$1"
	skipped=$((skipped + 1))
}

# closing shows the closing lines of a log and counts what it skipped; after a
# failure it shows the log without the chatter of what passed, and ends.
closing() { # name, status, "chosen" if the suite leaves out what was not asked for
	local log="$logs/$1" n
	n=$(grep -cE '^ *--- SKIP' "$log" || true)
	[ "${3:-}" = chosen ] || n=$((n + $(sed -nE 's/.* ([0-9]+) Skipped.*/\1/p' "$log" | awk '{s+=$1} END{print s+0}')))
	if [ "$n" -gt 0 ]; then
		grep -E -A2 '^ *--- SKIP|\[SKIPPED\]' "$log" || true
		printf '!!! SKIPPED: %d tests of %s\n' "$n" "$1"
		skipped=$((skipped + n))
	fi
	if [ "$2" -ne 0 ]; then
		grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)' "$log" | tail -n 400
		exit "$2"
	fi
	grep -E '^(ok |Ran [0-9]+ of)|[0-9]+ Passed' "$log" || true
}

# go_test runs "go test -v" into a log and closes it.
go_test() { # name, folder, arguments…
	local name=$1 dir=$2 status=0
	shift 2
	(cd "$dir" && go test -v -count=1 "$@") >"$logs/$name" 2>&1 || status=$?
	closing "$name" $status
}

# unpack_prometheus gets Debian's package and does not install it: that would
# start a server, now and whenever the machine starts.
unpack_prometheus() {
	local to=${CLUSTER%/*}/prometheus
	if [ ! -x "$to/usr/bin/promtool" ]; then
		echo 'Getting prometheus with apt.'
		rm -rf "$to" && mkdir -p "$to"
		apt-get update -q
		(cd "$to" && apt-get download -q -o APT::Sandbox::User=root prometheus && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb)
	fi
	export PATH=$PATH:$to/usr/bin
}

prepare() {
	heading 'Prepare: what the tests need of the machine, the test cluster'
	mkdir -p "$(dirname "$CLUSTER")"
	go -C test/cluster build -o "$CLUSTER" .
	if [ "$(id -u)" -eq 0 ] && [ "$(uname -s)" = Linux ]; then
		"$CLUSTER" build
		if ! command -v zstd >/dev/null; then
			echo 'Installing zstd with apt.'
			apt-get update -q
			DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends zstd
		fi
		command -v promtool >/dev/null || unpack_prometheus
	fi
	local command
	for command in gcc zstd mariadbd prometheus promtool; do
		command -v "$command" >/dev/null && continue
		echo "$command is missing: install a C compiler, zstd, Prometheus, and MariaDB's server and client." >&2
		exit 1
	done
	KUBEBUILDER_ASSETS=$("$CLUSTER" assets)
	export KUBEBUILDER_ASSETS
}

checks() {
	heading 'Generated files, go vet, lint'
	bash hack/verify-generated.sh
	bash hack/pinned.sh
	make vet lint
	bash hack/size.sh
}

unit() {
	heading 'Unit tests with the race detector'
	# shellcheck disable=SC2046
	go_test unit . -race $(go list ./... | grep -v '/test/')
	go_test cluster-unit test/cluster ./internal/...
	go_test supply-unit hack/supply ./...
	if [ "$(id -u)" -ne 0 ] || [ "$(uname -s)" != Linux ]; then
		skip "the cluster's own life test: Pods need root on Linux"
		return
	fi
	heading "The test cluster's own life: started, killed, interrupted, nothing left"
	CLUSTER_LIFE_TEST=1 go_test cluster-life test/cluster .
}

fuzz() {
	heading "Fuzz targets, $FUZZTIME each"
	local package targets target name
	for package in $(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./api/... ./conversion ./webhooks ./cmd/...); do
		targets=$(go test -list '^Fuzz' "$package")
		for target in $(grep '^Fuzz' <<<"$targets" || true); do
			name=${package#example.com/backupjob-operator/}
			printf '%s %s: ' "$name" "$target"
			go_test "fuzz-$target" . -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" "$package"
		done
	done
}

supply() {
	heading 'Supply chain: known vulnerabilities, bills of materials, the image built twice'
	bash hack/vulncheck.sh
	make sbom
	if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
		skip 'the image: it is built with buildah as root on Debian'
		return
	fi
	local status=0
	bash test/image/verify.sh >"$logs/image" 2>&1 || status=$?
	closing image $status
	grep -E 'image_test.go:[0-9]+: ' "$logs/image"
}

integration() {
	heading 'Integration: a real API server and etcd'
	go_test integration . -timeout 20m ./test/integration -ginkgo.json-report "$logs/integration.json"
}

e2e() {
	heading 'End to end: a real cluster with real Pods'
	real_cluster e2e e2e 50 all -ginkgo.json-report "$logs/e2e.json"
}

proved() { # needs the output of all other parts
	heading 'Every test that docs/security.md names has passed'
	if [ "$skipped" -gt 0 ]; then
		skip 'whether the tests passed that docs/security.md names: some were skipped'
		return
	fi
	RAN=$logs go_test proved . -tags ran -run '^TestEveryNamedTestHasPassed$' ./cmd/kubectl-backup/internal/audit
}

long() { # what takes too long for every change
	heading 'Long watches, a migration of 10,000 objects, and twenty fresh installs, on a real cluster'
	real_cluster long e2e,long 180 chosen -ginkgo.label-filter=long
	grep -E 'P9:|objects were made' "$logs/long" || true
}

real_cluster() { # name, build tags, time limit in minutes, all or chosen, flags of the suite…
	local name=$1 tags=$2 limit=$3 which=$4 status=0
	shift 4
	if [ -z "${KUBECONFIG:-}" ] && { [ "$(id -u)" -ne 0 ] || [ "$(uname -s)" != Linux ]; }; then
		skip 'the end-to-end suite: Pods need root on Linux (or point KUBECONFIG at a cluster)'
		return
	fi
	# Compiled here, because the cluster's network namespace has no way out.
	go test -c -tags "$tags" -o "$logs/$name.test" ./test/e2e
	make build
	if [ -n "${KUBECONFIG:-}" ]; then
		bash test/e2e/run.sh "$logs/$name.test" "$limit" "$@" >"$logs/$name" 2>&1 || status=$?
	else
		"$CLUSTER" run --name "$name" -- env EMBEDDED="$name" CLUSTER="$CLUSTER" \
			bash test/e2e/run.sh "$logs/$name.test" "$limit" "$@" >"$logs/$name" 2>&1 || status=$?
	fi
	closing "$name" $status "$which"
}

bench() {
	heading 'Benchmark: one table, after some minutes'
	# shellcheck disable=SC2086
	go run ./test/bench ${BENCH:-}
}

prepare
for part in "${parts[@]}"; do "$part"; done

heading 'Done'
printf 'Parts run: %s. Skipped: %d.\n' "${parts[*]}" "$skipped"
if [ "$skipped" -gt 0 ] && [ "${CI:-}" = true ]; then
	echo 'In CI nothing may be skipped.'
	exit 1
fi
