#!/usr/bin/env bash
# Regenerates into a scratch folder and compares, so that the checkout stays
# as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gen="go tool -modfile=hack/tools.mod controller-gen"

for version in v1 v1alpha1; do
	$gen object:headerFile=hack/boilerplate.go.txt paths=./api/$version output:object:dir="$scratch/$version"
	diff -u "api/$version/zz_generated.deepcopy.go" "$scratch/$version/zz_generated.deepcopy.go" ||
		{ echo "api/$version/zz_generated.deepcopy.go is out of date: run 'make generate'"; exit 1; }
done
$gen crd paths=./api/v1 paths=./api/v1alpha1 output:crd:dir="$scratch/crd"
diff -ru config/crd/bases "$scratch/crd" ||
	{ echo "config/crd/bases is out of date: run 'make generate'"; exit 1; }
awk -f hack/conditions.awk api/v1/conditions.go | diff -u docs/conditions.md - ||
	{ echo "docs/conditions.md is out of date: run 'make generate'"; exit 1; }
go run -C hack/supply ./licences >"$scratch/licences.md" # fails if one is not allowed
diff -u docs/licences.md "$scratch/licences.md" ||
	{ echo "docs/licences.md is out of date: run 'make generate'"; exit 1; }
echo "Generated files are up to date."
