#!/usr/bin/env bash
# Looks for known vulnerabilities in what the shipped binaries call, and fails
# if there is one, or if it cannot look. The database is the pinned one of
# hack/vulndb.mod, or the one that VULNDB names: the address of the public one
# for today's, file:///folder for a copy.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS=-buildvcs=false CGO_ENABLED=0
: "${VULNDB:=}"
pinned=golang.org/x/vulndb

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ -z "$VULNDB" ]; then
	download=$(go mod download -modfile=hack/vulndb.mod -json "$pinned") || {
		printf '%s\n' "$download" >&2
		echo "Nothing was checked: the database, module $pinned, cannot be had. VULNDB=file:///folder names a copy." >&2
		exit 1
	}
	folder=$(sed -nE 's/^\t"Dir": "(.*)",?$/\1/p' <<<"$download")/data/osv
	VULNDB=file://$folder
	version=$(sed -nE 's/^\t"Version": "(.*)",?$/\1/p' <<<"$download")
	printf 'Database: %s %s, %d reports\n' "$pinned" "$version" "$(find "$folder" -name '*.json' | wc -l)"
else
	printf 'Database: %s\n' "$VULNDB"
fi

# With the compiler that releases are built with; and with the symbols that
# releases leave out, because without them every function counts as called.
go build -modfile=hack/supply/go.mod -o "$scratch/" golang.org/x/vuln/cmd/govulncheck
toolchain=$(sed -n 's/^toolchain //p' go.mod)
GOTOOLCHAIN=$toolchain go build -trimpath -ldflags=-w -o "$scratch/" ./cmd/manager ./cmd/agent ./cmd/kubectl-backup

# It has to see what is there before it may say that there is nothing.
if "$scratch/govulncheck" -mode=binary -db="file://$PWD/hack/supply/testdata/vulndb" "$scratch/agent" >"$scratch/proof" ||
	! grep -q GO-0000-0001 "$scratch/proof"; then
	cat "$scratch/proof" >&2
	echo 'Nothing was checked: the scanner does not even see the made-up report of hack/supply/testdata/vulndb.' >&2
	exit 1
fi

failed=
for binary in manager agent kubectl-backup; do
	printf '%s, %s: ' "$binary" "$(go version "$scratch/$binary" | cut -d' ' -f2)"
	"$scratch/govulncheck" -mode=binary -db="$VULNDB" "$scratch/$binary" || failed="$failed $binary"
done
[ -z "$failed" ] || { echo "Vulnerable, or not checked:$failed. Raise what is named, or Go (the toolchain line of go.mod and the Dockerfile)." >&2; exit 1; }
